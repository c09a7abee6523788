// The kernels of the sweeps by instruction set.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/projective/rod_view.hpp"

namespace osier::projective {

template <class T>
struct RodKernel {
  int lanes;
  /// One step of a rod, or of a rod in each lane: first guess, global systems and all sweeps.
  void (*step)(const RodView<T>& rod, const RodGoal& goal, RodOutcome<T>& outcome);
  /// The first two of them, and one sweep: for steps in which rods may touch.
  void (*begin)(const RodView<T>& rod, const RodGoal& goal);
  void (*sweep)(const RodView<T>& rod, const RodGoal& goal, RodOutcome<T>& outcome);
};

/// The kernels of one instruction set.
template <class T, Simd S>
const RodKernel<T>& rod_kernel_for();
/// `simd` must be available on this machine.
template <class T>
const RodKernel<T>& rod_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const RodKernel<T>& { return rod_kernel_for<T, S>(); });
}

}  // namespace osier::projective
