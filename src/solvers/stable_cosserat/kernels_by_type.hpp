// The table of kernels of one number type; included by the files of the instruction sets only.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/graph_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P>
constexpr Kernels<ScalarOf<P>> kKernels{.lanes = lanes_of<P>,
                                        .chain = {.scratch_bytes = &ChainSweep<P>::scratch_bytes, .step = &ChainSweep<P>::step},
                                        .graph = {.load_frames = &GraphSweep<P>::load_frames,
                                                  .load_segments = &GraphSweep<P>::load_segments,
                                                  .hold_frames = &GraphSweep<P>::hold_frames,
                                                  .load_vertices = &GraphSweep<P>::load_vertices,
                                                  .move_vertices = &GraphSweep<P>::move_vertices,
                                                  .turn_segments = &GraphSweep<P>::turn_segments,
                                                  .store_vertices = &GraphSweep<P>::store_vertices,
                                                  .store_segments = &GraphSweep<P>::store_segments}};

template <class T, Simd S>
const Kernels<T>& kernels_for() {
  return kKernels<NumberOf<T, S>>;
}

}  // namespace osier::stable_cosserat
