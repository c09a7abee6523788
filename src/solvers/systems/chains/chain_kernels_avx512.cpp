// Kernels of 64 bytes: AVX-512.
#include "solvers/systems/chains/chain_kernels_by_type.hpp"

namespace osier::systems {

template const ChainKernel<float>& chain_kernel_for<float, Simd::avx512>();
template const ChainKernel<double>& chain_kernel_for<double, Simd::avx512>();

}  // namespace osier::systems
