#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <>
const Kernels<float>& kernels(Simd simd) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return kFloatAvx512;
    case Simd::avx2:
      return kFloatAvx2;
#endif
    case Simd::off:
      return kFloatOff;
    default:
      return kFloatSse2;
  }
}

template <>
const Kernels<double>& kernels(Simd simd) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return kDoubleAvx512;
    case Simd::avx2:
      return kDoubleAvx2;
#endif
    case Simd::off:
      return kDoubleOff;
    default:
      return kDoubleSse2;
  }
}

}  // namespace osier::stable_cosserat
