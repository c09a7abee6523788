// The kernels of conjugate gradients on blocks, by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/systems/blocks/block_plan.hpp"

namespace osier::systems {

/// See BlockStep.
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

/// `simd` must be available on this machine.
template <class T>
const BlockKernel<T>& block_kernel(Simd simd, bool isotropic);

/// Those of one instruction set, isotropic and not; each is instantiated in the file of its set (block_kernels_*.cpp) and nowhere
/// else.
template <class T, Simd S>
const BlockKernel<T>* block_kernels_for();

}  // namespace osier::systems
