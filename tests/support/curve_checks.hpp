// What holds for every set of curves that a reader or an edit returns, whatever the file was.
#pragma once

#include <cmath>
#include <string>

#include "osier/curves.hpp"

namespace osier {

/// Empty when all is well; otherwise what is not.
inline std::string flaw_of(const CurveSet& c) {
  if (c.start.empty() || c.start.front() != 0 || c.start.back() != c.points.size()) return "start does not span the points";
  for (std::size_t k = 0; k < c.size(); ++k)
    if (c.start[k] > c.start[k + 1]) return "start descends";
  if (c.closed.size() != c.size()) return "closed has another size";
  if (!c.names.empty() && c.names.size() != c.size()) return "names has another size";
  if (!c.ids.empty() && c.ids.size() != c.size()) return "ids has another size";
  if (!c.widths.empty() && c.widths.size() != c.points.size()) return "widths has another size";
  for (const Vec3d& p : c.points)
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) return "a point is not finite";
  for (double w : c.widths)
    if (!(w >= 0 && std::isfinite(w))) return "a width is negative or not finite";
  for (const auto& [a, b] : c.welds) {
    if (a >= b || b >= c.points.size()) return "a weld is out of range or out of order";
    const Vec3d &p = c.points[a], &q = c.points[b];
    if (p.x != q.x || p.y != q.y || p.z != q.z) return "welded points lie apart";
  }
  return {};
}

}  // namespace osier
