#include "scene/generators/knit.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "math/vec3.hpp"
#include "scene/shape.hpp"

namespace osier {

namespace {

// x = w (t/2pi + kWidth sin 2t),  y = w (kHeight cos t + j kRise),  z = -w kDepth cos 2t,  t from -pi to pi (2 stitches - 1).
// The numbers give the largest distance between yarns, kClearance w, among stitches with the right crossings.
constexpr double kWidth = 0.2372, kHeight = 0.6154, kDepth = 0.25, kRise = 0.7114, kClearance = 0.2486;
constexpr int kFine = 240;  ///< points of a stitch that is then sampled by arc length

}  // namespace

void Knit::prepare(const StructureContext& context, Problems& problems) {
  section_ = context.section(material);
  if (problems.mentions(material.where)) return;
  const double most = 0.5 * kClearance * wale;
  if (section_.radius > most)
    problems.add(where + "/wale", fmt::format("leaves no room for a yarn of radius {:.3g} m", section_.radius),
                 fmt::format("use at least {:.3g} m, ten radii, or a thinner yarn", 10 * section_.radius));
  const double segments = size().segments;
  for (double s = 0; s < std::min(segments, kMostSegments); ++s) context.note_use(material, section_, 1);
}

void Knit::check(Problems& problems) const {
  if (norm2(along) == 0) problems.add(where + "/along", "is a zero vector", "give a direction");
  else if (norm(cross(normalized(along), up)) <= 1e-9 * norm(up))
    problems.add(where + "/up", "is zero or parallel to `along`", "choose another direction");
}

GraphSize Knit::size() const {
  const double segments = static_cast<double>(rows) * stitches * segments_per_stitch;
  return {.segments = segments, .joints = segments, .rods = rows + 2.0};
}

void Knit::build(RodGraph& graph, const std::string& prefix) const {
  const Vec3d ex = normalized(along), ey = normalized(up - dot(up, ex) * ex), ez = cross(ex, ey);
  const int segments = stitches * segments_per_stitch, points = stitches * kFine;
  std::vector<Vec3d> fine;
  for (int i = 0; i <= points; ++i) {
    const double t = std::numbers::pi * (2.0 * i / kFine - 1);
    const double x = t / (2 * std::numbers::pi) + kWidth * std::sin(2 * t) - 0.5 * (stitches - 1);
    fine.push_back({x, kHeight * std::cos(t), -kDepth * std::cos(2 * t)});
  }
  const std::vector<Vec3d> row = resample(fine, false, segments);
  RodInfo left{.name = prefix + ".left", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  RodInfo right{.name = prefix + ".right", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  for (int j = 0; j < rows; ++j) {
    std::vector<Index> path;
    for (const Vec3d& p : row)
      path.push_back(graph.add_vertex(center + wale * (p.x * ex + (p.y + kRise * (j - 0.5 * (rows - 1))) * ey + p.z * ez)));
    const std::size_t made = graph.add_chain(prefix + ".row" + std::to_string(j), path, section_);
    const RodInfo& rod = graph.rods[made];
    const std::size_t n = path.size();
    left.vertices.insert(left.vertices.end(), {path[0], path[1]});
    left.segments.push_back(rod.segments.front());
    right.vertices.insert(right.vertices.end(), {path[n - 2], path[n - 1]});
    right.segments.push_back(rod.segments.back());
  }
  graph.rods.push_back(std::move(left));
  graph.rods.push_back(std::move(right));
}

}  // namespace osier
