// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/systems/blocks/block_kernels_by_type.hpp"

namespace osier::systems {

template const BlockKernel<float>* block_kernels_for<float, Simd::avx2>();
template const BlockKernel<double>* block_kernels_for<double, Simd::avx2>();

}  // namespace osier::systems
