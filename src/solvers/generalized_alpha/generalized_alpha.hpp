// The dynamic Cosserat equations as a boundary-value problem in space, by the generalized-alpha method in time: "Stable
// Integration of the Dynamic Cosserat Equations with Application to Hair Modeling" (Sobottka, Lay, Weber 2008; slides). Settings
// here; the equations are in box.hpp, the steps of one rod in rod.hpp, the conductor in solver.cpp. Not to be confused with the
// integrator of the same family in integration/integrator.hpp, which wraps the implicit Euler steps of other solvers.
#pragma once

#include <memory>
#include <optional>

#include "solvers/generalized_alpha/weights.hpp"
#include "solvers/solver.hpp"

namespace osier::generalized_alpha {

enum class Theory : std::uint8_t { cosserat, kirchhoff };

}  // namespace osier::generalized_alpha

namespace osier {
template <>
struct Choices<generalized_alpha::Theory> {
  static constexpr std::array<const char*, 2> names{"cosserat", "kirchhoff"};
};
}  // namespace osier

namespace osier::generalized_alpha {

class Settings : public SolverSettings {
 public:
  std::optional<double> rho_infinity, alpha, beta, gamma;
  Theory theory = Theory::cosserat;
  double tolerance = 1e-8;
  int max_iterations = 25;

  static const char* kind() { return "generalized_alpha"; }
  static const char* help() {
    return "The dynamic Cosserat equations of every rod as a boundary-value problem: velocities, angular velocities, curvatures "
           "and forces at its stations by a box scheme in space and the generalized-alpha method in time, solved together by "
           "Newton's method. For rods and rings without branches and without contact. It integrates in time by itself; the "
           "`integrator` generalized_alpha of /analysis is another thing, for the other solvers.";
  }
  template <class F>
  void fields(F& f) {
    f("rho_infinity", rho_infinity,
      "Share of the fastest oscillations that a step leaves over; 0.8 when left out. 0.5 is robust, 1 keeps the energy of a rod "
      "without loads to the last digits and does not damp at all",
      {.min = 0, .max = 1});
    f("alpha", alpha, "Instead of `rho_infinity`, together with `beta` and `gamma`: weight of the old rates",
      {.min = -1, .max = 0.5});
    f("beta", beta, "Weight of the old state", {.min = 0, .max = 0.5});
    f("gamma", gamma, "Weight of the new rate in the growth of the state", {.min = 0.5, .max = 1});
    f("theory", theory,
      "`cosserat`: rods that stretch and shear as their material does. `kirchhoff`: rods that do neither, exactly");
    f("tolerance", tolerance,
      "Newton's method ends when a correction is below this: displacement over the length of the rod, angle, curvature and force "
      "relative to the largest",
      {.min = 1e-14, .max = 1e-2});
    f("max_iterations", max_iterations,
      "Most iterations per step; where they do not suffice, the step is divided, in up to 64 parts", {.min = 1, .max = 1e6});
    const int weights = (f.has("alpha") ? 1 : 0) + (f.has("beta") ? 1 : 0) + (f.has("gamma") ? 1 : 0);
    if (weights > 0 && f.has("rho_infinity")) f.problem("`rho_infinity` comes together with weights", "keep one of them");
    if (weights == 1 || weights == 2) f.problem("`alpha`, `beta` and `gamma` go together", "give all three, or `rho_infinity`");
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "generalized_alpha"; }
  Traits traits() const override;
  bool works_to_tolerance() const override { return true; }
  std::optional<double> own_rho() const override;
  void set_goal(const StepGoal& goal) override;
  void check(const Model& model, bool driven, Problems& problems) const override;
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override;

  Weights weights() const;
};

}  // namespace osier::generalized_alpha
