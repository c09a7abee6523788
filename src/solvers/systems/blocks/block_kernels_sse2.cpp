// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/systems/blocks/block_kernels_by_type.hpp"

namespace osier::systems {

template const BlockKernel<float>* block_kernels_for<float, Simd::sse2>();
template const BlockKernel<double>* block_kernels_for<double, Simd::sse2>();

}  // namespace osier::systems
