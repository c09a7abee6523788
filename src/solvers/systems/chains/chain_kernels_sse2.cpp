// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/systems/chains/chain_kernels_by_type.hpp"

namespace osier::systems {

template const ChainKernel<float>& chain_kernel_for<float, Simd::sse2>();
template const ChainKernel<double>& chain_kernel_for<double, Simd::sse2>();

}  // namespace osier::systems
