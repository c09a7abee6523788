// Rotations of stations over a step by power series in the squared angle, which lanes take as single numbers do: exact to
// rounding up to a turn of pi. Longer ones belong to steps that are too long.
#pragma once

#include "math/mat3.hpp"
#include "math/quat.hpp"

namespace osier::generalized_alpha {

/// 1/First! - x/(First + 2)! + x^2/(First + 4)! - ...
template <int First, class T>
OSIER_FN T even_series(T x) {
  constexpr int kTerms = 14;
  double factor[kTerms], last = 1;
  for (int i = 2; i <= First; ++i) last /= i;
  for (int i = 0; i < kTerms; ++i) {
    factor[i] = i % 2 == 0 ? last : -last;
    last /= (First + 2 * i + 1) * (First + 2 * i + 2);
  }
  T sum(factor[kTerms - 1]);
  for (int i = kTerms - 2; i >= 0; --i) sum = sum * x + T(factor[i]);
  return sum;
}

template <class T>
OSIER_FN Quat<T> turned_by(const Vec3<T>& w) {
  const T x = T(0.25) * norm2(w), s = T(0.5) * even_series<1>(x);
  return {s * w.x, s * w.y, s * w.z, even_series<0>(x)};
}

/// Right Jacobian of the exponential: exp(t + dt) = exp(t) exp(Jr(t) dt).
template <class T>
OSIER_FN Mat3<T> right_jacobian(const Vec3<T>& t) {
  const T x = norm2(t), first = even_series<2>(x), second = even_series<3>(x);
  const Mat3<T> tt = outer(t, t);
  const T diagonal = T(1) - second * x;  // [t]x^2 = t t^T - t^2
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = second * tt.m[i][j];
  r.m[0][0] += diagonal, r.m[1][1] += diagonal, r.m[2][2] += diagonal;
  const T a = first * t.x, b = first * t.y, c = first * t.z;
  r.m[0][1] += c, r.m[0][2] -= b, r.m[1][0] -= c, r.m[1][2] += a, r.m[2][0] += b, r.m[2][1] -= a;
  return r;
}

}  // namespace osier::generalized_alpha
