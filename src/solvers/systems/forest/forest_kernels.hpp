// The direct solver's kernels for trees in lanes, by instruction set.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/forest/forest_step.hpp"

namespace osier::systems {

/// The functions of ForestStep.
template <class T>
struct ForestKernel {
  using Rows = void (*)(const ForestView<T>&, const StepView&, int first, int last);
  using CountedRows = void (*)(const ForestView<T>&, const StepView&, int first, int last, ForestTotals&);
  int lanes;
  std::size_t row_bytes, tie_bytes;
  Rows load, load_ties, store;
  CountedRows bend_ties, up, down;
  double (*free_motion2)(const ForestView<T>&, int first, int last);
};

/// The kernels of one instruction set, by law.
template <class T, Simd S>
const ForestKernel<T>* forest_kernels_for();
/// `simd` must be available on this machine.
template <class T>
const ForestKernel<T>& forest_kernel(Simd simd, StiffnessLaw law) {
  return with_simd(simd, [&]<Simd S>() -> const ForestKernel<T>& { return forest_kernels_for<T, S>()[static_cast<int>(law)]; });
}

}  // namespace osier::systems
