// The kernels of a step by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

struct FibreKernel {
  int lanes;
  /// The first mean velocity, of fibres that begin to move, and a step.
  void (*start)(const FibreView& fibre, const StepRule& rule);
  void (*step)(const FibreView& fibre, const StepRule& rule);
  /// Forces alone, which is most of what an explicit step would take.
  void (*forces)(const FibreView& fibre);
};

template <Simd S>
const FibreKernel& fibre_kernel_for();
}  // namespace osier::deti
