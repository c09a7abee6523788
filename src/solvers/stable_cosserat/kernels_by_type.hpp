// All kernels of one number type.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/graph_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P, class I>
constexpr GraphKernel<ScalarOf<P>> kGraphKernel{.load_frames = &GraphSweep<P, I>::load_frames,
                                                .load_segments = &GraphSweep<P, I>::load_segments,
                                                .load_margins = &GraphSweep<P, I>::load_margins,
                                                .load_vertices = &GraphSweep<P, I>::load_vertices,
                                                .hold_frames = &GraphSweep<P, I>::hold_frames,
                                                .move_vertices = &GraphSweep<P, I>::move_vertices,
                                                .turn_segments = &GraphSweep<P, I>::turn_segments,
                                                .store_vertices = &GraphSweep<P, I>::store_vertices,
                                                .store_segments = &GraphSweep<P, I>::store_segments};

template <class P>
constexpr Kernels<ScalarOf<P>> kKernels{.lanes = lanes_of<P>,
                                        .chain = {.scratch_bytes = &ChainSweep<P>::scratch_bytes, .step = &ChainSweep<P>::step},
                                        .graph = kGraphKernel<P, Index>,
                                        .graph_narrow = kGraphKernel<P, std::uint16_t>};

template <class T, Simd S>
const Kernels<T>& kernels_for() {
  return kKernels<NumberOf<T, S>>;
}

}  // namespace osier::stable_cosserat
