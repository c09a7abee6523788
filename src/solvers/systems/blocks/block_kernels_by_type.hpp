// The kernels of one number type; included by the files of the instruction sets only.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/blocks/block_kernels.hpp"
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

}  // namespace osier::systems
