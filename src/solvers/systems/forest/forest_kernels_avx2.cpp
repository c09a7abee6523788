// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/systems/forest/forest_kernels_by_type.hpp"

namespace osier::systems {

template const ForestKernel<float>* forest_kernels_for<float, Simd::avx2>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::avx2>();

}  // namespace osier::systems
