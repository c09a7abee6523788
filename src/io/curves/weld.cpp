// Ends of curves that are near each other become one point.
//
// Ends are sorted into cells of half the distance: the ends of one cell are near each other, so that a crowd in one place costs
// no more than its number; partners in other cells lie at most two cells away.
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

#include "io/curves/edit.hpp"
#include "io/curves/point_groups.hpp"
#include "math/vec3.hpp"

namespace osier {

namespace {

using Cell = std::array<double, 3>;  // whole numbers, too large for an integer type where the distance is tiny
struct CellHash {
  std::size_t operator()(const Cell& c) const {
    std::size_t h = 0;
    for (double v : c) h = (h ^ std::hash<double>()(v)) * 0x9e3779b97f4a7c15u;
    return h;
  }
};

class EndCells {
 public:
  EndCells(const std::vector<Vec3d>& points, double distance) : points_(points), distance_(distance) {}

  void add(std::size_t end) { cells_[cell_of(points_[end])].push_back(end); }

  void join_near(PointGroups& groups) const {
    for (const auto& [cell, ends] : cells_) {
      join_within(ends, groups);
      if (distance_ == 0) continue;
      for (double dx = -2; dx <= 2; ++dx)
        for (double dy = -2; dy <= 2; ++dy)
          for (double dz = -2; dz <= 2; ++dz)
            if (const auto other = cells_.find({cell[0] + dx, cell[1] + dy, cell[2] + dz}); other != cells_.end())
              join_cells(ends, other->second, groups);
    }
  }

 private:
  /// With distance 0 only equal points share a cell. 0 is added to turn -0 into 0.
  Cell cell_of(const Vec3d& p) const {
    if (distance_ == 0) return {p.x + 0.0, p.y + 0.0, p.z + 0.0};
    const double side = distance_ / 2;
    return {std::floor(p.x / side) + 0.0, std::floor(p.y / side) + 0.0, std::floor(p.z / side) + 0.0};
  }

  /// All of a cell are near each other, unless coordinates are so large that rounding brought them there.
  void join_within(const std::vector<std::size_t>& ends, PointGroups& groups) const {
    for (std::size_t i = 1; i < ends.size(); ++i) {
      if (near(ends[0], ends[i])) groups.join(ends[0], ends[i]);
      else
        for (std::size_t j = 1; j < i; ++j)
          if (near(ends[j], ends[i])) groups.join(ends[j], ends[i]);
    }
  }
  bool near(std::size_t p, std::size_t q) const { return norm(points_[p] - points_[q]) <= distance_; }

  void join_cells(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b, PointGroups& groups) const {
    if (groups.together(a.front(), b.front())) return;
    for (std::size_t p : a)
      for (std::size_t q : b)
        if (near(p, q)) {
          groups.join(p, q);
          if (groups.together(a.front(), b.front())) return;  // the others follow through their cells
        }
  }

  const std::vector<Vec3d>& points_;
  double distance_;
  std::unordered_map<Cell, std::vector<std::size_t>, CellHash> cells_;
};

/// Curves whose last point has become their first one lose it and are closed.
CurveSet close_loops(const CurveSet& curves, const std::vector<std::uint8_t>& loop) {
  CurveSet result;
  result.up = curves.up;
  std::vector<std::size_t> now(curves.points.size());
  for (std::size_t k = 0; k < curves.size(); ++k) {
    copy_traits(curves, k, result);
    if (loop[k]) result.closed.back() = 1;
    const std::size_t first = result.points.size();
    for (std::size_t p = curves.start[k]; p < curves.start[k + 1]; ++p) {
      now[p] = result.points.size();
      if (loop[k] && p + 1 == curves.start[k + 1]) {
        now[p] = first;
        continue;
      }
      result.points.push_back(curves.points[p]);
      if (!curves.widths.empty()) result.widths.push_back(curves.widths[p]);
    }
    result.start.push_back(result.points.size());
  }
  result.welds = renumbered(curves.welds, [&](std::size_t p) { return now[p]; });
  return result;
}

}  // namespace

CurveSet welded(CurveSet curves, double distance, const std::vector<std::uint8_t>& was_closed, Problems& problems) {
  PointGroups before(curves.welds);
  PointGroups groups(curves.welds);
  EndCells cells(curves.points, distance);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::size_t first = curves.start[k], end = curves.start[k + 1];
    if (curves.closed[k] || was_closed[k] || first == end) continue;
    cells.add(first);
    if (end - first > 1) cells.add(end - 1);
  }
  cells.join_near(groups);

  for (const auto& [low, points] : groups.groups()) {
    Vec3d shift{};  // from the lowest point: exactly nothing when all are at the same place
    for (std::size_t p : points) shift += curves.points[p] - curves.points[low];
    const Vec3d middle = curves.points[low] + (1.0 / static_cast<double>(points.size())) * shift;
    for (std::size_t p : points) curves.points[p] = middle;
  }
  std::vector<std::uint8_t> loop(curves.size(), 0);
  bool any = false;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::size_t first = curves.start[k], end = curves.start[k + 1];
    if (end - first < 2 || curves.closed[k] || was_closed[k]) continue;
    if (!groups.together(first, end - 1) || before.together(first, end - 1)) continue;
    if (end - first < 4)
      problems.add("/weld", fmt::format("joins both ends of curve {}, which has {} points", curve_title(curves, k), end - first),
                   "use a smaller distance");
    loop[k] = any = true;
  }
  curves.welds = groups.welds();
  if (!any || !problems.empty()) return curves;
  return close_loops(curves, loop);
}

}  // namespace osier
