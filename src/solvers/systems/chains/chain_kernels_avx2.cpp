// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/systems/chains/chain_kernels_by_type.hpp"

namespace osier::systems {

template const ChainKernel<float>& chain_kernel_for<float, Simd::avx2>();
template const ChainKernel<double>& chain_kernel_for<double, Simd::avx2>();

}  // namespace osier::systems
