// Steps that a solver takes by itself, without the host.
#include <chrono>
#include <fmt/format.h>
#include <numbers>

#include "sim/simulation_impl.hpp"

namespace osier {

/// What of the scene a script cannot tell, or needs to be looked at after every step.
std::string Simulation::Impl::why_no_run_ahead() {
  if (!dynamic) return "statics has no steps in time";
  if (!solver->runner()) return "the solver brings its state back after every step";
  if (!integrator->is_implicit_euler()) return "the integrator combines steps on the host";
  if (contacts.active() && !solver->runner()->lets_rods_touch()) return "contact is looked for in every step";
  if (certifier) return "every step is certified";
  if (breakable || joints_break) return "what breaks is looked for after every step";
  if (!setup->timed_joints.empty()) return "welds and joints close or open in time";
  if (wants_reactions) return "reactions are measured in every step";
  if (pull.vertex >= 0) return "a vertex is being pulled";
  if (was_changed()) return "poses, motors or values were set at run time";
  if (!moduli.empty()) return "moduli change in time";
  StepLoads loads;
  for (std::size_t i = 0; i < acts.size(); ++i)
    if (acts[i] && !setup->spec.forces[i]->tell(0, loads))
      return setup->spec.forces[i]->where + " is worked out on the host in every step";
  if (holds) return "";
  auto all = std::make_shared<ScriptHolds>();
  for (const auto& a : setup->spec.constraints) {
    if (a->release) return a->where + " lets go at a time";
    if (a->yields() || !a->tell(all->movers++, all->vertices, all->frames))
      return a->where + " is worked out on the host in every step";
  }
  holds = std::move(all);
  return "";
}

StepScript Simulation::Impl::write_script(int steps) const {
  StepScript script{.h = dynamic->time_step(), .loads = {}, .winds = {}, .movers = {}, .holds = holds};
  for (int n = 1; n <= steps; ++n) {
    const double t = static_cast<double>(state.step_index + n) * script.h;
    StepLoads loads;
    for (std::size_t i = 0; i < acts.size(); ++i)
      if (acts[i]) setup->spec.forces[i]->tell(t, loads);
    script.loads.push_back(loads.field);
    script.winds.insert(script.winds.end(), loads.winds.begin(), loads.winds.end());
    for (const auto& constraint : setup->spec.constraints) script.movers.push_back(constraint->mover(t));
  }
  return script;
}

int Simulation::Impl::run_ahead(int count) {
  if (count < 1 || !why_no_run_ahead().empty()) return 0;
  // Steps in which something turns far are divided, by step().
  constexpr double kFarthest = 0.5 * std::numbers::pi;
  const double h = dynamic->time_step();
  const auto time_of = [&](int n) { return static_cast<double>(state.step_index + n) * h; };
  int steps = 0;
  while (steps < count && turn_between(time_of(steps), time_of(steps + 1)) <= kFarthest) ++steps;
  if (steps == 0) return 0;
  ScriptRunner& runner = *solver->runner();
  if (!runner_knows) runner.put(state, contacts);
  runner_knows = is_ahead = true;
  report = runner.run(write_script(steps));
  state.time = time_of(steps);
  state.step_index += steps;
  if (report.non_finite) {
    catch_up();
    throw NonFiniteError(
        fmt::format("in the {} steps up to {}, t = {:.6g} s, something is not finite any more; no state in between "
                    "is kept. Use a smaller step or check stiffness, mass and loads.",
                    steps, state.step_index, state.time));
  }
  return steps;
}

void Simulation::Impl::catch_up() {
  if (!is_ahead) return;
  is_ahead = false;
  solver->runner()->get(state);
}

std::string Simulation::why_no_run_ahead() const { return impl_->why_no_run_ahead(); }

int Simulation::run_ahead(int count) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const int taken = impl_->run_ahead(count);
  if (taken > 0) impl_->report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return taken;
}

}  // namespace osier
