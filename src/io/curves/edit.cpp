#include "io/curves/edit.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/text.hpp"
#include "io/curves/point_groups.hpp"
#include "io/curves/turn.hpp"
#include "math/vec3.hpp"

namespace osier {

std::string curve_title(const CurveSet& curves, std::size_t k) {
  std::string title = std::to_string(k);
  if (!curves.names.empty() && !curves.names[k].empty()) title += " (\"" + shorten(curves.names[k]) + "\")";
  return title;
}

void copy_traits(const CurveSet& from, std::size_t k, CurveSet& to) {
  to.closed.push_back(from.closed[k]);
  if (!from.names.empty()) to.names.push_back(from.names[k]);
  if (!from.ids.empty()) to.ids.push_back(from.ids[k]);
}

std::size_t curve_of(const CurveSet& curves, std::size_t point) {
  const auto after = std::upper_bound(curves.start.begin(), curves.start.end(), point);
  return static_cast<std::size_t>(after - curves.start.begin()) - 1;
}

CurveSet split_closed(const CurveSet& curves) {
  CurveSet result;
  result.up = curves.up;
  std::vector<std::size_t> start;  // of each curve, afterwards
  for (std::size_t k = 0; k < curves.size(); ++k) {
    copy_traits(curves, k, result);
    start.push_back(result.points.size());
    const auto append = [&](std::size_t p) {
      result.points.push_back(curves.points[p]);
      if (!curves.widths.empty()) result.widths.push_back(curves.widths[p]);
    };
    for (std::size_t p = curves.start[k]; p < curves.start[k + 1]; ++p) append(p);
    if (curves.closed[k] && curves.start[k] < curves.start[k + 1]) append(curves.start[k]);
    result.closed.back() = 0;
    result.start.push_back(result.points.size());
  }
  result.welds = renumbered(curves.welds, [&](std::size_t p) {
    const std::size_t k = curve_of(curves, p);
    return start[k] + (p - curves.start[k]);
  });
  return result;
}

/// What the fields' ranges say, for callers that do not come through JSON.
static void check(const CurveEdits& edits, Problems& problems) {
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(edits.scale)) problems.add("/scale", fmt::format("{}", edits.scale), "use a positive number");
  if (edits.segment_length && !positive(*edits.segment_length))
    problems.add("/segment_length", fmt::format("{} m", *edits.segment_length), "use a positive length");
  if (edits.segments && (*edits.segments < 1 || *edits.segments > 10'000'000))
    problems.add("/segments", std::to_string(*edits.segments), "use 1 to ten million");
  if (edits.segments && edits.segment_length)
    problems.add("/segments", "comes together with `segment_length`", "keep one of them");
  if (edits.weld && !(*edits.weld >= 0 && std::isfinite(*edits.weld)))
    problems.add("/weld", fmt::format("{} m", *edits.weld), "use a distance of at least 0");
}

CurveSet edit_curves(CurveSet curves, const CurveEdits& edits) {
  Problems problems;
  check(edits, problems);
  if (!edits.select.empty()) curves = selected(curves, edits.select, problems);
  problems.throw_if_any();
  if (edits.up) {
    for (Vec3d& p : curves.points) p = turned_to_y(turned_back_from_y(p, curves.up), *edits.up);
    curves.up = *edits.up;
  }
  if (edits.scale != 1) {
    for (Vec3d& p : curves.points) p = edits.scale * p;
    for (double& w : curves.widths) w *= edits.scale;
    for (const Vec3d& p : curves.points)
      if (!is_finite(p)) problems.add("/scale", "makes coordinates that are too large", "use a smaller one");
  }
  const std::vector<std::uint8_t> was_closed = edits.split_closed ? curves.closed : std::vector<std::uint8_t>(curves.size(), 0);
  if (edits.split_closed) curves = split_closed(curves);
  problems.throw_if_any();
  if (edits.segment_length || edits.segments) curves = resampled(curves, edits.segment_length, edits.segments, problems);
  problems.throw_if_any();
  if (edits.weld) curves = welded(std::move(curves), *edits.weld, was_closed, problems);
  problems.throw_if_any();
  return curves;
}

}  // namespace osier
