// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/direct/forest_kernels_by_type.hpp"

namespace osier::direct {

template const ForestKernel<float>* forest_kernels_for<float, Simd::sse2>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::sse2>();

}  // namespace osier::direct
