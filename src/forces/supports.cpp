#include "forces/supports.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "model/held_axes.hpp"

namespace osier {

namespace {

bool is_direction(const Vec3d& v, const std::string& where, Problems& problems) {
  if (norm2(v) > 0) return true;
  problems.add(where, "is the zero vector", "give a direction");
  return false;
}

/// Two directions across a unit vector.
std::vector<Vec3d> directions_across(const Vec3d& axis) {
  HeldAxes one;
  one.count = 1;
  one.axis[0] = axis;
  const std::array<Vec3d, 2> two = free_axes(one);
  return {two[0], two[1]};
}

void free_clamps(Model& model, const std::vector<ClampResult>& clamps) {
  for (const ClampResult& c : clamps) {
    for (const Index j : c.half_joints) model.joint_alive[j] = 0;
    for (const Index j : c.replaced_joints) model.joint_alive[j] = 1;
  }
}

}  // namespace

void DirectionHold::hold_vertices(AttachmentContext& c, const std::vector<Index>& list) {
  for (const Index v : list)
    if (c.claim_directions(v, axes_, motion.turns_directions(), where)) held_.push_back({v, c.state.vertex_position[v]});
}

void DirectionHold::apply_directions(double t, const Executor&, Control& control) const {
  const Motion::Placement moved = motion.placement(t);
  for (const Vec3d& axis : axes_) {
    const Vec3d turned = moved.turns ? rotate(moved.turn, axis) : axis;
    for (const Held& h : held_) hold_along(control, h.vertex, turned, moved(h.position));
  }
}

void DirectionHold::list_held(std::vector<Index>& vertices, std::vector<Index>&) const {
  for (const Held& h : held_) vertices.push_back(h.vertex);
}

Vec3d DirectionHold::share(double t, const Control&, Index, const Vec3d& force) const {
  const Motion::Placement moved = motion.placement(t);
  Vec3d sum;
  for (const Vec3d& axis : axes_) {
    const Vec3d turned = moved.turns ? rotate(moved.turn, axis) : axis;
    sum += dot(turned, force) * turned;
  }
  return sum;
}

void Roller::bind(AttachmentContext& c) {
  prepare_motion(c);
  refuse_recorded_motion(c.problems);
  check_no_orientation(c.problems);
  if (!is_direction(normal, where + "/normal", c.problems)) return;
  axes_ = {normalized(normal)};
  hold_vertices(c, c.names.find(vertices, Element::vertex, c.problems));
}

void Roller::apply(double t, const State&, const Executor& executor, Control& control) const {
  apply_directions(t, executor, control);
}

void Slider::bind(AttachmentContext& c) {
  prepare_motion(c);
  refuse_recorded_motion(c.problems);
  if (!is_direction(axis, where + "/axis", c.problems)) return;
  axes_ = directions_across(normalized(axis));
  const std::vector<Index> list = c.names.find(vertices, Element::vertex, c.problems);
  if (!turns) {
    hold_vertices(c, list);
    for (const Held& h : held_)
      if (std::optional<ClampResult> clamp = clamp_vertex(c, h.vertex)) clamps_.push_back(std::move(*clamp));
    return;
  }
  if (list.size() != 1) {
    if (!list.empty()) c.problems.add(where + "/vertices", "names several vertices", "with `turns`, write a slider for each");
    return;
  }
  segment_ = segment_at(c, list.front(), segment);
  if (segment_ < 0) return;
  hold_vertices(c, list);
  claim(c.frame_holder, segment_, "segment", where, c.problems);
  frame_ = c.state.frame_rotation[segment_];
}

void Slider::apply(double t, const State&, const Executor& executor, Control& control) const {
  apply_directions(t, executor, control);
  const Quatd turn = motion.turning(t)();
  for (const ClampResult& clamp : clamps_) {
    control.frame_control[clamp.anchor] = FrameControl::fixed;
    control.frame_target[clamp.anchor] = turn * clamp.rotation;
  }
  if (segment_ < 0) return;
  control.frame_control[segment_] = FrameControl::hinged;
  control.frame_target[segment_] = turn * frame_;
  control.frame_hinge_axis[segment_] = rotate(turn, normalized(axis));
}

void Slider::list_held(std::vector<Index>& held, std::vector<Index>& frames) const {
  DirectionHold::list_held(held, frames);
  for (const ClampResult& clamp : clamps_) frames.push_back(clamp.anchor);
  if (segment_ >= 0) frames.push_back(segment_);
}

bool Slider::let_go(Model& model) {
  free_clamps(model, clamps_);
  return !clamps_.empty();
}

void Symmetry::bind(AttachmentContext& c) {
  constexpr double kRightAngle = 0.02;  // [rad]
  if (!is_direction(normal, where + "/normal", c.problems)) return;
  const Vec3d n = normalized(normal);
  axes_ = {n};
  hold_vertices(c, c.names.find(vertices, Element::vertex, c.problems));
  for (const Held& h : held_) {
    const auto touching = c.model.vertex_segments.of(h.vertex);
    if (touching.size() != 1) {
      c.problems.add(where + "/vertices", fmt::format("vertex {} has {} segments", h.vertex, touching.size()),
                     "end the rods in the plane of symmetry, and leave the other half out");
      continue;
    }
    if (!c.graph.segments[touching[0] / 2].section.bends()) continue;  // a cable
    std::optional<ClampResult> clamp = clamp_vertex(c, h.vertex);
    if (!clamp) continue;
    if (norm(cross(director3(clamp->rotation), n)) > kRightAngle) {
      c.problems.add(where + "/vertices", fmt::format("the rod at vertex {} does not meet the plane at a right angle", h.vertex),
                     "rods that lie in the plane belong in a `planar` constraint; others meet it along `normal`");
      continue;
    }
    clamp->rotation = normalized(rotation_between(director3(clamp->rotation), dot(director3(clamp->rotation), n) < 0 ? -n : n) *
                                 clamp->rotation);
    c.state.frame_rotation[clamp->anchor] = clamp->rotation;
    for (const Index j : clamp->half_joints) c.model.joint_stiffness[j].d3 = 0;
    clamps_.push_back(std::move(*clamp));
  }
}

void Symmetry::apply(double t, const State&, const Executor& executor, Control& control) const {
  apply_directions(t, executor, control);
  for (const ClampResult& clamp : clamps_) {
    control.frame_control[clamp.anchor] = FrameControl::fixed;
    control.frame_target[clamp.anchor] = clamp.rotation;
  }
}

void Symmetry::list_held(std::vector<Index>& held, std::vector<Index>& frames) const {
  DirectionHold::list_held(held, frames);
  for (const ClampResult& clamp : clamps_) frames.push_back(clamp.anchor);
}

bool Symmetry::let_go(Model& model) {
  free_clamps(model, clamps_);
  return !clamps_.empty();
}

void Planar::bind(AttachmentContext& c) {
  if (!is_direction(normal, where + "/normal", c.problems)) return;
  axes_ = {normalized(normal)};
  std::vector<Index> list;
  if (vertices.empty()) {
    for (Index v = 0; v < c.model.vertex_count(); ++v) list.push_back(v);
  } else {
    list = c.names.find(vertices, Element::vertex, c.problems);
  }
  std::vector<std::uint8_t> in(static_cast<std::size_t>(c.model.vertex_count()), 0);
  for (const Index v : list) {
    if (c.vertex_holder[v].empty() && !c.claim_directions(v, axes_, false, where)) continue;
    held_.push_back({v, c.state.vertex_position[v]});
    in[v] = 1;
  }
  for (Index s = 0; s < c.model.segment_count(); ++s) {
    const auto [a, b] = c.model.segment_vertices[s];
    if (in[a] && in[b]) segments_.push_back({s, c.state.frame_rotation[s], c.frame_holder[s].empty()});
  }
}

void Planar::apply(double t, const State&, const Executor& executor, Control& control) const {
  apply_directions(t, executor, control);
  for (const Segment& s : segments_) {
    if (control.frame_control[s.index] != FrameControl::free) continue;
    control.frame_control[s.index] = FrameControl::hinged;
    control.frame_target[s.index] = s.frame;
    control.frame_hinge_axis[s.index] = axes_.front();
  }
}

void Planar::list_held(std::vector<Index>& held, std::vector<Index>& frames) const {
  DirectionHold::list_held(held, frames);
  for (const Segment& s : segments_)
    if (s.alone) frames.push_back(s.index);
}

/// What other constraints hold altogether is theirs.
Vec3d Planar::share(double t, const Control& control, Index vertex, const Vec3d& force) const {
  return control.vertex_fixed[vertex] ? Vec3d{} : DirectionHold::share(t, control, vertex, force);
}

}  // namespace osier
