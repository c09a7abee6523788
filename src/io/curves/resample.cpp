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

Resampling resampling(const CurveSet& curves, std::optional<double> segment_length, std::optional<int> segments,
                      Problems& problems) {
  const std::string where = segments ? "/segments" : "/segment_length";
  Resampling result;
  std::vector<std::uint8_t> fixed(curves.points.size(), 0);
  for (const auto& [a, b] : curves.welds) fixed[a] = fixed[b] = 1;
  result.now.assign(curves.points.size(), kGone);
  std::vector<Vec3d> corners;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::size_t first = curves.start[k], last = curves.start[k + 1];
    const bool closed = curves.closed[k] != 0;
    const auto keep = [&](std::size_t p) {
      result.now[p] = result.places.size();
      result.places.push_back({p, p, 0});
    };
    // The curve with its closing point, and the places between which it is cut.
    corners.assign(curves.points.begin() + static_cast<std::ptrdiff_t>(first),
                   curves.points.begin() + static_cast<std::ptrdiff_t>(last));
    if (closed && !corners.empty()) corners.push_back(corners.front());
    const double total = polyline_length(corners);
    if (!std::isfinite(total))
      problems.add(where, fmt::format("curve {} is too long to measure", curve_title(curves, k)), "use a smaller `scale`");
    if (corners.size() < 2 || !(total > 0) || !std::isfinite(total)) {  // nothing to walk along
      for (std::size_t p = first; p < last; ++p) keep(p);
      result.start.push_back(result.places.size());
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
    if (const double all = static_cast<double>(result.places.size()) + std::accumulate(n.begin(), n.end(), 0.0);
        !(all <= kMostPoints)) {
      problems.add(where, fmt::format("makes {:.3g} points and more", all), "use longer or fewer segments");
      return result;
    }
    for (std::size_t c = 0; c + 1 < cut.size(); ++c) {
      keep(first + cut[c]);
      const std::vector<PlaceOnPolyline> places =
          equal_steps(std::span(corners).subspan(cut[c], cut[c + 1] - cut[c] + 1), static_cast<int>(n[c]));
      for (std::size_t i = 1; i + 1 < places.size(); ++i) {
        const std::size_t corner = cut[c] + places[i].i;
        result.places.push_back({first + corner, first + (corner + 1) % (last - first), places[i].t});
      }
    }
    if (!closed) keep(last - 1);
    result.start.push_back(result.places.size());
  }
  return result;
}

CurveSet resampled(const CurveSet& curves, std::optional<double> segment_length, std::optional<int> segments,
                   Problems& problems) {
  const Resampling plan = resampling(curves, segment_length, segments, problems);
  if (!problems.empty()) return curves;
  CurveSet result;
  result.up = curves.up;
  result.closed = curves.closed, result.names = curves.names, result.ids = curves.ids;
  result.start = plan.start;
  for (const auto& [a, b, t] : plan.places) {
    result.points.push_back(a == b ? curves.points[a] : (1 - t) * curves.points[a] + t * curves.points[b]);
    if (!curves.widths.empty())
      result.widths.push_back(a == b ? curves.widths[a] : (1 - t) * curves.widths[a] + t * curves.widths[b]);
  }
  result.welds = renumbered(curves.welds, [&](std::size_t p) { return plan.now[p]; });
  return result;
}

}  // namespace osier
