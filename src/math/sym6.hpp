// Wrenches, twists and symmetric 6x6 matrices over (x, w): a position and a rotation vector, as three 3x3 blocks.
#pragma once

#include "math/mat3.hpp"

namespace osier {

template <class T>
struct Vec6 {
  Vec3<T> x, w;
};

template <class T>
struct Sym6 {
  Mat3<T> xx, xw, ww;  ///< xw: rows x, columns w
};

/// The same by its lower triangle.
template <class T>
struct PackedSym6 {
  T m[21]{};
  OSIER_FN T& operator()(int a, int b) { return m[a * (a + 1) / 2 + b]; }  ///< a >= b
  OSIER_FN T operator()(int a, int b) const { return m[a * (a + 1) / 2 + b]; }
};

template <class T>
OSIER_FN void operator+=(PackedSym6<T>& a, const PackedSym6<T>& b) {
  for (int i = 0; i < 21; ++i) a.m[i] += b.m[i];
}

template <class T>
OSIER_FN PackedSym6<T> pack(const Sym6<T>& s) {
  PackedSym6<T> p;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) p(a, b) = s.xx.m[a][b], p(3 + a, 3 + b) = s.ww.m[a][b];
    for (int b = 0; b < 3; ++b) p(3 + a, b) = s.xw.m[b][a];
  }
  return p;
}
template <class T>
OSIER_FN Sym6<T> unpack(const PackedSym6<T>& p) {
  Sym6<T> s;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      s.xx.m[a][b] = a < b ? p(b, a) : p(a, b);
      s.ww.m[a][b] = a < b ? p(3 + b, 3 + a) : p(3 + a, 3 + b);
      s.xw.m[a][b] = p(3 + b, a);
    }
  return s;
}

// clang-format off
template <class T> OSIER_FN Vec6<T> operator+(const Vec6<T>& a, const Vec6<T>& b) { return {a.x + b.x, a.w + b.w}; }
template <class T> OSIER_FN Vec6<T> operator-(const Vec6<T>& a, const Vec6<T>& b) { return {a.x - b.x, a.w - b.w}; }
template <class T> OSIER_FN Vec6<T> operator*(T s, const Vec6<T>& a) { return {s * a.x, s * a.w}; }
template <class T> OSIER_FN Sym6<T> operator+(const Sym6<T>& a, const Sym6<T>& b) { return {a.xx + b.xx, a.xw + b.xw, a.ww + b.ww}; }
// clang-format on

template <class T, class From>
OSIER_FN Vec6<T> cast6(const Vec6<From>& v) {
  return {cast<T>(v.x), cast<T>(v.w)};
}

/// a^T v without forming the transpose.
template <class T>
OSIER_FN Vec3<T> transposed_times(const Mat3<T>& a, const Vec3<T>& v) {
  return {a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z, a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
          a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z};
}

template <class T>
OSIER_FN Vec6<T> operator*(const Sym6<T>& s, const Vec6<T>& v) {
  return {s.xx * v.x + s.xw * v.w, transposed_times(s.xw, v.x) + s.ww * v.w};
}

/// S += g s s^T
template <class T>
OSIER_FN void add_outer(PackedSym6<T>& S, T g, const Vec6<T>& s) {
  const T v[6] = {s.x.x, s.x.y, s.x.z, s.w.x, s.w.y, s.w.z};
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b <= a; ++b) S(a, b) += (g * v[a]) * v[b];
}

/// The column of a matrix.
template <class T>
OSIER_FN Vec3<T> column(const Mat3<T>& m, int j) {
  return {m.m[0][j], m.m[1][j], m.m[2][j]};
}

}  // namespace osier
