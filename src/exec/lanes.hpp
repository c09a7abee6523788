// Between arrays of structures and packs: vectors and quaternions whose components are packs, filled from and emptied into rows
// of three or four numbers that lie anywhere. Rows are loaded whole and transposed in registers, which costs a fraction of the
// machine's gather instructions. Templates over the number type P only (exec/simd.hpp).
#pragma once

#include "exec/pack.hpp"
#include "math/lane_access.hpp"
#include "math/quat.hpp"

namespace osier {

/// A number from one value per lane.
template <class P, class F>
OSIER_FN P per_lane(const F& f) {
  if constexpr (lanes_of<P> == 1) {
    return f(0);
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return P(typename P::Vector{f(I)...}); }
    (std::make_integer_sequence<int, lanes_of<P>>{});
  }
}

template <class P>
inline constexpr std::uint32_t all_lanes = (1u << lanes_of<P>)-1u;

/// Lane i is true when bit i is set.
template <class P>
OSIER_FN MaskOf<P> mask_of_bits(std::uint32_t b) {
  if constexpr (lanes_of<P> == 1) {
    return (b & 1u) != 0;
  } else {
    using M = PackMask<ScalarOf<P>, lanes_of<P>>;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const typename M::Vector bit{(typename M::Int(1) << I)...};
      return M{(bit & static_cast<typename M::Int>(b)) != 0};
    }
    (std::make_integer_sequence<int, lanes_of<P>>{});
  }
}

/// Four numbers S side by side, in one register where the instruction set of P has such.
template <class P, class S>
struct Quadruple {
#if defined(__AVX2__)
  static constexpr bool kRegister = true;
#else
  static constexpr bool kRegister = sizeof(S) == 4;
#endif
  struct Array {
    S e[4];
    OSIER_FN S& operator[](int i) { return e[i]; }
    OSIER_FN S operator[](int i) const { return e[i]; }
    OSIER_FN Array operator+(const Array& b) const { return {{e[0] + b.e[0], e[1] + b.e[1], e[2] + b.e[2], e[3] + b.e[3]}}; }
    OSIER_FN Array operator-(const Array& b) const { return {{e[0] - b.e[0], e[1] - b.e[1], e[2] - b.e[2], e[3] - b.e[3]}}; }
    OSIER_FN Array operator*(const Array& b) const { return {{e[0] * b.e[0], e[1] * b.e[1], e[2] * b.e[2], e[3] * b.e[3]}}; }
  };
  template <bool kIs, class = void>
  struct Choose {
    using type = Array;
  };
  template <class Void>
  struct Choose<true, Void> {
    using type = typename Vectors<S, 4>::Numbers;
  };
  using Vector = typename Choose<kRegister>::type;
  Vector v;

  OSIER_FN static Quadruple load(const S* p) {
    Quadruple r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  OSIER_FN void store(S* p) const { std::memcpy(p, &v, sizeof v); }
  OSIER_FN static Quadruple all(S s) { return {Vector{s, s, s, s}}; }
  OSIER_FN Quadruple operator+(const Quadruple& b) const { return {v + b.v}; }
  OSIER_FN Quadruple operator-(const Quadruple& b) const { return {v - b.v}; }
  OSIER_FN Quadruple operator*(const Quadruple& b) const { return {v * b.v}; }
};

template <class P>
OSIER_FN Quadruple<P, double> row(const Quatd& q) {
  return Quadruple<P, double>::load(&q.x);
}
/// The fourth number is 0; nothing is read beyond the third.
template <class P>
OSIER_FN Quadruple<P, double> row(const Vec3d& v) {
  using R = Quadruple<P, double>;
#if defined(__AVX512VL__)
  return {(typename R::Vector)_mm256_maskz_loadu_pd(7, &v.x)};
#elif defined(__AVX2__)
  return {(typename R::Vector)_mm256_maskload_pd(&v.x, _mm256_setr_epi64x(-1, -1, -1, 0))};
#else
  return {typename R::Vector{v.x, v.y, v.z, 0}};
#endif
}
template <class P>
OSIER_FN Quadruple<P, double> row(const PerAxis& v) {
  return row<P>(Vec3d{v.d1, v.d2, v.d3});
}
template <class P>
OSIER_FN void put_row(const Quadruple<P, double>& r, Quatd& q) {
  r.store(&q.x);
}
/// As two stores: a masked one of 32 bytes would hold up the next row's load until it is through.
template <class P>
OSIER_FN void put_row(const Quadruple<P, double>& r, Vec3d& v) {
#if defined(__AVX2__)
  _mm_storeu_pd(&v.x, _mm256_castpd256_pd128((__m256d)r.v));
  _mm_storel_pd(&v.z, _mm256_extractf128_pd((__m256d)r.v, 1));
#else
  v = {r.v[0], r.v[1], r.v[2]};
#endif
}
template <class To, class P, class From>
OSIER_FN Quadruple<P, To> cast_row(const Quadruple<P, From>& r) {
  if constexpr (std::is_same_v<To, From>) {
    return r;
  } else if constexpr (Quadruple<P, double>::kRegister) {
    return {__builtin_convertvector(r.v, typename Quadruple<P, To>::Vector)};
  } else {
    return {typename Quadruple<P, To>::Vector{static_cast<To>(r.v[0]), static_cast<To>(r.v[1]), static_cast<To>(r.v[2]),
                                              static_cast<To>(r.v[3])}};
  }
}

template <class P>
OSIER_FN bool is_finite(const Quadruple<P, double>& r) {
  const double sum = r.v[0] + r.v[1] + r.v[2] + r.v[3];
  return sum - sum == 0;
}

/// Four packs between rows and components. Register j holds the rows of lanes j, 4 + j, 8 + j, ...: inside every group of four
/// numbers a 4x4 matrix is to be transposed, which is its own inverse.
template <class P>
struct Transpose {
  using S = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static_assert(W >= 4);
  using V = typename P::Vector;

  /// The same four numbers of two registers in every group; beyond 3 they are of the second.
  template <int A, int B, int C, int D>
  OSIER_FN static V pick(V x, V y) {
    constexpr int from[4] = {A, B, C, D};
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return __builtin_shufflevector(x, y, (K / 4 * 4 + from[K % 4] % 4 + from[K % 4] / 4 * W)...);
    }
    (std::make_integer_sequence<int, W>{});
  }
  OSIER_FN static void apply(P (&r)[4]) {
    if constexpr (sizeof(S) == 4) {  // pairs that never leave 16 bytes
      const V a = pick<0, 4, 1, 5>(r[0].v, r[1].v), b = pick<2, 6, 3, 7>(r[0].v, r[1].v);
      const V c = pick<0, 4, 1, 5>(r[2].v, r[3].v), d = pick<2, 6, 3, 7>(r[2].v, r[3].v);
      r[0].v = pick<0, 1, 4, 5>(a, c), r[1].v = pick<2, 3, 6, 7>(a, c);
      r[2].v = pick<0, 1, 4, 5>(b, d), r[3].v = pick<2, 3, 6, 7>(b, d);
    } else {
      const V a = pick<0, 4, 2, 6>(r[0].v, r[1].v), b = pick<1, 5, 3, 7>(r[0].v, r[1].v);
      const V c = pick<0, 4, 2, 6>(r[2].v, r[3].v), d = pick<1, 5, 3, 7>(r[2].v, r[3].v);
      r[0].v = pick<0, 1, 4, 5>(a, c), r[1].v = pick<0, 1, 4, 5>(b, d);
      r[2].v = pick<2, 3, 6, 7>(a, c), r[3].v = pick<2, 3, 6, 7>(b, d);
    }
  }
  template <class RowOf>
  OSIER_FN static V join(const RowOf& row_of, int j) {
    if constexpr (W == 4) return (V)row_of(j).v;
#if defined(__AVX512F__)
    if constexpr (W == 16) {
      __m512 r = _mm512_castps128_ps512((__m128)row_of(j).v);
      r = _mm512_insertf32x4(r, (__m128)row_of(4 + j).v, 1);
      r = _mm512_insertf32x4(r, (__m128)row_of(8 + j).v, 2);
      return (V)_mm512_insertf32x4(r, (__m128)row_of(12 + j).v, 3);
    }
    if constexpr (W == 8 && sizeof(S) == 8)
      return (V)_mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)row_of(j).v), (__m256d)row_of(4 + j).v, 1);
#endif
#if defined(__AVX2__)
    if constexpr (W == 8 && sizeof(S) == 4)
      return (V)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)row_of(j).v), (__m128)row_of(4 + j).v, 1);
#endif
  }
  template <int G>
  OSIER_FN static Quadruple<P, S> part(const P& r) {
    using F = typename Quadruple<P, S>::Vector;
    if constexpr (W == 4) return {(F)r.v};
#if defined(__AVX512F__)
    if constexpr (W == 16) return {(F)_mm512_extractf32x4_ps((__m512)r.v, G)};
    if constexpr (W == 8 && sizeof(S) == 8) return {(F)_mm512_extractf64x4_pd((__m512d)r.v, G)};
#endif
#if defined(__AVX2__)
    if constexpr (W == 8 && sizeof(S) == 4) return {(F)_mm256_extractf128_ps((__m256)r.v, G)};
#endif
  }
};

/// out[c] has component c of every lane's row.
template <class P, class RowOf>
OSIER_FN void components_of_rows(const RowOf& row_of, P (&out)[4]) {
  if constexpr (lanes_of<P> >= 4) {
    for (int j = 0; j < 4; ++j) out[j].v = Transpose<P>::join(row_of, j);
    Transpose<P>::apply(out);
  } else {
    decltype(row_of(0)) rows[lanes_of<P>];
    for (int i = 0; i < lanes_of<P>; ++i) rows[i] = row_of(i);
    for (int c = 0; c < 4; ++c) out[c] = per_lane<P>([&](int i) { return rows[i].v[c]; });
  }
}
/// The other way: use(lane, row) for every lane.
template <class P, class Use>
OSIER_FN void rows_of_components(const P (&in)[4], const Use& use) {
  constexpr int W = lanes_of<P>;
  if constexpr (W >= 4) {
    P r[4] = {in[0], in[1], in[2], in[3]};
    Transpose<P>::apply(r);
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (use(K % (W / 4) * 4 + K / (W / 4), Transpose<P>::template part<K % (W / 4)>(r[K / (W / 4)])), ...);
    }
    (std::make_integer_sequence<int, W>{});
  } else {
    for (int i = 0; i < W; ++i)
      use(i, Quadruple<P, ScalarOf<P>>{{lane(in[0], i), lane(in[1], i), lane(in[2], i), lane(in[3], i)}});
  }
}

/// Quadruples anywhere: that of lane i begins at base + offset[i].
template <class P>
OSIER_FN void gather_quads(const ScalarOf<P>* base, const Index* offset, P (&out)[4]) {
  components_of_rows<P>([&](int i) { return Quadruple<P, ScalarOf<P>>::load(base + offset[i]); }, out);
}

/// A tile's own quadruples lie in the order of the registers above, so that they are moved whole: lane i is quadruple
/// place_of_lane(W, i).
OSIER_FN constexpr int place_of_lane(int lanes, int i) { return lanes < 4 ? i : i % 4 * (lanes / 4) + i / 4; }
template <class P>
OSIER_FN void load_quads(const ScalarOf<P>* base, P (&out)[4]) {
  if constexpr (lanes_of<P> >= 4) {
    for (int j = 0; j < 4; ++j) out[j] = load_lanes<P>(base + j * lanes_of<P>);
    Transpose<P>::apply(out);
  } else {
    components_of_rows<P>([&](int i) { return Quadruple<P, ScalarOf<P>>::load(base + 4 * i); }, out);
  }
}
template <class P>
OSIER_FN void store_quads(const P (&in)[4], ScalarOf<P>* base) {
  if constexpr (lanes_of<P> >= 4) {
    P r[4] = {in[0], in[1], in[2], in[3]};
    Transpose<P>::apply(r);
    for (int j = 0; j < 4; ++j) store_lanes(r[j], base + j * lanes_of<P>);
  } else {
    rows_of_components(in, [&](int i, const Quadruple<P, ScalarOf<P>>& r) { r.store(base + 4 * i); });
  }
}

/// The lanes of P in double: as many packs of registers of the same size as it takes.
template <class P>
struct InDouble {
  static constexpr int parts = sizeof(ScalarOf<P>) == 4 && lanes_of<P> > 1 ? 2 : 1;
  static constexpr int lanes = lanes_of<P> / parts;  ///< of each
  template <int N, class = void>
  struct Choose {
    using type = Pack<double, N>;
  };
  template <class Void>
  struct Choose<1, Void> {
    using type = double;
  };
  using type = typename Choose<lanes>::type;
};
template <class P>
OSIER_FN P narrow(const typename InDouble<P>::type (&part)[InDouble<P>::parts]) {
  if constexpr (InDouble<P>::parts == 1) {
    return static_cast<P>(part[0]);
  } else {
    using Half = typename Vectors<float, InDouble<P>::lanes>::Numbers;
    const Half low = __builtin_convertvector(part[0].v, Half), high = __builtin_convertvector(part[1].v, Half);
    return [&]<int... K>(std::integer_sequence<int, K...>) { return P(__builtin_shufflevector(low, high, K...)); }
    (std::make_integer_sequence<int, lanes_of<P>>{});
  }
}
template <class P>
OSIER_FN void widen(const P& x, typename InDouble<P>::type (&part)[InDouble<P>::parts]) {
  if constexpr (InDouble<P>::parts == 1) {
    part[0] = static_cast<typename InDouble<P>::type>(x);
  } else {
    constexpr int N = InDouble<P>::lanes;
    using Wide = typename Vectors<double, N>::Numbers;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      part[0].v = __builtin_convertvector(__builtin_shufflevector(x.v, x.v, K...), Wide);
      part[1].v = __builtin_convertvector(__builtin_shufflevector(x.v, x.v, (N + K)...), Wide);
    }
    (std::make_integer_sequence<int, N>{});
  }
}

/// From arrays of the state, which are double: element index_of(i) in lane i.
template <class P, class IndexOf>
OSIER_FN Vec3<P> gather(const Vec3d* a, const IndexOf& index_of) {
  P c[4];
  components_of_rows<P>([&](int i) { return cast_row<ScalarOf<P>>(row<P>(a[index_of(i)])); }, c);
  return {c[0], c[1], c[2]};
}
template <class P, class IndexOf>
OSIER_FN Quat<P> gather(const Quatd* a, const IndexOf& index_of) {
  P c[4];
  components_of_rows<P>([&](int i) { return cast_row<ScalarOf<P>>(row<P>(a[index_of(i)])); }, c);
  return {c[0], c[1], c[2], c[3]};
}
template <class P, class IndexOf>
OSIER_FN P gather(const double* a, const IndexOf& index_of) {
  return per_lane<P>([&](int i) { return static_cast<ScalarOf<P>>(a[index_of(i)]); });
}
template <class P, class IndexOf>
OSIER_FN Vec3<P> gather(const PerAxis* a, const IndexOf& index_of) {
  P c[4];
  components_of_rows<P>([&](int i) { return cast_row<ScalarOf<P>>(row<P>(a[index_of(i)])); }, c);
  return {c[0], c[1], c[2]};
}
/// a[to] - a[from], taken in double.
template <class P, class To, class From>
OSIER_FN Vec3<P> gather_difference(const Vec3d* a, const To& to, const From& from) {
  P c[4];
  components_of_rows<P>([&](int i) { return cast_row<ScalarOf<P>>(row<P>(a[to(i)]) - row<P>(a[from(i)])); }, c);
  return {c[0], c[1], c[2]};
}

}  // namespace osier
