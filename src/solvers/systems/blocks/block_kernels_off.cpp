// Kernels of one number at a time.
#include "solvers/systems/blocks/block_kernels_by_type.hpp"

namespace osier::systems {

template const BlockKernel<float>* block_kernels_for<float, Simd::off>();
template const BlockKernel<double>* block_kernels_for<double, Simd::off>();

}  // namespace osier::systems
