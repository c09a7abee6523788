// Block-tridiagonal symmetric systems of 12x12 blocks, real or complex: S = R^T D^-1 R without roots, so that the number of
// negative pivots is that of negative eigenvalues.
//
//   diagonal blocks: R_kk, rows not divided by their pivots, whose inverses are on its diagonal;  above: R_k,k+1
#pragma once

#include "math/number.hpp"
#include "solvers/deti/fibre_springs.hpp"

namespace osier::deti {

using osier::inverse;  // which that of complex numbers would hide

/// re + i im for numbers that may be packs.
template <class P>
struct Complex {
  P re, im;
};
// clang-format off
template <class P> OSIER_FN Complex<P> operator+(const Complex<P>& a, const Complex<P>& b) { return {a.re + b.re, a.im + b.im}; }
template <class P> OSIER_FN Complex<P> operator-(const Complex<P>& a, const Complex<P>& b) { return {a.re - b.re, a.im - b.im}; }
template <class P> OSIER_FN Complex<P> operator*(const Complex<P>& a, const Complex<P>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class P> OSIER_FN Complex<P>& operator-=(Complex<P>& a, const Complex<P>& b) { return a = a - b; }
template <class P> OSIER_FN Complex<P> inverse(const Complex<P>& a) {
  const P s = inverse(a.re * a.re + a.im * a.im);
  return {a.re * s, -(a.im * s)};
}
// clang-format on

template <class Q>
struct Part {
  using Real = Q;
  static constexpr int numbers = 1;  ///< per lane
  OSIER_FN static Q load(const double* p) { return load_lanes<Q>(p); }
  OSIER_FN static void store(const Q& x, double* p) { store_lanes(x, p); }
  OSIER_FN static Q zero() { return Q(0); }
};
template <class P>
struct Part<Complex<P>> {
  using Real = P;
  static constexpr int numbers = 2;
  OSIER_FN static Complex<P> load(const double* p) { return {load_lanes<P>(p), load_lanes<P>(p + lanes_of<P>)}; }
  OSIER_FN static void store(const Complex<P>& x, double* p) {
    store_lanes(x.re, p);
    store_lanes(x.im, p + lanes_of<P>);
  }
  OSIER_FN static Complex<P> zero() { return {P(0), P(0)}; }
};

/// Arrays: blocks of 144 numbers, vectors of 12 per section.
template <class Q>
class BlockChain {
  using Of = Part<Q>;
  static constexpr int N = kUnknowns;
  static constexpr int kStride = Of::numbers * lanes_of<typename Of::Real>;

 public:
  BlockChain(Index sections, double* diagonal, double* above) : n_(sections), diagonal_(diagonal), above_(above) {}

  /// Of the matrices whose section k `fill(k, diagonal block, block above)` writes: the upper triangle of the first.
  template <class Fill>
  void factor(const Fill& fill) {
    Block<Q> S, U, carried;
    for (Index k = 0; k < n_; ++k) {
      fill(k, S, U);
      if (k > 0)
        for (int r = 0; r < N; ++r)
          for (int c = r; c < N; ++c) S.a[r][c] -= carried.a[r][c];
      for (int j = 0; j < N; ++j) {
        const Q pivot = inverse(S.a[j][j]);
        for (int i = j + 1; i < N; ++i) {
          const Q share = pivot * S.a[j][i];
          for (int c = i; c < N; ++c) S.a[i][c] -= share * S.a[j][c];
        }
        S.a[j][j] = pivot;
      }
      save(S, diagonal_, k);
      if (k + 1 == n_) break;
      for (int j = 0; j < N; ++j)
        for (int i = j + 1; i < N; ++i) {
          const Q share = S.a[j][j] * S.a[j][i];
          for (int c = 0; c < N; ++c) U.a[i][c] -= share * U.a[j][c];
        }
      save(U, above_, k);
      for (int r = 0; r < N; ++r)
        for (int c = 0; c < N; ++c) carried.a[r][c] = Of::zero();
      for (int j = 0; j < N; ++j)
        for (int r = 0; r < N; ++r) {
          const Q share = S.a[j][j] * U.a[j][r];
          for (int c = r; c < N; ++c) carried.a[r][c] = carried.a[r][c] + share * U.a[j][c];
        }
    }
  }

  /// x <- S^-1 x for `count` vectors at once.
  template <int Count>
  void solve(double* const (&x)[Count]) const {
    for (Index k = 0; k < n_; ++k) {
      Q z[Count][N];
      get(x, k, z);
      if (k > 0) {
        Q before[Count][N];
        get(x, k - 1, before);
        for (int j = 0; j < N; ++j) {
          const Q pivot = block(diagonal_, k - 1, j, j);
          Q share[Count];
          for (int v = 0; v < Count; ++v) share[v] = pivot * before[v][j];
          for (int c = 0; c < N; ++c) {
            const Q u = block(above_, k - 1, j, c);
            for (int v = 0; v < Count; ++v) z[v][c] -= share[v] * u;
          }
        }
      }
      for (int j = 0; j < N; ++j) {
        const Q pivot = block(diagonal_, k, j, j);
        for (int v = 0; v < Count; ++v) {
          const Q share = pivot * z[v][j];
          for (int c = j + 1; c < N; ++c) z[v][c] -= share * block(diagonal_, k, j, c);
        }
      }
      set(x, k, z);
    }
    for (Index k = n_ - 1; k >= 0; --k) {
      Q z[Count][N], after[Count][N];
      get(x, k, z);
      if (k + 1 < n_) get(x, k + 1, after);
      for (int j = N - 1; j >= 0; --j) {
        const Q pivot = block(diagonal_, k, j, j);
        for (int v = 0; v < Count; ++v) {
          Q sum = z[v][j];
          if (k + 1 < n_)
            for (int c = 0; c < N; ++c) sum -= block(above_, k, j, c) * after[v][c];
          for (int c = j + 1; c < N; ++c) sum -= block(diagonal_, k, j, c) * z[v][c];
          z[v][j] = pivot * sum;
        }
      }
      set(x, k, z);
    }
  }

  /// The inverse of pivot j of section k.
  Q inverse_pivot(Index k, int j) const { return block(diagonal_, k, j, j); }

 private:
  OSIER_FN Q block(const double* blocks, Index k, int r, int c) const {
    return Of::load(blocks + ((k * N + r) * N + c) * kStride);
  }
  void save(const Block<Q>& b, double* blocks, Index k) {
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) Of::store(b.a[r][c], blocks + ((k * N + r) * N + c) * kStride);
  }
  template <int Count>
  OSIER_FN static void get(double* const (&x)[Count], Index k, Q (&z)[Count][N]) {
    for (int v = 0; v < Count; ++v)
      for (int i = 0; i < N; ++i) z[v][i] = Of::load(x[v] + (k * N + i) * kStride);
  }
  template <int Count>
  OSIER_FN static void set(double* const (&x)[Count], Index k, const Q (&z)[Count][N]) {
    for (int v = 0; v < Count; ++v)
      for (int i = 0; i < N; ++i) Of::store(z[v][i], x[v] + (k * N + i) * kStride);
  }

  Index n_;
  double *diagonal_, *above_;
};

}  // namespace osier::deti
