#include "forces/wind_kernels.hpp"

namespace osier {

WindKernel wind_kernel(Simd simd) {
  switch (simd_resolved(simd)) {
#if defined(__x86_64__)
    case Simd::avx512:
      return kWindAvx512;
    case Simd::avx2:
      return kWindAvx2;
#endif
    case Simd::off:
      return kWindOff;
    default:
      return kWindSse2;
  }
}

}  // namespace osier
