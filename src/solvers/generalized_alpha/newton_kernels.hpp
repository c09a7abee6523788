// Newton's method for equal rods in SIMD lanes, by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/generalized_alpha/newton_view.hpp"

namespace osier::generalized_alpha {

/// Arrays of NewtonView in the order of each_input(), each_result(), dx and kept, number after number, all lanes of a number side
/// by side. Returns which lanes have arrived, as bits; `iterations`: of every lane.
struct LaneKernel {
  int lanes;
  unsigned (*iterate)(const NewtonRule& rule, double* const* arrays, const NewtonGoal& goal, int* iterations);
};

template <Simd S>
const LaneKernel& lane_kernel_for();

}  // namespace osier::generalized_alpha
