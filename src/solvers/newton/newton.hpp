// The oracle: the minimiser (solvers/minimiser.hpp) on a general sparse factor, for any graph. Plain, slow and exact.
#pragma once

#include <memory>

#include "solvers/solver.hpp"

namespace osier::newton {

class Settings : public SolverSettings {
 public:
  double tolerance = 1e-9;
  int max_iterations = 100;

  static const char* kind() { return "newton"; }
  static const char* help() {
    return "Sparse Newton (LDLᵀ, line search, shift when indefinite), in double: slow, exact, for any graph. Does dynamics by "
           "implicit Euler and `analysis: static`.";
  }
  template <class F>
  void fields(F& f) {
    f("tolerance", tolerance, "Largest left-over force per step, relative to the largest force at work",
      {.min = 1e-15, .max = 1});
    f("max_iterations", max_iterations, "Newton iterations per step before the step counts as not converged", {.min = 1});
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "newton"; }
  SolverRole role() const override { return SolverRole::reference; }
  bool works_to_tolerance() const override { return true; }
  Traits traits() const override { return {.statics = true, .single_directions = true, .springs = true}; }
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override;
};

}  // namespace osier::newton
