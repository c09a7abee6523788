// The solver `direct`: coupled Gauss-Newton steps of the same energy as the sweeps of stable_cosserat. Settings here;
// split_solver.hpp says which parts of a model are solved in which way.
#pragma once

#include "solvers/driver_options.hpp"
#include "solvers/solver.hpp"
#include "solvers/step_goal.hpp"

namespace osier::direct {

class Settings : public SolverSettings {
 public:
  StepGoal goal;

  static const char* kind() { return "direct"; }
  static const char* help() {
    return "Coupled Gauss–Newton steps, each solved in one pass along the rods, or by conjugate gradients where rods form many "
           "loops: converges in a few iterations however stiff the rods are. Does dynamics by implicit Euler and `analysis: "
           "static`.";
  }
  template <class F>
  void fields(F& f) {
    goal.fields(f);
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "direct"; }
  SolverRole role() const override { return SolverRole::converging; }
  /// On a device: steps in time of single rods.
  Traits traits() const override {
    const bool here = !execution.elsewhere();
    return {.statics = here,
            .loops = here,
            .hinges = here,
            .rotational_inertia = here,
            .torques = here,
            .rotary_damping = here,
            .branches = here,
            .cables = here,
            .inner_pins = true,
            .fracture = here,
            .single_directions = here,
            .springs = here,
            .contacts = here,
            .single_precision = true,
            .threads = true,
            .simd = here,
            .device = true};
  }
  void check(const Model& model, bool driven, Problems& problems) const override;
  Simd simd_on(const Model&) const override { return execution.elsewhere() ? Simd::off : execution.simd; }
  void set_goal(const StepGoal& wanted) override { goal = wanted; }
  bool works_to_tolerance() const override { return !goal.iterations; }
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override;

 private:
  systems::Options options() const;
};

}  // namespace osier::direct
