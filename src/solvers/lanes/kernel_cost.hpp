// The cost of kernels by instruction set, for choosing between methods. Measured on one core of a 2.6 GHz Zen 4. Only ratios
// matter, which are similar on other machines.
#pragma once

#include "exec/simd.hpp"

namespace osier {

/// Nanoseconds per element and iteration.
struct KernelCost {
  double off, sse2, avx2, avx512;
  double of(Simd simd) const {
    switch (simd_resolved(simd)) {
      case Simd::avx512:
        return avx512;
      case Simd::avx2:
        return avx2;
      case Simd::sse2:
        return sse2;
      default:
        return off;
    }
  }
};

}  // namespace osier
