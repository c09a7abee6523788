// From the instruction set that is wanted to the kernels that were compiled for it. Each family of kernels is one source,
// compiled once per instruction set (osier_kernels in CMakeLists.txt, exec/simd_target.hpp); no copy knows the others.
#pragma once

#include "exec/simd.hpp"

namespace osier {

/// Whether this build has its kernels. A build for one machine alone (OSIER_SIMD=native) has those of `off` and of its widest
/// set.
constexpr bool simd_compiled(Simd simd) {
#ifdef OSIER_ONLY_SIMD
  return simd == Simd::off || simd == Simd::OSIER_ONLY_SIMD;
#elif defined(__x86_64__)
  return simd != Simd::automatic;
#else
  return simd == Simd::off || simd == Simd::sse2;
#endif
}

/// Calls f.operator()<S>() with the S that `simd` comes to, which must be available on this machine. Only those that this build
/// has are instantiated.
template <class F>
decltype(auto) with_simd(Simd simd, const F& f) {
  const Simd set = simd_resolved(simd);
  if constexpr (simd_compiled(Simd::avx512))
    if (set == Simd::avx512) return f.template operator()<Simd::avx512>();
  if constexpr (simd_compiled(Simd::avx2))
    if (set == Simd::avx2) return f.template operator()<Simd::avx2>();
  if constexpr (simd_compiled(Simd::sse2))
    if (set == Simd::sse2) return f.template operator()<Simd::sse2>();
  return f.template operator()<Simd::off>();
}

}  // namespace osier
