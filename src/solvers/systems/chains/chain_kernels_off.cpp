// Kernels of one number at a time.
#include "solvers/systems/chains/chain_kernels_by_type.hpp"

namespace osier::systems {

template const ChainKernel<float>& chain_kernel_for<float, Simd::off>();
template const ChainKernel<double>& chain_kernel_for<double, Simd::off>();

}  // namespace osier::systems
