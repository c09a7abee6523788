// L D L^T of small symmetric matrices, in the two forms that the solvers need:
//
//   Ldl<N, T>       N known and tiny, no branch on data: for packs of lanes and for single numbers, in registers
//   factor_ldl()    any n, one number at a time: pivots that are only rounding errors are found and set to 0
//
// Triangles are packed row by row: entry (i, j), i >= j, is number triangle(i, j).
#pragma once

#include <cmath>

#include "exec/unroll.hpp"
#include "math/mat3.hpp"
#include "math/number.hpp"

namespace osier {

/// Place of entry (i, j) or (j, i) of a symmetric matrix in its packed lower triangle.
OSIER_FN constexpr int triangle(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

template <int N, class T>
struct Ldl {
  T l[N * (N + 1) / 2];  ///< L below the diagonal, the inverse pivots on it
  T pivot[N];

  /// Factors a packed lower triangle.
  OSIER_FN explicit Ldl(const T (&a)[N * (N + 1) / 2]) {
    T scaled[N * (N + 1) / 2];  // L D
    OSIER_UNROLL(6)
    for (int i = 0; i < N; ++i) {
      OSIER_UNROLL(6)
      for (int j = 0; j <= i; ++j) {
        T x = a[triangle(i, j)];
        OSIER_UNROLL(6)
        for (int k = 0; k < j; ++k) x -= l[triangle(i, k)] * scaled[triangle(j, k)];
        scaled[triangle(i, j)] = x;
        if (j < i) l[triangle(i, j)] = x * l[triangle(j, j)];
      }
      pivot[i] = scaled[triangle(i, i)];
      l[triangle(i, i)] = inverse(pivot[i]);
    }
  }
  OSIER_FN T inverse_pivot(int i) const { return l[triangle(i, i)]; }
  /// y <- L^-1 y
  OSIER_FN void forward(T (&y)[N]) const {
    OSIER_UNROLL(6)
    for (int i = 1; i < N; ++i) {
      OSIER_UNROLL(6)
      for (int k = 0; k < i; ++k) y[i] -= l[triangle(i, k)] * y[k];
    }
  }
  /// y <- L^-T D^-1 y
  OSIER_FN void backward(T (&y)[N]) const {
    OSIER_UNROLL(6)
    for (int i = N - 1; i >= 0; --i) {
      y[i] = y[i] * l[triangle(i, i)];
      OSIER_UNROLL(6)
      for (int k = i + 1; k < N; ++k) y[i] -= l[triangle(k, i)] * y[k];
    }
  }
  OSIER_FN void solve(T (&y)[N]) const {
    forward(y);
    backward(y);
  }
};

/// Solves a symmetric a x = b. Returns false, with a meaningless x, unless every pivot is more than the share `least` of its own
/// diagonal entry (axes may have very different scales).
template <class T>
OSIER_FN MaskOf<T> solve_positive(const Mat3<T>& a, const Vec3<T>& b, T least, Vec3<T>& x) {
  const T lower[6] = {a.m[0][0], a.m[1][0], a.m[1][1], a.m[2][0], a.m[2][1], a.m[2][2]};
  const Ldl<3, T> ldl(lower);
  T y[3] = {b.x, b.y, b.z};
  ldl.solve(y);
  x = {y[0], y[1], y[2]};
  const T(&d)[3] = ldl.pivot, zero(0);
  return (d[0] > zero) & (d[1] > zero) & (d[1] > least * a.m[1][1]) & (d[2] > zero) & (d[2] > least * a.m[2][2]);
}

/// Factors in place: L below the diagonal, pivots on it. A pivot that is at most the share `least` of its own diagonal entry is
/// set to 0 and reported by null(i); so is a negative pivot, unless `either_sign`.
template <class T, class Null>
OSIER_FN void factor_ldl(T* a, int n, T least, bool either_sign, const Null& null) {
  using std::abs;
  const auto row = [a](int i) { return a + static_cast<std::ptrdiff_t>(i) * (i + 1) / 2; };
  for (int i = 0; i < n; ++i) {
    const T whole = row(i)[i];
    for (int j = 0; j < i; ++j) {  // row i holds L D until it is complete
      T x = row(i)[j];
      for (int k = 0; k < j; ++k) x -= row(i)[k] * row(j)[k];
      row(i)[j] = x;
    }
    T pivot = whole;
    for (int j = 0; j < i; ++j) {
      const T scaled = row(j)[j] != T(0) ? row(i)[j] / row(j)[j] : T(0);
      pivot -= scaled * row(i)[j];
      row(i)[j] = scaled;
    }
    if (!(either_sign ? abs(pivot) > least * abs(whole) : pivot > least * whole)) {
      pivot = T(0);
      null(i);
    }
    row(i)[i] = pivot;
  }
}

/// y <- L^-1 y for the n numbers y[0], y[stride], ...
template <class T>
OSIER_FN void forward_ldl(const T* a, int n, T* y, int stride = 1) {
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) y[i * stride] -= a[triangle(i, k)] * y[k * stride];
}
/// y <- L^-T D^-1 y; entries whose pivot is 0 become 0.
template <class T>
OSIER_FN void backward_ldl(const T* a, int n, T* y, int stride = 1) {
  for (int i = n; i-- > 0;) {
    const T pivot = a[triangle(i, i)];
    T x = pivot != T(0) ? y[i * stride] / pivot : T(0);
    for (int k = i + 1; k < n; ++k) x -= a[triangle(k, i)] * y[k * stride];
    y[i * stride] = x;
  }
}
template <class T>
OSIER_FN void solve_ldl(const T* a, int n, T* y, int stride = 1) {
  forward_ldl(a, n, y, stride);
  backward_ldl(a, n, y, stride);
}

}  // namespace osier
