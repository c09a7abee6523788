// Kernels of 64 bytes: AVX-512.
#include "solvers/systems/forest/forest_kernels_by_type.hpp"

namespace osier::systems {

template const ForestKernel<float>* forest_kernels_for<float, Simd::avx512>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::avx512>();

}  // namespace osier::systems
