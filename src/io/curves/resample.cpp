// Equal segments along each curve. Welded points are kept where they are, so a curve is resampled between them.
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "io/curves/edit.hpp"
#include "io/curves/point_groups.hpp"
#include "math/polyline.hpp"

namespace osier {

namespace {

/// More than this is a slip of the pen: it would take gigabytes.
constexpr double kMostPoints = 1e8;

/// How many segments each piece of a curve becomes.
std::vector<double> counts(const std::vector<double>& length, bool closed, std::optional<double> segment_length, int segments) {
  const double total = std::accumulate(length.begin(), length.end(), 0.0);
  std::vector<double> n;
  for (double l : length) n.push_back(std::max(1.0, std::round(segment_length ? l / *segment_length : segments * (l / total))));
  const auto longest = static_cast<std::size_t>(std::max_element(length.begin(), length.end()) - length.begin());
  if (closed) n[longest] += std::max(0.0, 3 - std::accumulate(n.begin(), n.end(), 0.0));  // fewer do not close a loop
  return n;
}

}  // namespace

CurveSet resampled(const CurveSet& curves, std::optional<double> segment_length, std::optional<int> segments,
                   Problems& problems) {
  const std::string where = segments ? "/segments" : "/segment_length";
  CurveSet result;
  result.up = curves.up;
  std::vector<std::uint8_t> fixed(curves.points.size(), 0);
  for (const auto& [a, b] : curves.welds) fixed[a] = fixed[b] = 1;
  std::vector<std::size_t> now(curves.points.size(), kGone);
  std::vector<Vec3d> corners;
  std::vector<double> widths;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    copy_traits(curves, k, result);
    const std::size_t first = curves.start[k], last = curves.start[k + 1];
    const bool closed = curves.closed[k] != 0, wide = !curves.widths.empty();
    const auto keep = [&](std::size_t p) {
      now[p] = result.points.size();
      result.points.push_back(curves.points[p]);
      if (wide) result.widths.push_back(curves.widths[p]);
    };
    // The curve with its closing point, and the places between which it is cut.
    corners.assign(curves.points.begin() + static_cast<std::ptrdiff_t>(first),
                   curves.points.begin() + static_cast<std::ptrdiff_t>(last));
    if (wide)
      widths.assign(curves.widths.begin() + static_cast<std::ptrdiff_t>(first),
                    curves.widths.begin() + static_cast<std::ptrdiff_t>(last));
    if (closed && !corners.empty()) {
      corners.push_back(corners.front());
      if (wide) widths.push_back(widths.front());
    }
    const double total = polyline_length(corners);
    if (!std::isfinite(total))
      problems.add(where, fmt::format("curve {} is too long to measure", curve_title(curves, k)), "use a smaller `scale`");
    if (corners.size() < 2 || !(total > 0) || !std::isfinite(total)) {  // nothing to walk along
      for (std::size_t p = first; p < last; ++p) keep(p);
      result.start.push_back(result.points.size());
      continue;
    }
    std::vector<std::size_t> cut{0};
    for (std::size_t i = 1; i + 1 < corners.size(); ++i)
      if (fixed[first + i]) cut.push_back(i);
    cut.push_back(corners.size() - 1);
    std::vector<double> length;
    for (std::size_t c = 0; c + 1 < cut.size(); ++c)
      length.push_back(polyline_length(std::span(corners).subspan(cut[c], cut[c + 1] - cut[c] + 1)));
    const std::vector<double> n = counts(length, closed, segment_length, segments.value_or(0));
    if (const double all = static_cast<double>(result.points.size()) + std::accumulate(n.begin(), n.end(), 0.0);
        !(all <= kMostPoints)) {
      problems.add(where, fmt::format("makes {:.3g} points and more", all), "use longer or fewer segments");
      return result;
    }
    for (std::size_t c = 0; c + 1 < cut.size(); ++c) {
      const auto piece = std::span(corners).subspan(cut[c], cut[c + 1] - cut[c] + 1);
      keep(first + cut[c]);
      const std::vector<PlaceOnPolyline> places = equal_steps(piece, static_cast<int>(n[c]));
      for (std::size_t i = 1; i + 1 < places.size(); ++i) {
        const auto& [corner, t] = places[i];
        result.points.push_back(at(piece, places[i]));
        if (wide) result.widths.push_back((1 - t) * widths[cut[c] + corner] + t * widths[cut[c] + corner + 1]);
      }
    }
    if (!closed) keep(last - 1);
    result.start.push_back(result.points.size());
  }
  result.welds = renumbered(curves.welds, [&](std::size_t p) { return now[p]; });
  return result;
}

}  // namespace osier
