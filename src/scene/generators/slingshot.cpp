#include "scene/generators/slingshot.hpp"

#include <numbers>

#include "scene/generators/sampling.hpp"

namespace osier {

namespace {

constexpr int kForkSegments = 5;
constexpr int kRubberSegments = 7;
constexpr double kNeighbourShare = 0.98;  // of the draw, for the vertices next to the middle

/// The handle's top bends into an arc of radius 1; `side` is +1 for the shooter's left: whoever draws towards -z looks
/// along +z and has +x on the left.
std::vector<Index> add_fork(RodGraph& graph, Index top, double side) {
  std::vector<Index> path{top};
  const Vec3d origin = graph.vertices[top].rest;
  for (int i = 1; i <= kForkSegments; ++i) {
    const double theta = 0.4 * std::numbers::pi * i / kForkSegments;
    path.push_back(graph.add_vertex(origin + Vec3d{side * std::sin(theta), 1 - std::cos(theta), 0}));
  }
  return path;
}

std::vector<Index> add_rubber(RodGraph& graph, Index middle, Index end, double jitter, Random& random) {
  std::vector<Index> path{middle};
  const Vec3d from = graph.vertices[middle].rest, to = graph.vertices[end].rest;
  for (int i = 1; i < kRubberSegments; ++i) {
    const double s = static_cast<double>(i) / kRubberSegments;
    path.push_back(graph.add_vertex((1 - s) * from + s * to + jitter * random.in_cube()));
  }
  path.push_back(end);
  return path;
}

}  // namespace

void Slingshot::build(RodGraph& graph, const std::string& prefix) const {
  Section wood, rubber;
  wood.stretch_shear = wood_stretch_shear, wood.bend_twist = wood_bend_twist, wood.line_density = wood_density;
  wood.radius = wood_radius, wood.tau_stretch = wood.tau_bend = tau;
  rubber.stretch_shear = rubber_stretch_shear, rubber.bend_twist = rubber_bend_twist, rubber.line_density = rubber_density;
  rubber.radius = rubber_radius, rubber.tau_stretch = rubber.tau_bend = tau;
  const auto segments_of = [&](std::size_t rod) { return graph.rods[rod].segments; };

  std::vector<Index> handle;
  for (int i = 0; i <= 8; ++i) handle.push_back(graph.add_vertex({0, 0.3 * i, 0}));
  const std::vector<Index> trunk = segments_of(graph.add_chain(prefix + ".handle", handle, wood));
  const std::vector<Index> left = add_fork(graph, handle.back(), +1), right = add_fork(graph, handle.back(), -1);
  const std::vector<Index> left_segments = segments_of(graph.add_chain(prefix + ".fork_left", left, wood));
  graph.add_joint(trunk.back(), left_segments.front());
  const std::vector<Index> right_segments = segments_of(graph.add_chain(prefix + ".fork_right", right, wood));
  graph.add_joint(trunk.back(), right_segments.front());

  const Index middle = graph.add_vertex(graph.vertices[handle.back()].rest + Vec3d{0, 1, 0});
  const std::array<Index, 4> ends{left[5], left[4], right[5], right[4]};
  Random random(seed);
  std::array<std::vector<Index>, 4> path, bands;
  for (std::size_t k = 0; k < 4; ++k) {
    path[k] = add_rubber(graph, middle, ends[k], jitter, random);
    // d2 along z in all bands, so that the half turn below brings no twist.
    const Vec3d up = cross(Vec3d{0, 0, 1}, graph.vertices[ends[k]].rest - graph.vertices[middle].rest);
    bands[k] = segments_of(graph.add_chain(prefix + ".rubber" + std::to_string(k), path[k], rubber, false, up));
  }

  // The bands run on through the middle, from each tip to the vertex below the other tip. All four start in the middle, so
  // "straight on" is a half turn about d2.
  const Quatd straight_on{0, 1, 0, 0};
  graph.add_joint(bands[0].front(), bands[3].front(), rubber_bend_twist, straight_on);
  graph.add_joint(bands[1].front(), bands[2].front(), rubber_bend_twist, straight_on);
  for (std::size_t k = 0; k < 4; ++k)
    graph.add_joint(bands[k].back(), (k < 2 ? left_segments : right_segments).back(), rubber_bend_twist);

  // Only now: the joints, masses and k^ss belong to the assembled lengths.
  for (const auto& band : bands)
    for (Index s : band) graph.segments[s].rest_length *= rubber_rest_scale;

  RodInfo grip{.name = prefix + ".grip", .vertices = {middle}, .segments = {}, .joints = {}, .closed = false};
  graph.vertices[middle].position += draw;
  for (const auto& p : path) {
    graph.vertices[p[1]].position += kNeighbourShare * draw;
    grip.vertices.push_back(p[1]);
  }
  graph.rods.push_back(std::move(grip));
  graph.rods.push_back(
      {.name = prefix + ".base", .vertices = {handle[0]}, .segments = {trunk[0]}, .joints = {}, .closed = false});
}

}  // namespace osier
