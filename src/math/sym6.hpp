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

// clang-format off
template <class T> OSIER_FN Vec6<T> operator+(const Vec6<T>& a, const Vec6<T>& b) { return {a.x + b.x, a.w + b.w}; }
template <class T> OSIER_FN Vec6<T> operator-(const Vec6<T>& a, const Vec6<T>& b) { return {a.x - b.x, a.w - b.w}; }
template <class T> OSIER_FN Vec6<T> operator*(T s, const Vec6<T>& a) { return {s * a.x, s * a.w}; }
template <class T> OSIER_FN Sym6<T> operator+(const Sym6<T>& a, const Sym6<T>& b) { return {a.xx + b.xx, a.xw + b.xw, a.ww + b.ww}; }
// clang-format on

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

/// S -= g s s^T
template <class T>
OSIER_FN void subtract_outer(Sym6<T>& S, T g, const Vec6<T>& s) {
  const Vec6<T> t = -g * s;
  S.xx = S.xx + outer(t.x, s.x);
  S.xw = S.xw + outer(t.x, s.w);
  S.ww = S.ww + outer(t.w, s.w);
}

/// The column of a matrix.
template <class T>
OSIER_FN Vec3<T> column(const Mat3<T>& m, int j) {
  return {m.m[0][j], m.m[1][j], m.m[2][j]};
}

}  // namespace osier
