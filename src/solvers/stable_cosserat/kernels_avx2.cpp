// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

template const Kernels<float>& kernels_for<float, Simd::avx2>();
template const Kernels<double>& kernels_for<double, Simd::avx2>();

}  // namespace osier::stable_cosserat
