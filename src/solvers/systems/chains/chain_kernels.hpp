// The direct solver's kernels for chains by instruction set.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/chains/chain_newton.hpp"

namespace osier::systems {

/// The functions of ChainStep, one for every law.
template <class T>
struct ChainKernel {
  using ScratchBytes = std::size_t (*)(Index rows);
  using Step = ChainOutcome (*)(const ChainGroup& group, const ChainGroup* next, const T* constants, bool damped,
                                const StepView& view, const ChainOptions& options, T* force, ChainOutlook& outlook,
                                void* scratch);
  int lanes;
  int forces_by_law[2];  ///< per law, how many numbers of the force through a link are kept
  ScratchBytes scratch_bytes_by_law[2];
  Step step_by_law[2];
  ScratchBytes scratch_bytes(StiffnessLaw law) const { return scratch_bytes_by_law[static_cast<int>(law)]; }
  int forces(StiffnessLaw law) const { return forces_by_law[static_cast<int>(law)]; }
  Step step(StiffnessLaw law) const { return step_by_law[static_cast<int>(law)]; }
};

/// The kernel of one instruction set.
template <class T, Simd S>
const ChainKernel<T>& chain_kernel_for();
/// `simd` must be available on this machine.
template <class T>
const ChainKernel<T>& chain_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const ChainKernel<T>& { return chain_kernel_for<T, S>(); });
}

}  // namespace osier::systems
