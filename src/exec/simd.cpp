#include "exec/simd.hpp"

#include "exec/simd_dispatch.hpp"

#ifndef OSIER_AUTO_AVX512
#define OSIER_AUTO_AVX512 1  // 0: sanitized builds, where those kernels are not instrumented
#endif

namespace osier {

bool simd_available(Simd simd) {
  if (simd != Simd::automatic && !simd_compiled(simd)) return false;
  switch (simd) {
    case Simd::automatic:
    case Simd::off:
    case Simd::sse2:  // the compiler's vectors of 16 bytes: SSE2 on x86-64, NEON on ARM
      return true;
#if defined(__x86_64__)
    case Simd::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Simd::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw");
#else
    default:
      return false;
#endif
  }
  return false;
}

Simd simd_resolved(Simd simd) {
  if (simd != Simd::automatic) return simd;
  if (OSIER_AUTO_AVX512 && simd_available(Simd::avx512)) return Simd::avx512;
  if (simd_available(Simd::avx2)) return Simd::avx2;
  return simd_available(Simd::sse2) ? Simd::sse2 : Simd::off;
}

const char* simd_name(Simd simd) { return Choices<Simd>::names[static_cast<std::size_t>(simd)]; }

}  // namespace osier
