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

/// |det M|
static double volume_scale(const std::vector<std::vector<double>>& rows) {
  const auto row = [&](std::size_t i) { return Vec3d{rows[i][0], rows[i][1], rows[i][2]}; };
  return std::abs(dot(row(0), cross(row(1), row(2))));
}

static void transform(CurveSet& curves, const std::vector<std::vector<double>>& rows, Problems& problems) {
  const auto component = [&](std::size_t i, const Vec3d& p) {
    return rows[i][0] * p.x + rows[i][1] * p.y + rows[i][2] * p.z + rows[i][3];
  };
  for (Vec3d& p : curves.points) p = {component(0, p), component(1, p), component(2, p)};
  for (double& w : curves.widths) w *= std::cbrt(volume_scale(rows));
  for (const Vec3d& p : curves.points)
    if (!is_finite(p)) problems.add("/transform", "makes coordinates that are too large", "use a smaller one");
}

/// What the fields' ranges say, for callers that do not come through JSON.
static void check(const CurveEdits& edits, Problems& problems) {
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(edits.scale)) problems.add("/scale", fmt::format("{}", edits.scale), "use a positive number");
  const auto& rows = edits.transform;
  const auto is_whole = [](const std::vector<double>& row) {
    return row.size() == 4 && std::all_of(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
  };
  if (!rows.empty() && (rows.size() != 3 || !std::all_of(rows.begin(), rows.end(), is_whole)))
    problems.add("/transform", "is not three rows of four numbers", "write [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z]]");
  else if (!rows.empty() && !(volume_scale(rows) > 0))
    problems.add("/transform", "makes everything flat", "use a matrix whose determinant is not 0");
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
  if (!edits.transform.empty()) transform(curves, edits.transform, problems);
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
