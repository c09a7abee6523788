// Kernels of 64 bytes: AVX-512.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

template const Kernels<float>& kernels_for<float, Simd::avx512>();
template const Kernels<double>& kernels_for<double, Simd::avx512>();

}  // namespace osier::stable_cosserat
