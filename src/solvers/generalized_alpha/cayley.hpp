// Frames along a rod by the Cayley map of the mean curvature of every cell, which is the rotation that the box equations
// integrate: n_s + k x n = -f is R_j n_j - R_(j-1) n_(j-1) = -h S f with the same R, exactly. With exponentials (Rodrigues,
// slides Eq. 23) gravity and the turn inside a rod do not agree, and coarse curls never come to rest.
#pragma once

#include "math/quat.hpp"

namespace osier::generalized_alpha {

/// (I + [b]x) (I - [b]x)^-1, b = h k/2: a turn by 2 atan |b|.
template <class T>
OSIER_FN Quat<T> cayley(const Vec3<T>& b) {
  return normalized(Quat<T>{b.x, b.y, b.z, T(1)});
}
/// b of a rotation of less than half a turn.
template <class T>
OSIER_FN Vec3<T> inverse_cayley(const Quat<T>& q) {
  return (T(1) / q.w) * imag(q);
}

/// The tangent nu0 with which the box equations have the lever d of a force (the vector from one end of a cell to the other over
/// h, in the axes of its middle) for a cell that is turned by b: they work with d = c^2 C^-1 nu0, where C shortens what is
/// across b by c = 1/sqrt(1 + |b|^2).
template <class T>
OSIER_FN Vec3<T> box_tangent(const Vec3<T>& d, const Vec3<T>& b) {
  using std::sqrt;
  const T b2 = norm2(b), c = T(1) / sqrt(T(1) + b2);
  if (!(b2 > T(0))) return d;
  const Vec3<T> along = (dot(d, b) / b2) * b;
  return (T(1) / (c * c)) * along + (T(1) / c) * (d - along);
}

}  // namespace osier::generalized_alpha
