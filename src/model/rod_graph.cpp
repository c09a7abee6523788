#include "model/rod_graph.hpp"

#include <algorithm>

namespace osier {

Index RodGraph::add_vertex(const Vec3d& rest) {
  vertices.push_back({.rest = rest, .position = rest, .velocity = {}, .mass = 0, .radius = 0});
  return static_cast<Index>(vertices.size()) - 1;
}

Vec3d RodGraph::direction(Index s) const { return normalized(vertices[segments[s].b].rest - vertices[segments[s].a].rest); }

std::span<const RodGraph::Place> RodGraph::places_of(Index segment) const {
  if (places_.start.empty() || places_.rods != rods.size() || places_.segments != segments.size()) {
    places_ = {.rods = rods.size(), .segments = segments.size(), .start = {}, .entry = {}};
    places_.start.assign(segments.size() + 1, 0);
    for (const RodInfo& rod : rods)
      for (const Index s : rod.segments) ++places_.start[static_cast<std::size_t>(s) + 1];
    for (std::size_t s = 0; s < segments.size(); ++s) places_.start[s + 1] += places_.start[s];
    places_.entry.resize(places_.start.back());
    std::vector<std::size_t> next(places_.start.begin(), places_.start.end() - 1);
    for (std::size_t r = 0; r < rods.size(); ++r)
      for (std::size_t i = 0; i < rods[r].segments.size(); ++i)
        places_.entry[next[static_cast<std::size_t>(rods[r].segments[i])]++] = {r, i};
  }
  const auto s = static_cast<std::size_t>(segment);
  return {places_.entry.data() + places_.start[s], places_.entry.data() + places_.start[s + 1]};
}

static Quatd frame_along(const Vec3d& d3, const std::optional<Vec3d>& up) {
  if (!up) return rotation_between(Vec3d{0, 0, 1}, d3);
  const Vec3d d2 = normalized(cross(d3, *up));
  if (norm2(d2) == 0) return rotation_between(Vec3d{0, 0, 1}, d3);
  return quat_from_frame(cross(d2, d3), d2, d3);
}

Index RodGraph::add_segment(Index a, Index b, const Section& section, std::optional<Index> like, std::optional<Vec3d> up) {
  GraphSegment s{.a = a, .b = b, .section = section, .rest_length = 0, .stretch_stiffness = {}, .rest_frame = {}};
  const Vec3d edge = vertices[b].rest - vertices[a].rest;
  s.rest_length = norm(edge);
  s.stretch_stiffness = s.rest_length * section.stretch_shear;
  const Vec3d d3 = normalized(edge);
  if (like) {
    const Quatd& q = segments[*like].rest_frame;
    s.rest_frame = normalized(rotation_between(director3(q), d3) * q);
  } else {
    s.rest_frame = frame_along(d3, up);
  }
  for (Index v : {a, b}) {
    vertices[v].mass += 0.5 * section.line_density * s.rest_length;
    vertices[v].radius = std::max(vertices[v].radius, section.radius);
  }
  segments.push_back(s);
  return static_cast<Index>(segments.size()) - 1;
}

Index RodGraph::add_joint(Index a, Index b, std::optional<PerAxis> bend_twist, std::optional<Quatd> rest_rotation) {
  const GraphSegment &sa = segments[a], &sb = segments[b];
  GraphJoint j{.a = a, .b = b, .rest_rotation = {}, .stiffness = {}, .length = 0, .tau = {}};
  j.rest_rotation = rest_rotation ? normalized(*rest_rotation) : normalized(conj(sa.rest_frame) * sb.rest_frame);
  j.length = 0.5 * (sa.rest_length + sb.rest_length);
  const PerAxis ea = bend_twist.value_or(sa.section.bend_twist), eb = bend_twist.value_or(sb.section.bend_twist);
  for (double PerAxis::*axis : {&PerAxis::d1, &PerAxis::d2, &PerAxis::d3}) {
    const double ka = ea.*axis, kb = eb.*axis;
    if (ka > 0 && kb > 0) j.stiffness.*axis = 4.0 / (0.5 * sa.rest_length / ka + 0.5 * sb.rest_length / kb);
    // In series the softer half dominates; with equal materials this is just their common value.
    const double ca = ka > 0 ? sa.rest_length / ka : 0, cb = kb > 0 ? sb.rest_length / kb : 0;
    if (ca + cb > 0) j.tau.*axis = (ca * sa.section.tau_bend.*axis + cb * sb.section.tau_bend.*axis) / (ca + cb);
  }
  joints.push_back(j);
  return static_cast<Index>(joints.size()) - 1;
}

std::size_t RodGraph::add_chain(const std::string& name, const std::vector<Index>& path, const Section& section, bool closed,
                                std::optional<Vec3d> up) {
  const std::vector<Section> sections(path.size() - (closed ? 0 : 1), section);
  return add_chain(name, path, sections, closed, up);
}

std::size_t RodGraph::add_chain(const std::string& name, const std::vector<Index>& path, std::span<const Section> sections,
                                bool closed, std::optional<Vec3d> up) {
  RodInfo rod{.name = name, .vertices = path, .segments = {}, .joints = {}, .closed = closed};
  const std::size_t n = sections.size();
  rod.segments.reserve(n);
  rod.joints.reserve(n - (closed ? 0 : 1));
  for (std::size_t i = 0; i < n; ++i) {
    std::optional<Index> like;
    if (i > 0) like = rod.segments.back();
    rod.segments.push_back(add_segment(path[i], path[(i + 1) % path.size()], sections[i], like, up));
  }
  const auto join = [&](std::size_t a, std::size_t b) {
    if (sections[a].bends() && sections[b].bends()) rod.joints.push_back(add_joint(rod.segments[a], rod.segments[b]));
  };
  for (std::size_t i = 0; i + 1 < n; ++i) join(i, i + 1);
  if (closed) join(n - 1, 0);
  rods.push_back(std::move(rod));
  return rods.size() - 1;
}

}  // namespace osier
