// One source for all instruction sets: a file of kernels names its set, and with_simd goes to the file that is wanted. No file
// of kernels knows the others, and nothing else lists them.
#pragma once

#include "exec/pack.hpp"
#include "exec/simd.hpp"

namespace osier {

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

/// Calls f.operator()<S>() with the S that `simd` comes to, which must be available on this machine. Only those that this build
/// can have are instantiated.
template <class F>
decltype(auto) with_simd(Simd simd, const F& f) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return f.template operator()<Simd::avx512>();
    case Simd::avx2:
      return f.template operator()<Simd::avx2>();
#endif
    case Simd::off:
      return f.template operator()<Simd::off>();
    default:
      return f.template operator()<Simd::sse2>();
  }
}

}  // namespace osier
