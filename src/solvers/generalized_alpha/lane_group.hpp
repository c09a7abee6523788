// Equal rods side by side: as many as a SIMD register has lanes take a step together. They have the same number of cells, are
// held in the same way and have the same history; materials, sizes, shapes and loads may differ.
#pragma once

#include <span>
#include <vector>

#include "solvers/generalized_alpha/rod.hpp"

namespace osier::generalized_alpha {

class LaneGroup {
 public:
  explicit LaneGroup(Simd simd) : kernel_(&lane_kernel_by(simd)) {}
  int lanes() const { return kernel_->lanes; }

  /// Solves the steps that the steppers have begun, whose rules are the same. Fewer rods than lanes: the first one again in the
  /// rest. Which of them have arrived, as bits; `iterations`: of every rod.
  unsigned solve(std::span<RodStepper*> rods, const NewtonGoal& goal, std::span<int> iterations);

 private:
  template <class S>
  static constexpr std::size_t numbers_of() {
    return sizeof(S) / sizeof(double);
  }
  void reserve(NewtonView<double>& view);
  void put(NewtonView<double>& view, std::size_t lane);
  void take(NewtonView<double>& view, std::size_t lane) const;

  const LaneKernel* kernel_;
  std::vector<AlignedArray<double>> arrays_;
  std::vector<double*> pointers_;
};

/// Whether rods with these rules may take a step side by side.
bool step_together(const NewtonRule& a, const NewtonRule& b);

}  // namespace osier::generalized_alpha
