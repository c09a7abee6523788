// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/systems/blocks/block_kernels.hpp"

#include "exec/simd_target.hpp"
#include "solvers/systems/blocks/block_step.hpp"

namespace osier::systems {

template <class Step>
constexpr BlockKernel<typename Step::T> kBlockKernel{
    Step::W, &Step::size, &Step::advance, &Step::forces, &Step::image_vertices, &Step::image_frames, &Step::move};

template <class P>
constexpr BlockKernel<ScalarOf<P>> kBlockKernels[2] = {kBlockKernel<BlockStep<P, true>>, kBlockKernel<BlockStep<P, false>>};

template <class T, Simd S>
const BlockKernel<T>* block_kernels_for() {
  return kBlockKernels<NumberOf<T, S>>;
}
template const BlockKernel<float>* block_kernels_for<float, kSimdTarget>();
template const BlockKernel<double>* block_kernels_for<double, kSimdTarget>();

}  // namespace osier::systems
