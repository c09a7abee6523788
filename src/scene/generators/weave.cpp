#include "scene/generators/weave.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "math/vec3.hpp"

namespace osier {

namespace {

/// Segments of a fibre beyond its last crossing, which is at least half a spacing.
int margin(int segments_per_crossing) { return (segments_per_crossing + 1) / 2; }

double segments_of(int crossings, int per_crossing) {
  return static_cast<double>(crossings - 1) * per_crossing + 2.0 * margin(per_crossing);
}

}  // namespace

void Weave::prepare(const StructureContext& context, Problems& problems) {
  warp_section_ = context.section(warp_material);
  weft_section_ = context.section(weft_material);
  if (problems.mentions(warp_material.where) || problems.mentions(weft_material.where)) return;
  const double radii = warp_section_.radius + weft_section_.radius;
  if (!(radii > 0))
    problems.add(where + "/warp_material", "has no thickness, by which fibres would pass each other",
                 "give it a `radius` or `section`");
  // Neighbours of one direction have to pass the fibre between them.
  for (const auto& [key, spacing] :
       {std::pair{"/warp_spacing", warp_spacing}, {"/weft_spacing", weft_spacing.value_or(warp_spacing)}})
    if (spacing < 1.5 * radii)
      problems.add(where + key, fmt::format("leaves no room for fibres whose radii add up to {:.3g} m", radii),
                   fmt::format("use at least {:.3g} m, or thinner fibres", 1.5 * radii));
  const double of_warp = warp * segments_of(weft, segments_per_crossing), all = size().segments;
  for (double s = 0; s < std::min(all, kMostSegments); ++s)
    context.note_use(s < of_warp ? warp_material : weft_material, s < of_warp ? warp_section_ : weft_section_, 1);
}

void Weave::check(Problems& problems) const {
  if (norm2(along) == 0) problems.add(where + "/along", "is a zero vector", "give a direction");
  else if (norm(cross(normalized(along), across)) <= 1e-9 * norm(across))
    problems.add(where + "/across", "is zero or parallel to `along`", "choose another direction");
}

GraphSize Weave::size() const {
  const double segments = warp * segments_of(weft, segments_per_crossing) + weft * segments_of(warp, segments_per_crossing);
  return {.segments = segments, .joints = segments, .rods = static_cast<double>(warp) + weft + 8};
}

/// Fibre i of one direction crosses fibre j of the other at a whole number t = j, and is above it where i + j is even: its height
/// there is A cos(pi t), and in between.
void Weave::build(RodGraph& graph, const std::string& prefix) const {
  const Vec3d ex = normalized(along), ey = normalized(across - dot(across, ex) * ex), ez = cross(ex, ey);
  const double amplitude = 0.5 * clearance * (warp_section_.radius + weft_section_.radius);
  const double gap_warp = warp_spacing, gap_weft = weft_spacing.value_or(warp_spacing);
  const int k = segments_per_crossing, beyond = margin(k);
  const auto group = [&](const char* piece) {
    return RodInfo{.name = prefix + piece, .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  };
  RodInfo border = group(".border"), corners = group(".corners");
  struct Side {
    RodInfo ties, before, after;
  };
  Side of_warp{group(".warp_ties"), group(".warp_before"), group(".warp_after")};
  Side of_weft{group(".weft_ties"), group(".weft_before"), group(".weft_after")};
  std::vector<std::vector<Index>> warps, wefts;
  const auto lay = [&](std::vector<std::vector<Index>>& fibres, int count, int crossings, const char* piece, double sign,
                       const Section& section, const auto& place) {
    for (int i = 0; i < count; ++i) {
      std::vector<Index> path;
      for (int p = -beyond; p <= (crossings - 1) * k + beyond; ++p) {
        const double t = static_cast<double>(p) / k;
        const double height = sign * (i % 2 == 0 ? 1 : -1) * amplitude * std::cos(std::numbers::pi * t);
        path.push_back(graph.add_vertex(center + place(i - 0.5 * (count - 1), t - 0.5 * (crossings - 1)) + height * ez));
      }
      graph.add_chain(prefix + piece + std::to_string(i), path, section);
      border.vertices.insert(border.vertices.end(), {path.front(), path.back()});
      fibres.push_back(std::move(path));
    }
  };
  lay(warps, warp, weft, ".warp", 1, warp_section_,
      [&](double i, double t) { return (gap_weft * t) * ex + (gap_warp * i) * ey; });
  lay(wefts, weft, warp, ".weft", -1, weft_section_,
      [&](double i, double t) { return (gap_weft * i) * ex + (gap_warp * t) * ey; });
  const auto note = [&](Side& side, const std::vector<Index>& path, int crossing) {
    const auto at = static_cast<std::size_t>(beyond + crossing * k);
    side.ties.vertices.push_back(path[at]);
    side.before.vertices.push_back(path[at - 1]);
    side.after.vertices.push_back(path[at + 1]);
  };
  for (int i = 0; i < warp; ++i)
    for (int j = 0; j < weft; ++j) {
      note(of_warp, warps[static_cast<std::size_t>(i)], j);
      note(of_weft, wefts[static_cast<std::size_t>(j)], i);
      if ((i == 0 || i == warp - 1) && (j == 0 || j == weft - 1)) corners.vertices.push_back(of_warp.ties.vertices.back());
    }
  for (RodInfo* g :
       {&border, &corners, &of_warp.ties, &of_warp.before, &of_warp.after, &of_weft.ties, &of_weft.before, &of_weft.after})
    graph.rods.push_back(std::move(*g));
}

}  // namespace osier
