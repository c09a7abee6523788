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

#include "math/vec3.hpp"

namespace osier::certificate {

/// From the point p to the nearest one of the segment that begins at 0 and has the edge e.
inline Vec3d point_offset(const Vec3d& p, const Vec3d& e) {
  const double along = dot(p, e), length2 = norm2(e);
  if (!(along > 0)) return -p;
  if (along >= length2) return e - p;
  return (along / length2) * e - p;
}

/// From the nearest point of a to that of b.
inline Vec3d segment_offset(const Vec3d& a0, const Vec3d& a1, const Vec3d& b0, const Vec3d& b1) {
  const Vec3d u = a1 - a0, v = b1 - b0, w = b0 - a0;
  Vec3d best = -point_offset(w, u);
  const auto consider = [&](const Vec3d& d) {
    if (norm2(d) < norm2(best)) best = d;
  };
  consider(-point_offset(b1 - a0, u));
  consider(point_offset(-w, v));
  consider(point_offset(a1 - b0, v));
  const Vec3d n = cross(u, v);
  const double n2 = norm2(n);
  if (n2 > 1e-20 * norm2(u) * norm2(v)) {
    const double s = dot(cross(w, v), n), t = dot(cross(w, u), n);
    if (s > 0 && s < n2 && t > 0 && t < n2) consider((dot(w, n) / n2) * n);
  }
  return best;
}

inline double segment_distance(const Vec3d& a0, const Vec3d& a1, const Vec3d& b0, const Vec3d& b1) {
  return norm(segment_offset(a0, a1, b0, b1));
}

}  // namespace osier::certificate
