#include "scene/generators/braid.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

#include "math/vec3.hpp"
#include "scene/shape.hpp"

namespace osier {

int Braid::segments() const { return std::max(1, static_cast<int>(std::lround(periods * segments_per_period))); }

/// In the axes of the braid: along, across, through.
Vec3d Braid::at(int strand, double turns) const {
  const double a = 2 * std::numbers::pi * (turns + static_cast<double>(strand) / strands);
  return {turns * period, 0.5 * width * std::sin(a), 0.5 * thickness * std::sin((strands - 1) * a)};
}

void Braid::prepare(const StructureContext& context, Problems& problems) {
  section_ = context.section(material);
  if (problems.mentions(material.where)) return;
  for (double s = 0; s < std::min(size().segments, kMostSegments); ++s) context.note_use(material, section_, 1);
  // All strands are the same curve, shifted: the distance of the first one to every other, over one period.
  constexpr int kSamples = 400;
  double least = std::numeric_limits<double>::infinity();
  for (int other = 1; other < strands; ++other)
    for (int i = 0; i < kSamples; ++i)
      for (int j = -kSamples / 2; j <= kSamples / 2; ++j)
        least =
            std::min(least, norm(at(0, static_cast<double>(i) / kSamples) - at(other, static_cast<double>(i + j) / kSamples)));
  if (least < 2 * section_.radius)
    problems.add(
        where,
        fmt::format("strands of radius {:.3g} m overlap: their centrelines come as near as {:.3g} m", section_.radius, least),
        "use a larger `width`, `thickness` and `period`, or a thinner strand");
}

void Braid::check(Problems& problems) const {
  if (strands % 2 == 0) problems.add(where + "/strands", fmt::format("{} strands would meet", strands), "use an odd number");
  if (norm2(along) == 0) problems.add(where + "/along", "is a zero vector", "give a direction");
  else if (norm(cross(normalized(along), across)) <= 1e-9 * norm(across))
    problems.add(where + "/across", "is zero or parallel to `along`", "choose another direction");
}

GraphSize Braid::size() const {
  const double n = strands * std::max(1.0, periods * segments_per_period);
  return {.segments = n, .joints = n, .rods = strands + 2.0};
}

void Braid::build(RodGraph& graph, const std::string& prefix) const {
  constexpr int kFine = 200;
  const Vec3d ex = normalized(along), ey = normalized(across - dot(across, ex) * ex), ez = cross(ex, ey);
  RodInfo start{.name = prefix + ".start", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  RodInfo end{.name = prefix + ".end", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  for (int k = 0; k < strands; ++k) {
    std::vector<Vec3d> fine;
    const int pieces = std::max(2, static_cast<int>(std::ceil(kFine * periods)));
    for (int i = 0; i <= pieces; ++i) fine.push_back(at(k, periods * i / pieces));
    std::vector<Index> path;
    for (const Vec3d& p : resample(fine, false, segments()))
      path.push_back(graph.add_vertex(from + p.x * ex + p.y * ey + p.z * ez));
    const RodInfo& rod = graph.rods[graph.add_chain(prefix + ".strand" + std::to_string(k), path, section_)];
    const std::size_t n = path.size();
    start.vertices.insert(start.vertices.end(), {path[0], path[1]});
    start.segments.push_back(rod.segments.front());
    end.vertices.insert(end.vertices.end(), {path[n - 2], path[n - 1]});
    end.segments.push_back(rod.segments.back());
  }
  graph.rods.push_back(std::move(start));
  graph.rods.push_back(std::move(end));
}

}  // namespace osier
