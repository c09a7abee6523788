// Kernels of 64 bytes: AVX-512.
#include "solvers/systems/blocks/block_kernels_by_type.hpp"

namespace osier::systems {

template const BlockKernel<float>* block_kernels_for<float, Simd::avx512>();
template const BlockKernel<double>* block_kernels_for<double, Simd::avx512>();

}  // namespace osier::systems
