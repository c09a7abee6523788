// Quaternion algebra. Memory order is (x, y, z, w); a Vec3 counts as a pure imaginary quaternion.
#pragma once

#include "math/mat3.hpp"
#include "math/vec3.hpp"

namespace osier {

// clang-format off
template <class T> OSIER_FN Quat<T> operator+(const Quat<T>& a, const Quat<T>& b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
template <class T> OSIER_FN Quat<T> operator-(const Quat<T>& a, const Quat<T>& b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
template <class T> OSIER_FN Quat<T> operator-(const Quat<T>& a) { return {-a.x, -a.y, -a.z, -a.w}; }
template <class T> OSIER_FN Quat<T> operator*(T s, const Quat<T>& a) { return {s * a.x, s * a.y, s * a.z, s * a.w}; }
template <class T> OSIER_FN Quat<T>& operator+=(Quat<T>& a, const Quat<T>& b) { a = a + b; return a; }
template <class T> OSIER_FN T dot(const Quat<T>& a, const Quat<T>& b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
template <class T> OSIER_FN T norm2(const Quat<T>& a) { return dot(a, a); }
template <class T> OSIER_FN T norm(const Quat<T>& a) { using std::sqrt; return sqrt(dot(a, a)); }
template <class T> OSIER_FN Quat<T> conj(const Quat<T>& a) { return {-a.x, -a.y, -a.z, a.w}; }
template <class T> OSIER_FN Vec3<T> imag(const Quat<T>& a) { return {a.x, a.y, a.z}; }
template <class T> OSIER_FN Quat<T> pure(const Vec3<T>& a) { return {a.x, a.y, a.z, T(0)}; }
template <class To, class From> OSIER_FN Quat<To> cast(const Quat<From>& a) { return {To(a.x), To(a.y), To(a.z), To(a.w)}; }
template <class T> OSIER_FN bool is_finite(const Quat<T>& a) { using std::isfinite; return isfinite(a.x) && isfinite(a.y) && isfinite(a.z) && isfinite(a.w); }
// clang-format on

/// Hamilton product.
template <class T>
OSIER_FN Quat<T> operator*(const Quat<T>& a, const Quat<T>& b) {
  return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
          a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

/// Product with a pure imaginary left factor: v q.
template <class T>
OSIER_FN Quat<T> operator*(const Vec3<T>& v, const Quat<T>& q) {
  return {v.x * q.w + v.y * q.z - v.z * q.y, v.y * q.w + v.z * q.x - v.x * q.z, v.z * q.w + v.x * q.y - v.y * q.x,
          -v.x * q.x - v.y * q.y - v.z * q.z};
}

/// Product with a pure imaginary right factor: q v.
template <class T>
OSIER_FN Quat<T> operator*(const Quat<T>& q, const Vec3<T>& v) {
  return {q.w * v.x + q.y * v.z - q.z * v.y, q.w * v.y + q.z * v.x - q.x * v.z, q.w * v.z + q.x * v.y - q.y * v.x,
          -q.x * v.x - q.y * v.y - q.z * v.z};
}

/// q e3: the paper's material axis as a right factor costs four sign changes.
template <class T>
OSIER_FN Quat<T> times_e3(const Quat<T>& q) {
  return {q.y, -q.x, q.w, -q.z};
}

/// q/|q|; a zero quaternion gives the identity.
template <class T>
OSIER_FN Quat<T> normalized(const Quat<T>& q) {
  const T n = norm(q);
  return n > T(0) ? (T(1) / n) * q : Quat<T>{};
}

/// Rotates v by a unit q: q v conj(q).
template <class T>
OSIER_FN Vec3<T> rotate(const Quat<T>& q, const Vec3<T>& v) {
  const Vec3<T> u = imag(q);
  const Vec3<T> t = T(2) * cross(u, v);
  return v + q.w * t + cross(u, t);
}

/// Third director d3 = q e3 conj(q) of a unit q (Eq. 1 of the paper).
template <class T>
OSIER_FN Vec3<T> director3(const Quat<T>& q) {
  return {T(2) * (q.x * q.z + q.w * q.y), T(2) * (q.y * q.z - q.w * q.x), T(1) - T(2) * (q.x * q.x + q.y * q.y)};
}

/// The rotation matrix of a unit q; its columns are the directors.
template <class T>
OSIER_FN Mat3<T> rotation_matrix(const Quat<T>& q) {
  const T xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const T wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return {{{T(1) - T(2) * (yy + zz), T(2) * (xy - wz), T(2) * (xz + wy)},
           {T(2) * (xy + wz), T(1) - T(2) * (xx + zz), T(2) * (yz - wx)},
           {T(2) * (xz - wy), T(2) * (yz + wx), T(1) - T(2) * (xx + yy)}}};
}

/// R diag(k) R^T: a material tensor in world axes.
template <class T>
OSIER_FN Mat3<T> rotated_diagonal(const Mat3<T>& r, const Vec3<T>& k) {
  Mat3<T> c;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      c.m[i][j] = c.m[j][i] = k.x * r.m[i][0] * r.m[j][0] + k.y * r.m[i][1] * r.m[j][1] + k.z * r.m[i][2] * r.m[j][2];
  return c;
}

/// Rotation by the vector w (axis times angle): exp(w/2).
template <class T>
OSIER_FN Quat<T> rotation_exp(const Vec3<T>& w) {
  using std::cos, std::sin;
  const T a = norm(w);
  if (a < T(1e-6)) return normalized(Quat<T>{w.x / 2, w.y / 2, w.z / 2, T(1)});
  const T s = sin(a / 2) / a;
  return {s * w.x, s * w.y, s * w.z, cos(a / 2)};
}

/// Rotation vector of a unit q, of length at most pi.
template <class T>
OSIER_FN Vec3<T> rotation_log(Quat<T> q) {
  using std::atan2;
  if (q.w < T(0)) q = -q;
  const Vec3<T> u = imag(q);
  const T s = norm(u);
  const T f = s > T(1e-12) ? T(2) * atan2(s, q.w) / s : T(2);
  return f * u;
}

/// The smallest rotation that takes unit a to unit b; for opposite vectors a half turn about some normal axis.
template <class T>
OSIER_FN Quat<T> rotation_between(const Vec3<T>& a, const Vec3<T>& b) {
  using std::abs;
  const T c = dot(a, b);
  if (c < T(-1) + T(1e-12)) {
    const Vec3<T> n = normalized(cross(a, abs(a.x) < T(0.7) ? Vec3<T>{1, 0, 0} : Vec3<T>{0, 1, 0}));
    return {n.x, n.y, n.z, T(0)};
  }
  const Vec3<T> u = cross(a, b);
  return normalized(Quat<T>{u.x, u.y, u.z, T(1) + c});
}

template <class T>
OSIER_FN Quat<T> axis_angle(const Vec3<T>& unit_axis, T angle) {
  using std::cos, std::sin;
  const T s = sin(angle / 2);
  return {s * unit_axis.x, s * unit_axis.y, s * unit_axis.z, cos(angle / 2)};
}

/// Unit quaternion of the right-handed frame with columns d1, d2, d3.
template <class T>
OSIER_FN Quat<T> quat_from_frame(const Vec3<T>& d1, const Vec3<T>& d2, const Vec3<T>& d3) {
  using std::sqrt;
  const T trace = d1.x + d2.y + d3.z;
  Quat<T> q;
  if (trace > T(0)) {
    q = {d2.z - d3.y, d3.x - d1.z, d1.y - d2.x, T(1) + trace};
  } else if (d1.x > d2.y && d1.x > d3.z) {
    q = {T(1) + d1.x - d2.y - d3.z, d1.y + d2.x, d1.z + d3.x, d2.z - d3.y};
  } else if (d2.y > d3.z) {
    q = {d1.y + d2.x, T(1) - d1.x + d2.y - d3.z, d2.z + d3.y, d3.x - d1.z};
  } else {
    q = {d1.z + d3.x, d2.z + d3.y, T(1) - d1.x - d2.y + d3.z, d1.y - d2.x};
  }
  return normalized(q);
}

/// The frame nearest to q among those that a hinge about the world axis allows, `zero` being that of angle 0.
template <class T>
OSIER_FN Quat<T> nearest_on_hinge(const Quat<T>& q, const Quat<T>& zero, const Vec3<T>& axis) {
  const Quat<T> quarter = axis * zero;
  return normalized(dot(q, zero) * zero + dot(q, quarter) * quarter);
}

/// Half of a rotation: the unit square root with non-negative real part.
template <class T>
OSIER_FN Quat<T> half_rotation(Quat<T> q) {
  if (q.w < T(0)) q = -q;
  q.w += T(1);
  return normalized(q);
}

}  // namespace osier
