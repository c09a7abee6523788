// N numbers side by side that behave like one: the number type of SIMD kernels. Lanes are strands, pieces of a chain or elements
// of one colour. Written with the compiler's vector types; intrinsics only where those have no word (roots, reciprocals, masks,
// transposes). Which width a file may use is decided by the flags it is compiled with (see exec/simd.hpp).
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "math/number.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace osier {

/// While it lives, numbers too small to be normal count as zero: the tails of decaying recursions are not worth the hundredfold
/// price that some machines ask for them.
class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
#endif
};

/// The compiler's vectors: N numbers, and N integers of the same size.
template <class S, int N>
struct Vectors;
// NOLINTBEGIN(bugprone-macro-parentheses): types have none
#define OSIER_VECTORS(S, I, N)                              \
  template <>                                               \
  struct Vectors<S, N> {                                    \
    typedef S Numbers [[gnu::vector_size(N * sizeof(S))]];  \
    typedef I Integers [[gnu::vector_size(N * sizeof(S))]]; \
    using Integer = I;                                      \
  };
// NOLINTEND(bugprone-macro-parentheses)
OSIER_VECTORS(float, std::int32_t, 2)
OSIER_VECTORS(float, std::int32_t, 4)
OSIER_VECTORS(float, std::int32_t, 8)
OSIER_VECTORS(float, std::int32_t, 16)
OSIER_VECTORS(double, std::int64_t, 2)
OSIER_VECTORS(double, std::int64_t, 4)
OSIER_VECTORS(double, std::int64_t, 8)
#undef OSIER_VECTORS

/// One truth value per lane.
template <class S, int N>
struct PackMask {
  using Int = typename Vectors<S, N>::Integer;
  using Vector = typename Vectors<S, N>::Integers;
  Vector m;
};

template <class S, int N>
struct Pack {
  using Vector = typename Vectors<S, N>::Numbers;
  Vector v;
  Pack() = default;
  template <class A>
  requires std::is_arithmetic_v<A> OSIER_FN explicit(!std::is_same_v<A, S>) Pack(A s)
      : v(broadcast(static_cast<S>(s), std::make_integer_sequence<int, N>{})) {}
  OSIER_FN explicit Pack(Vector x) : v(x) {}
  OSIER_FN static Pack load(const S* p) {
    Pack r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  OSIER_FN void store(S* p) const { std::memcpy(p, &v, sizeof v); }

 private:
  template <int... I>
  OSIER_FN static Vector broadcast(S s, std::integer_sequence<int, I...>) {
    return Vector{((void)I, s)...};
  }
};

template <class S, int N>
struct NumberTraits<Pack<S, N>> {
  using Scalar = S;
  using Mask = PackMask<S, N>;
  static constexpr int lanes = N;
};

// clang-format off
#define OSIER_PACK template <class S, int N> OSIER_FN
OSIER_PACK Pack<S, N> operator+(Pack<S, N> a, Pack<S, N> b) { return Pack<S, N>(a.v + b.v); }
OSIER_PACK Pack<S, N> operator-(Pack<S, N> a, Pack<S, N> b) { return Pack<S, N>(a.v - b.v); }
OSIER_PACK Pack<S, N> operator*(Pack<S, N> a, Pack<S, N> b) { return Pack<S, N>(a.v * b.v); }
OSIER_PACK Pack<S, N> operator/(Pack<S, N> a, Pack<S, N> b) { return Pack<S, N>(a.v / b.v); }
OSIER_PACK Pack<S, N> operator-(Pack<S, N> a) { return Pack<S, N>(-a.v); }
OSIER_PACK Pack<S, N>& operator+=(Pack<S, N>& a, Pack<S, N> b) { a.v += b.v; return a; }
OSIER_PACK Pack<S, N>& operator-=(Pack<S, N>& a, Pack<S, N> b) { a.v -= b.v; return a; }
OSIER_PACK PackMask<S, N> operator<(Pack<S, N> a, Pack<S, N> b) { return {a.v < b.v}; }
OSIER_PACK PackMask<S, N> operator>(Pack<S, N> a, Pack<S, N> b) { return {a.v > b.v}; }
OSIER_PACK PackMask<S, N> operator<=(Pack<S, N> a, Pack<S, N> b) { return {a.v <= b.v}; }
OSIER_PACK PackMask<S, N> operator>=(Pack<S, N> a, Pack<S, N> b) { return {a.v >= b.v}; }
OSIER_PACK PackMask<S, N> operator==(Pack<S, N> a, Pack<S, N> b) { return {a.v == b.v}; }
OSIER_PACK PackMask<S, N> operator&(PackMask<S, N> a, PackMask<S, N> b) { return {a.m & b.m}; }
OSIER_PACK PackMask<S, N> operator|(PackMask<S, N> a, PackMask<S, N> b) { return {a.m | b.m}; }
OSIER_PACK PackMask<S, N> operator!(PackMask<S, N> a) { return {~a.m}; }
OSIER_PACK PackMask<S, N>& operator|=(PackMask<S, N>& a, PackMask<S, N> b) { a.m |= b.m; return a; }
OSIER_PACK Pack<S, N> select(PackMask<S, N> m, Pack<S, N> a, Pack<S, N> b) { return Pack<S, N>(m.m ? a.v : b.v); }
OSIER_PACK Pack<S, N> abs(Pack<S, N> a) { return Pack<S, N>(a.v < 0 ? -a.v : a.v); }
OSIER_PACK S lane(const Pack<S, N>& a, int i) { return a.v[i]; }
OSIER_PACK void set_lane(Pack<S, N>& a, int i, S value) { a.v[i] = value; }
// clang-format on

/// Bit i: lane i is true.
OSIER_PACK unsigned bits(PackMask<S, N> m) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (N * sizeof(S) == 64 && sizeof(S) == 4) return _mm512_movepi32_mask((__m512i)m.m);
  if constexpr (N * sizeof(S) == 64 && sizeof(S) == 8) return _mm512_movepi64_mask((__m512i)m.m);
#endif
#if defined(__AVX2__)
  if constexpr (N * sizeof(S) == 32 && sizeof(S) == 4) return static_cast<unsigned>(_mm256_movemask_ps((__m256)m.m));
  if constexpr (N * sizeof(S) == 32 && sizeof(S) == 8) return static_cast<unsigned>(_mm256_movemask_pd((__m256d)m.m));
#endif
#if defined(__SSE2__)
  if constexpr (N * sizeof(S) == 16 && sizeof(S) == 4) return static_cast<unsigned>(_mm_movemask_ps((__m128)m.m));
  if constexpr (N * sizeof(S) == 16 && sizeof(S) == 8) return static_cast<unsigned>(_mm_movemask_pd((__m128d)m.m));
#endif
  unsigned b = 0;
  for (int i = 0; i < N; ++i) b |= (m.m[i] != 0 ? 1u : 0u) << i;
  return b;
}
OSIER_PACK bool any(PackMask<S, N> m) { return bits(m) != 0; }

OSIER_PACK Pack<S, N> sqrt(Pack<S, N> a) {
  using P = Pack<S, N>;
  using V = typename P::Vector;
#if defined(__AVX512F__)
  if constexpr (N * sizeof(S) == 64 && sizeof(S) == 4) return P((V)_mm512_sqrt_ps((__m512)a.v));
  if constexpr (N * sizeof(S) == 64 && sizeof(S) == 8) return P((V)_mm512_sqrt_pd((__m512d)a.v));
#endif
#if defined(__AVX2__)
  if constexpr (N * sizeof(S) == 32 && sizeof(S) == 4) return P((V)_mm256_sqrt_ps((__m256)a.v));
  if constexpr (N * sizeof(S) == 32 && sizeof(S) == 8) return P((V)_mm256_sqrt_pd((__m256d)a.v));
#endif
#if defined(__SSE2__)
  if constexpr (N * sizeof(S) == 16 && sizeof(S) == 4) return P((V)_mm_sqrt_ps((__m128)a.v));
  if constexpr (N * sizeof(S) == 16 && sizeof(S) == 8) return P((V)_mm_sqrt_pd((__m128d)a.v));
#endif
  P r;
  for (int i = 0; i < N; ++i) r.v[i] = std::sqrt(a.v[i]);
  return r;
}

/// Floats start from the machine's estimate and take one Newton step, which is what division costs in latency at a fraction of
/// its throughput.
OSIER_PACK Pack<S, N> inverse(Pack<S, N> a) {
  using P = Pack<S, N>;
  if constexpr (sizeof(S) == 4) {
    [[maybe_unused]] const auto polish = [&](P y) { return y * (P(2) - a * y); };
#if defined(__AVX512F__)
    if constexpr (N == 16) return polish(P((typename P::Vector)_mm512_rcp14_ps((__m512)a.v)));
#endif
#if defined(__AVX2__)
    if constexpr (N == 8) return polish(P((typename P::Vector)_mm256_rcp_ps((__m256)a.v)));
#endif
  }
  return P(1) / a;
}
OSIER_PACK Pack<S, N> inverse_sqrt(Pack<S, N> a) {
  using P = Pack<S, N>;
  if constexpr (sizeof(S) == 4) {
    [[maybe_unused]] const auto polish = [&](P y) { return y * (P(S(1.5)) - (P(S(0.5)) * a * y) * y); };
#if defined(__AVX512F__)
    if constexpr (N == 16) return polish(P((typename P::Vector)_mm512_rsqrt14_ps((__m512)a.v)));
#endif
#if defined(__AVX2__)
    if constexpr (N == 8) return polish(P((typename P::Vector)_mm256_rsqrt_ps((__m256)a.v)));
#endif
  }
  return P(1) / sqrt(a);
}

OSIER_PACK Pack<S, N> root(Pack<S, N> a) {
  using P = Pack<S, N>;
  if constexpr (sizeof(S) == 4 && N >= 8) return select(a > P(0), a * inverse_sqrt(a), P(0));
  return sqrt(a);
}

/// Lanes i -> i + 1 (the first keeps its value), and i -> i - 1 (the last keeps its value).
OSIER_PACK Pack<S, N> shifted_up(Pack<S, N> a) {
  Pack<S, N> r = a;
  for (int i = 1; i < N; ++i) r.v[i] = a.v[i - 1];
  return r;
}
OSIER_PACK Pack<S, N> shifted_down(Pack<S, N> a) {
  Pack<S, N> r = a;
  for (int i = 0; i + 1 < N; ++i) r.v[i] = a.v[i + 1];
  return r;
}
OSIER_FN float shifted_up(float a) { return a; }
OSIER_FN float shifted_down(float a) { return a; }
OSIER_FN double shifted_up(double a) { return a; }
OSIER_FN double shifted_down(double a) { return a; }

OSIER_PACK void store_lanes(Pack<S, N> a, S* p) { a.store(p); }
#undef OSIER_PACK

}  // namespace osier
