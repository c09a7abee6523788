// What the compiler may use for loops over lanes. There is one build per machine family so far; kernels chosen at run time
// will answer here too.
#pragma once

namespace osier {

inline const char* simd_name() {
#if defined(__AVX512F__)
  return "avx512";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__SSE2__)
  return "sse2";
#elif defined(__ARM_NEON)
  return "neon";
#else
  return "none";
#endif
}

}  // namespace osier
