// Steps of statics, and the equilibrium that dynamics may start from.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "sim/simulation_impl.hpp"

namespace osier {

StaticOptions Simulation::Impl::static_options(bool along_path) const {
  return {.tolerance = statics->tolerance,
          .max_iterations = statics->max_iterations,
          .along_path = along_path,
          .leave_unstable = !statics->along_path() && !statics->by_arc_length()};
}

/// Equilibrium at pseudo-time t, from the present state, which stays in last_good.
StaticReport Simulation::Impl::solve_at(double t, bool along_path) {
  set_moduli(t, *solver);
  prepare_step(t, ramp_at(t));
  last_good = state;
  return solver->solve_static(input(0), state, static_options(along_path));
}

PathReport Simulation::Impl::follow(const PathStep& step) {
  last_good = state;
  return solver->follow_path(model(), *this, state, static_options(true), step);
}

const Control& Simulation::Impl::at(double load) {
  const double t = load * statics->duration;
  set_moduli(t, *solver);
  prepare_control(t, ramp_at(t));
  return control;
}

void Simulation::Impl::put_back(const State& before, const State& now, double t) {
  state = before;
  prepare_control(t, ramp_at(t));
  last_good = before;
  state = now;
}

bool Simulation::Impl::goes_below_zero() const {
  return statics->ramp && std::none_of(setup->spec.constraints.begin(), setup->spec.constraints.end(), [&](const auto& c) {
           return c->motion.moves_places() || c->motion.orientation.given() || c->turn_between(0, statics->duration) > 0;
         });
}

StepReport Simulation::Impl::static_step() {
  if (path ? path->finished() : loop->finished()) return report;
  report = path ? path->step() : loop->step();
  if (loop && loop->finished()) return report;
  if (wants_reactions && own_balance) {
    reactions.take(*solver, model(), control, state);
  } else if (wants_reactions) {
    potential.begin(model(), control, last_good, 0);
    const StepReport kept = report;
    measure_balance();
    report = kept;
  }
  lead_loose(control, 0);
  timed_joints.follow(state);
  return report;
}

/// Statics under the loads and constraints of time 0, by the scene's solver or, where that has no statics, by the converging one.
void Simulation::Impl::start_in_equilibrium() {
  constexpr double kInstant = 1e-12;  // pseudo-time in which the loads grow: keyframes are read at 0
  StaticAnalysis analysis;
  analysis.duration = kInstant;
  const DynamicAnalysis* const then = std::exchange(dynamic, nullptr);
  statics = &analysis;
  loop.emplace(*this, analysis);
  loop->expect_jumps();
  std::unique_ptr<Solver> own;
  if (!setup->spec.solver->traits().statics) {
    own = std::exchange(solver, make_settings(solver_with(SolverRole::converging))->make(model()));
    solver->declare_memory(model(), state);
  }
  std::fill(state.vertex_velocity.begin(), state.vertex_velocity.end(), Vec3d{});
  std::fill(state.frame_velocity.begin(), state.frame_velocity.end(), Vec3d{});
  last_good = state;
  try {
    const int unstable = static_step().unstable_modes;
    const Traits traits = setup->spec.solver->traits();
    start_modes = traits.statics && !traits.leaves_unstable ? -1 : unstable;
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: no equilibrium to start from was found: {}", then->start->where, error.what()));
  }
  if (own) solver = std::move(own);
  loop.reset();
  statics = nullptr;
  dynamic = then;
  state.time = 0, state.step_index = 0;
  state.vertex_velocity = setup->initial.vertex_velocity;
  state.vertex_velocity_previous = setup->initial.vertex_velocity_previous;
  state.frame_velocity = setup->initial.frame_velocity;
  report = {};
  solver->rebind(model(), state);
}

}  // namespace osier
