#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

template <>
const ChainKernel<float>& chain_kernel(Simd simd) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return kChainFloatAvx512;
    case Simd::avx2:
      return kChainFloatAvx2;
#endif
    case Simd::off:
      return kChainFloatOff;
    default:
      return kChainFloatSse2;
  }
}

template <>
const ChainKernel<double>& chain_kernel(Simd simd) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return kChainDoubleAvx512;
    case Simd::avx2:
      return kChainDoubleAvx2;
#endif
    case Simd::off:
      return kChainDoubleOff;
    default:
      return kChainDoubleSse2;
  }
}

}  // namespace osier::direct
