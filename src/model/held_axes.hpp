// Vertices that are held along one or two directions only.
#pragma once

#include "math/mat3.hpp"
#include "osier/state.hpp"

namespace osier {

/// The part of a vector along the held directions.
inline Vec3d along(const HeldAxes& h, const Vec3d& p) {
  Vec3d sum = dot(h.axis[0], p) * h.axis[0];
  if (h.count == 2) sum += dot(h.axis[1], p) * h.axis[1];
  return sum;
}
/// The part that is free.
inline Vec3d across(const HeldAxes& h, const Vec3d& p) { return p - along(h, p); }

inline Mat3<double> projector_across(const HeldAxes& h) {
  Mat3<double> p = identity3(1.0) + -1.0 * outer(h.axis[0], h.axis[0]);
  return h.count == 2 ? p + -1.0 * outer(h.axis[1], h.axis[1]) : p;
}

/// The place nearest to x that the hold allows.
inline Vec3d held_place(const HeldAxes& h, const Vec3d& x) { return x + along(h, h.target - x); }

/// Unit vectors along which the vertex is free, 3 - count of them.
std::array<Vec3d, 2> free_axes(const HeldAxes& h);

/// Adds a unit direction; those that are held already are perpendicular to it or the same. Three directions hold the vertex.
void hold_along(Control& control, Index vertex, const Vec3d& axis, const Vec3d& target);
/// After all constraints have been applied: one entry per vertex, in order, and none for vertices that are fixed.
void settle_held_axes(Control& control);
/// Of a settled control; null where the vertex is not held along single directions.
const HeldAxes* held_axes_of(const Control& control, Index vertex);

}  // namespace osier
