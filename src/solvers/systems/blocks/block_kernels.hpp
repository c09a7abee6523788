// The kernels of conjugate gradients on blocks, by instruction set.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/blocks/block_plan.hpp"

namespace osier::systems {

/// The functions of BlockStep.
template <class T>
struct BlockKernel {
  using Tiles = void (*)(const BlockView<T>&, int begin, int end);
  using ScaledTiles = void (*)(const BlockView<T>&, T, int begin, int end);
  using SummedTiles = double (*)(const BlockView<T>&, int begin, int end);
  using Move = double (*)(const BlockView<T>&, T, int begin, int end, double& most2);
  int lanes;
  SummedTiles size;
  ScaledTiles advance;
  Tiles forces;
  SummedTiles image_vertices, image_frames;
  Move move;
};

/// The kernels of one instruction set, isotropic and not.
template <class T, Simd S>
const BlockKernel<T>* block_kernels_for();
/// `simd` must be available on this machine.
template <class T>
const BlockKernel<T>& block_kernel(Simd simd, bool isotropic) {
  return with_simd(simd, [&]<Simd S>() -> const BlockKernel<T>& { return block_kernels_for<T, S>()[isotropic ? 0 : 1]; });
}

}  // namespace osier::systems
