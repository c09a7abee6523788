// The solver `automatic`: chooses among the registered ones. It is what a scene gets that names no solver.
#pragma once

#include "solvers/solver.hpp"
#include "solvers/step_goal.hpp"

namespace osier::automatic {

class Settings : public SolverSettings {
 public:
  StepGoal goal;

  static const char* kind() { return "automatic"; }
  static const char* help() {
    return "Chooses the solver; `osier info` says which one and why. At present always `direct`, which does all that a scene can "
           "ask for.";
  }
  template <class F>
  void fields(F& f) {
    goal.fields(f);
  }

  std::unique_ptr<Solver> make(const Model& model) const override { return chosen()->make(model); }
  const char* name() const override { return "automatic"; }
  SolverRole role() const override { return SolverRole::automatic; }
  Traits traits() const override { return chosen()->traits(); }
  void set_goal(const StepGoal& wanted) override { goal = wanted; }
  bool works_to_tolerance() const override { return !goal.iterations; }
  Simd simd_on(const Model& model) const override { return chosen()->simd_on(model); }
  void check(const Model& model, bool driven, Problems& problems) const override { chosen()->check(model, driven, problems); }
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override {
    chosen()->warn(model, h, driven, warnings);
  }
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override {
    return chosen()->bytes(model, control, h);
  }

 private:
  /// The rule, with these settings.
  std::unique_ptr<SolverSettings> chosen() const;
};

}  // namespace osier::automatic
