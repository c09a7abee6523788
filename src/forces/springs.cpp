#include "forces/springs.hpp"

#include <fmt/format.h>
#include <map>

namespace osier {

void SpringSet::list_held(std::vector<Index>& vertices, std::vector<Index>&) const {
  for (const Spring& s : springs_) vertices.push_back(s.a);
}

void SpringSet::add(Control& control, Spring spring) const {
  if (!(spring.stiffness > 0) && !(spring.damping > 0)) return;
  spring.owner = this;
  control.springs.push_back(spring);
}

void SpringSet::check_statics(AttachmentContext& c, const Track<double>& stiffness, const Track<double>& damping) const {
  if (c.is_static && damping.given())
    c.problems.add(where + "/damping", "has no effect on statics",
                   stiffness.given() ? "leave it out" : "give `stiffness`, or leave it out");
}

void SpringLink::bind(AttachmentContext& c) {
  check_statics(c, stiffness, damping);
  const std::vector<Index> list = c.names.find(vertices, Element::vertex, c.problems);
  std::vector<Index> others;
  if (!to.empty()) {
    others = c.names.find(to, Element::vertex, c.problems);
    if (others.empty() || list.empty()) return;
    if (others.size() != 1 && others.size() != list.size()) {
      c.problems.add(where + "/to", fmt::format("has {} vertices for {} of `vertices`", others.size(), list.size()),
                     "name one, or as many as there");
      return;
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Index v = list[i], other = others.empty() ? -1 : others[others.size() == 1 ? 0 : i];
    if (v == other) {
      c.problems.add(where + "/to", "is the vertex itself", "name another one");
      continue;
    }
    const Vec3d& x = c.state.vertex_position[v];
    Spring s;
    s.a = v, s.b = other;
    s.anchor = anchor.given() ? anchor.at(0) : x;
    const double distance = norm((other >= 0 ? c.state.vertex_position[other] : s.anchor) - x);
    s.rest_length = rest_length.value_or(distance);
    springs_.push_back(s);
  }
}

void SpringLink::apply(double t, const State& state, const Executor&, Control& control) const {
  const double k = stiffness.given() ? stiffness.at(t) : 0, c = damping.given() ? damping.at(t) : 0;
  for (Spring s : springs_) {
    s.stiffness = k;
    s.damping = c;
    if (anchor.given()) {
      s.anchor = anchor.at(t);
      if (t > state.time) s.anchor_velocity = (1 / (t - state.time)) * (s.anchor - anchor.at(state.time));
    }
    add(control, s);
  }
}

void Foundation::bind(AttachmentContext& c) {
  check_statics(c, stiffness, damping);
  if (direction && !(norm2(*direction) > 0)) {
    c.problems.add(where + "/direction", "is the zero vector", "give a direction");
    return;
  }
  std::map<Index, double> length;
  for (const Index s : c.names.find(segments, Element::segment, c.problems))
    for (const Index v : c.model.segment_vertices[s]) length[v] += 0.5 * c.model.segment_rest_length[s];
  for (const auto& [v, l] : length) {
    Spring s;
    s.a = v;
    s.anchor = c.state.vertex_position[v];
    s.along_axis = direction.has_value();
    if (direction) s.axis = normalized(*direction);
    springs_.push_back(s);
    length_.push_back(l);
  }
}

void Foundation::apply(double t, const State&, const Executor&, Control& control) const {
  const double k = stiffness.given() ? stiffness.at(t) : 0, c = damping.given() ? damping.at(t) : 0;
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    Spring s = springs_[i];
    s.stiffness = k * length_[i];
    s.damping = c * length_[i];
    add(control, s);
  }
}

}  // namespace osier
