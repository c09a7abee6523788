#include "solvers/automatic/automatic.hpp"

namespace osier::automatic {

/// Solving to convergence, always: dynamics and statics, every feature. On every recorded scene that takes less time than sweeps
/// to the same error (docs/adr/0016-auto.md). A solver that is better at some scenes has its condition here.
std::unique_ptr<SolverSettings> Settings::chosen() const {
  std::unique_ptr<SolverSettings> solver = make_settings(solver_with(SolverRole::converging));
  solver->execution = execution;
  solver->set_goal(goal);
  return solver;
}

SolverPlan Settings::plan(const Model& model, const Control& control, double h) const {
  SolverPlan plan = chosen()->plan(model, control, h);
  plan.why = (h == 0 ? "the solver for statics: " : "converges in a few iterations, however stiff the rods: ") + plan.why;
  return plan;
}

}  // namespace osier::automatic
