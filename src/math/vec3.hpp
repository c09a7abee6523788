// Arithmetic of Vec3 for every number type (float, double, later SIMD packs).
#pragma once

#include "osier/types.hpp"

namespace osier {

// clang-format off
template <class T> OSIER_FN Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T> OSIER_FN Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T> OSIER_FN Vec3<T> operator-(const Vec3<T>& a) { return {-a.x, -a.y, -a.z}; }
template <class T> OSIER_FN Vec3<T> operator*(T s, const Vec3<T>& a) { return {s * a.x, s * a.y, s * a.z}; }
template <class T> OSIER_FN Vec3<T>& operator+=(Vec3<T>& a, const Vec3<T>& b) { a = a + b; return a; }
template <class T> OSIER_FN Vec3<T>& operator-=(Vec3<T>& a, const Vec3<T>& b) { a = a - b; return a; }
template <class T> OSIER_FN T dot(const Vec3<T>& a, const Vec3<T>& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class T> OSIER_FN T norm2(const Vec3<T>& a) { return dot(a, a); }
template <class T> OSIER_FN T norm(const Vec3<T>& a) { using std::sqrt; return sqrt(dot(a, a)); }
template <class T> OSIER_FN Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// a + b x c and a - b x c, in as many fused multiply-adds as there are products.
template <class T>
OSIER_FN Vec3<T> plus_cross(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
  return {a.x + b.y * c.z - b.z * c.y, a.y + b.z * c.x - b.x * c.z, a.z + b.x * c.y - b.y * c.x};
}
template <class T>
OSIER_FN Vec3<T> minus_cross(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
  return {a.x - b.y * c.z + b.z * c.y, a.y - b.z * c.x + b.x * c.z, a.z - b.x * c.y + b.y * c.x};
}
/// a/|a|; the zero vector stays zero, so that a caller can test for it.
template <class T> OSIER_FN Vec3<T> normalized(const Vec3<T>& a) { const T n = norm(a); return n > T(0) ? (T(1) / n) * a : a; }
template <class To, class From> OSIER_FN Vec3<To> cast(const Vec3<From>& a) { return {To(a.x), To(a.y), To(a.z)}; }
template <class T> OSIER_FN bool is_finite(const Vec3<T>& a) { using std::isfinite; return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/// Component by component.
template <class T> OSIER_FN Vec3<T> times(const Vec3<T>& a, const Vec3<T>& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
template <class T> OSIER_FN Vec3<T> cast(const PerAxis& a) { return {T(a.d1), T(a.d2), T(a.d3)}; }
// clang-format on

}  // namespace osier
