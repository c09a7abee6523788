// For sources of kernels, which the build compiles once per instruction set: which set this copy is for, and its numbers.
#pragma once

#include "exec/pack.hpp"
#include "exec/simd.hpp"

#ifndef OSIER_SIMD_TARGET
#error "name this source in OSIER_KERNELS in CMakeLists.txt, which compiles it once per instruction set"
#endif

namespace osier {

/// off: one number at a time. sse2: 16 bytes, SSE2 or NEON. avx2: 32 bytes, AVX2 and FMA. avx512: 64 bytes.
inline constexpr Simd kSimdTarget = Simd::OSIER_SIMD_TARGET;

/// The number type of kernels for one instruction set: T itself, or as many T as fit into its registers.
template <class T, Simd S>
struct SimdNumber {
  static_assert(S != Simd::automatic, "resolve it first");
  static constexpr int bytes = S == Simd::avx512 ? 64 : S == Simd::avx2 ? 32 : 16;
  using Type = Pack<T, bytes / static_cast<int>(sizeof(T))>;
};
template <class T>
struct SimdNumber<T, Simd::off> {
  using Type = T;
};
template <class T, Simd S>
using NumberOf = typename SimdNumber<T, S>::Type;

}  // namespace osier
