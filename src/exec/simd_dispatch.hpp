// From the instruction set that is wanted to the kernels that were compiled for it. Each family of kernels is one source,
// compiled once per instruction set (osier_kernels in CMakeLists.txt, exec/simd_target.hpp); no copy knows the others.
#pragma once

#include "exec/simd.hpp"

namespace osier {

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
