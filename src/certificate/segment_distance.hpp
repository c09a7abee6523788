// The distance of two segments, for checks of contact that share no code with it (contact/segment_gap.hpp solves a quadratic
// program instead). It is the smallest of
//
//   - the distances of each end from the other segment
//   - the distance of the two lines, |w.n|/|n| with n = u x v, where the feet of their common normal lie on both segments:
//       s = det(w, v, n)/|n|^2,   t = det(w, u, n)/|n|^2,   0 < s, t < 1
//
//   u, v   edges of the segments                 [m]
//   w      from the start of one to that of the other [m]
//
// Of lines that are almost parallel, one of the ends is as near as the common normal, but for rounding.
#pragma once

#include <algorithm>

#include "math/vec3.hpp"

namespace osier::certificate {

/// Squared distance of the point p from the segment that begins at 0 and has the edge e.
inline double point_distance2(const Vec3d& p, const Vec3d& e) {
  const double along = dot(p, e), length2 = norm2(e);
  if (!(along > 0)) return norm2(p);
  if (along >= length2) return norm2(p - e);
  return norm2(p - (along / length2) * e);
}

inline double segment_distance(const Vec3d& a0, const Vec3d& a1, const Vec3d& b0, const Vec3d& b1) {
  const Vec3d u = a1 - a0, v = b1 - b0, w = b0 - a0;
  double least2 =
      std::min({point_distance2(w, u), point_distance2(b1 - a0, u), point_distance2(-w, v), point_distance2(a1 - b0, v)});
  const Vec3d n = cross(u, v);
  const double n2 = norm2(n);
  if (n2 > 1e-20 * norm2(u) * norm2(v)) {
    const double s = dot(cross(w, v), n), t = dot(cross(w, u), n);
    if (s > 0 && s < n2 && t > 0 && t < n2) {
      const double height = dot(w, n);
      least2 = std::min(least2, height * height / n2);
    }
  }
  return std::sqrt(least2);
}

}  // namespace osier::certificate
