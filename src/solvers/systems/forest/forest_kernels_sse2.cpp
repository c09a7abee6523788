// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/systems/forest/forest_kernels_by_type.hpp"

namespace osier::systems {

template const ForestKernel<float>* forest_kernels_for<float, Simd::sse2>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::sse2>();

}  // namespace osier::systems
