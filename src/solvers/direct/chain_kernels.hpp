// The direct solver's kernels for chains by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/direct/chain_step.hpp"

namespace osier::direct {

/// See ChainStep; one of each for every law.
template <class T>
struct ChainKernel {
  using ScratchBytes = std::size_t (*)(Index rows);
  using Step = ChainOutcome (*)(const ChainGroup& group, const T* constants, bool damped, const StepView& view,
                                const ChainOptions& options, T* tension, void* scratch);
  int lanes;
  ScratchBytes scratch_bytes_by_law[2];
  Step step_by_law[2];
  ScratchBytes scratch_bytes(ChainLaw law) const { return scratch_bytes_by_law[static_cast<int>(law)]; }
  Step step(ChainLaw law) const { return step_by_law[static_cast<int>(law)]; }
};
template <class P>
constexpr ChainKernel<ScalarOf<P>> kChainKernel{
    lanes_of<P>,
    {&ChainStep<P, IsotropicLink>::scratch_bytes, &ChainStep<P, AnisotropicLink>::scratch_bytes},
    {&ChainStep<P, IsotropicLink>::step, &ChainStep<P, AnisotropicLink>::step}};

/// `simd` must be available on this machine.
template <class T>
const ChainKernel<T>& chain_kernel(Simd simd);

// One definition in each file of its instruction set.
extern const ChainKernel<float> kChainFloatOff, kChainFloatSse2, kChainFloatAvx2, kChainFloatAvx512;
extern const ChainKernel<double> kChainDoubleOff, kChainDoubleSse2, kChainDoubleAvx2, kChainDoubleAvx512;

}  // namespace osier::direct
