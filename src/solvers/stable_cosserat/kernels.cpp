// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/stable_cosserat/kernels.hpp"

#include "exec/simd_target.hpp"
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/graph_sweep.hpp"

namespace osier::stable_cosserat {

template <class Sweep>
constexpr ChainKernel<typename Sweep::T> kChainKernel{.scratch_bytes = &Sweep::scratch_bytes, .step = &Sweep::step};

template <class Sweep>
constexpr GraphKernel<typename Sweep::T> kGraphKernel{.load_frames = &Sweep::load_frames,
                                                      .load_segments = &Sweep::load_segments,
                                                      .load_margins = &Sweep::load_margins,
                                                      .load_vertices = &Sweep::load_vertices,
                                                      .hold_frames = &Sweep::hold_frames,
                                                      .move_vertices = &Sweep::move_vertices,
                                                      .turn_segments = &Sweep::turn_segments,
                                                      .store_vertices = &Sweep::store_vertices,
                                                      .store_segments = &Sweep::store_segments};

template <class P, class Law>
constexpr GraphKernels<ScalarOf<P>> kGraphKernels{
    {kGraphKernel<GraphSweep<P, Index, Law>>, kGraphKernel<GraphSweep<P, std::uint16_t, Law>>}};

template <class P>
constexpr Kernels<ScalarOf<P>> kKernels{
    .lanes = lanes_of<P>,
    .chain = {kChainKernel<ChainSweep<P, ClosedFormLaw<P>>>, kChainKernel<ChainSweep<P, AxesLaw<P>>>},
    .graph = {kGraphKernels<P, ClosedFormLaw<P>>, kGraphKernels<P, AxesLaw<P>>}};

template <class T, Simd S>
const Kernels<T>& kernels_for() {
  return kKernels<NumberOf<T, S>>;
}
template const Kernels<float>& kernels_for<float, kSimdTarget>();
template const Kernels<double>& kernels_for<double, kSimdTarget>();

}  // namespace osier::stable_cosserat
