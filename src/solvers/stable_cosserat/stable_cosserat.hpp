// The method of "Stable Cosserat Rods" (SCR, 2025) with its viscous addendum (VSCR, 2026), on any graph.
// Settings here; the algorithm box is in solver.cpp, its sub-steps in position_update.hpp and orientation_update.hpp.
#pragma once

#include <memory>
#include <optional>

#include "solvers/solver.hpp"
#include "solvers/stable_cosserat/lambda.hpp"
#include "solvers/stable_cosserat/order.hpp"

namespace osier {
template <>
struct Choices<stable_cosserat::Lambda> {
  static constexpr std::array<const char*, 3> names{"approx", "exact", "secular"};
};
template <>
struct Choices<stable_cosserat::Order> {
  static constexpr std::array<const char*, 3> names{"gauss_seidel", "red_black", "jacobi"};
};
}  // namespace osier

namespace osier::stable_cosserat {

class Settings : public SolverSettings {
 public:
  int iteration_count = 4;
  std::optional<double> tolerance;
  std::optional<int> max_iterations;
  Lambda lambda = Lambda::secular;
  Order order = Order::red_black;

  static const char* kind() { return "stable_cosserat"; }
  static const char* help() {
    return "Stable Cosserat Rods with the viscous addendum: vertex block descent for positions, closed-form quaternions for "
           "orientations, a few sweeps per step. Dynamics only. The name without any setting stands for `automatic`, as it used "
           "to.";
  }
  template <class F>
  void fields(F& f) {
    f("iterations", iteration_count, "Sweeps per time step, unless `tolerance` is given", {.min = 1});
    f("tolerance", tolerance,
      "Instead of a fixed number: until the largest left-over force is below this fraction of the largest force at work",
      {.min = 0, .max = 1, .above_min = true});
    f("max_iterations", max_iterations,
      "Most sweeps per step when a tolerance decides; beyond, the step counts as not converged. 10000 when left out", {.min = 1});
    f("lambda", lambda,
      "How |q| = 1 is met: the paper's approximation (Eq. 22), its fixed point (Algorithm 1), or the exact secular root");
    f("order", order,
      "Sequential sweeps (on one thread); coloured sweeps (parallel, the same result for any thread count); or all at once");
    if (f.has("iterations") && f.has("tolerance")) f.problem("both `iterations` and `tolerance` are given", "keep one of them");
    if (f.has("max_iterations") && !f.has("tolerance"))
      f.problem("`max_iterations` without `tolerance`", "add `tolerance`, or use `iterations`");
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "stable_cosserat"; }
  SolverRole role() const override { return SolverRole::sweeps; }
  /// On a device: a fixed number of sweeps, of rods whose frames have no inertia, that touch nothing that moves but each other.
  Traits traits() const override {
    const bool here = !execution.elsewhere();
    return {.rotational_inertia = here,
            .rotary_damping = here,
            .contacts = true,
            .any_obstacle = here,
            .single_precision = true,
            .threads = true,
            .simd = here,
            .device = true};
  }
  bool works_to_tolerance() const override { return tolerance.has_value(); }
  void set_goal(const StepGoal& goal) override {
    iteration_count = goal.iterations.value_or(iteration_count);
    tolerance = goal.tolerance;
    max_iterations = goal.max_iterations;
  }
  Simd simd_on(const Model& model) const override;
  void check(const Model& model, bool driven, Problems& problems) const override;
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::optional<std::size_t> bytes(const Model& model, const Control&, double) const override { return sweep_bytes(model); }
  std::size_t sweep_bytes(const Model& model) const;
};

}  // namespace osier::stable_cosserat
