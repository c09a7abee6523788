// Steps in time: an attempt, and what is done where it fails.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "sim/simulation_impl.hpp"

namespace osier {

void Simulation::Impl::throw_non_finite(const StepReport& r) {
  const std::string what = r.worst_vertex >= 0 ? fmt::format("the position of vertex {}", r.worst_vertex)
                                               : fmt::format("the frame of segment {}", r.worst_segment);
  roll_back();
  solver->rebind(model(), state);
  throw NonFiniteError(
      fmt::format("step {}, t = {:.6g} s: {} is not finite; the last good state is kept. Use a smaller step or check "
                  "stiffness, mass and loads there.",
                  state.step_index + 1, state.time, what));
}

/// What is left of the equations of the step for which the potential was begun.
void Simulation::Impl::measure_balance() {
  const State& start = potential.start();
  balance.measure(potential, start, state);
  balance.add(touched);
  report.residual = potential.residual(balance.force, balance.couple).value;
  // What rounding leaves of forces is no force: rods at rest.
  const double rounding = (setup->spec.execution.in_float() ? kFloatRounding : 1) * balance.rounding;
  const bool nothing = report.residual <= rounding || balance.scale == 0;
  report.residual_relative = nothing ? 0 : report.residual / balance.scale;
  if (wants_reactions) reactions.measure(potential, balance, start, state, motor_torque);
}

/// A step of one solver, of length h, from the present state to time t. The state before is in last_good.
StepReport Simulation::Impl::attempt(Solver& with, double t, double h, bool measure, bool damped) {
  const double from = state.time;
  set_moduli(t, with);
  integrator->begin(model(), state, h, damped);
  prepare_step(integrator->stage_share() == 1 ? t : from + integrator->stage_share() * h, 1);
  keep_state();
  integrator->prepare(model(), state, control);
  pull.apply(state, integrator->stage_length(), control);
  measure = (measure || wants_reactions || certifier) && !own_balance;
  if (measure) reference = state;
  if (certifier) certifier->begin(model(), state);
  contacts.set_step(from, t);
  report = with.step(input(integrator->stage_length()), state);
  if (report.non_finite) return report;
  if (measure) {
    const auto before = std::chrono::steady_clock::now();
    potential.begin(model(), control, reference, integrator->stage_length());
    measure_balance();
    measuring_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  }
  if (wants_reactions && own_balance) reactions.take(with, model(), control, state);
  if (wants_reactions) velocity_at_stage = state.vertex_velocity;
  if (energy_watch) stage = state;
  if (!integrator->is_implicit_euler()) {
    fit(holds_at_end);
    std::fill(holds_at_end.vertex_fixed.begin(), holds_at_end.vertex_fixed.end(), std::uint8_t{0});
    std::fill(holds_at_end.frame_control.begin(), holds_at_end.frame_control.end(), FrameControl::free);
    hold(t, holds_at_end);
    integrator->finish(model(), holds_at_end, last_good, state);
    if (wants_reactions) reactions.correct_inertia(potential, reference, velocity_at_stage, last_good, state, h);
  }
  lead_loose(integrator->is_implicit_euler() ? control : holds_at_end, h);
  timed_joints.follow(state);
  state.time = t;
  if (certifier && own_balance) certifier->end_of_motion(state);
  else if (certifier) certifier->end(potential, balance, state, report);
  if (energy_watch && !damped) damp(report, with, t, h, measure);
  return report;
}

/// Takes a step of the midpoint rule that makes energy once more, by implicit Euler.
void Simulation::Impl::damp(StepReport& taken, Solver& with, double t, double h, bool measure) {
  if (taken.not_converged) return;
  if (integrator->stage_share() == 1) return energy_watch->count_damped(model(), control, last_good, state);
  if (energy_watch->allows(model(), control, last_good, stage, state)) return;
  const int iterations = taken.iterations;
  roll_back();
  with.rebind(model(), state);
  taken = attempt(with, t, h, measure, true);
  taken.iterations += iterations;
  ++steps_damped;
  if (!taken.non_finite) energy_watch->count_damped(model(), control, last_good, state);
}

void Simulation::Impl::accept() {
  if (!certifier) return;
  const std::string wrong = certifier->accept(state);
  if (wrong.empty()) return;
  const double t = state.time;
  roll_back();
  solver->rebind(model(), state);
  throw CertificateError(
      fmt::format("certificate, step {}, t = {:.6g} s: {}; the state before it is kept", state.step_index + 1, t, wrong));
}

/// What may take a step in which the solver of the scene fails: the converging one in double, where that is another, and the
/// reference.
std::vector<std::unique_ptr<Solver>> Simulation::Impl::make_helpers() const {
  std::vector<std::unique_ptr<Solver>> list;
  const auto add = [&](SolverRole role) {
    const auto settings = make_settings(solver_with(role));
    if (!contacts.active() || settings->traits().contacts) list.push_back(settings->make(model()));
  };
  if (setup->spec.execution.in_float()) add(SolverRole::converging);
  add(SolverRole::reference);
  return list;
}

/// From the present state to time t, h later, in one step, or, where the solver may be helped, by another one, or in
/// halves.
StepReport Simulation::Impl::advance(double t, double h, bool measure, int halvings) {
  const auto failed = [](const StepReport& r) { return r.non_finite || r.not_converged; };
  const auto back = [&] {
    roll_back();
    solver->rebind(model(), state);
  };
  StepReport taken = attempt(*solver, t, h, measure);
  if (!falls_back || !failed(taken) || (help_waits > 0 && !taken.non_finite) || is_driven_for_nothing()) {
    if (!taken.non_finite) accept();
    return taken;
  }
  const StepReport own = taken;  // it says best where the trouble began
  int iterations = taken.iterations;
  if (helpers.empty()) helpers = make_helpers();
  for (const auto& helper : helpers) {
    back();
    helper->rebind(model(), state);
    taken = attempt(*helper, t, h, measure);
    iterations += taken.iterations;
    if (!failed(taken)) break;
  }
  solver->rebind(model(), state);
  if (!failed(taken)) {
    helped = std::max(helped, Help::other_solver);
    accept();
  } else if (halvings > 0) {
    back();
    const double middle = t - 0.5 * h;
    const StepReport first = advance(middle, 0.5 * h, false, halvings - 1);
    if (first.non_finite) return first;
    taken = advance(t, 0.5 * h, measure, halvings - 1);
    taken.not_converged = taken.not_converged || first.not_converged;
    taken.held_back = taken.held_back || first.held_back;
    iterations += first.iterations + taken.iterations;
    helped = Help::smaller_steps;
  } else if (!taken.non_finite) {
    accept();
  }
  if (taken.non_finite && own.non_finite) taken = own;
  taken.iterations = iterations;
  return taken;
}

/// Some torque acts now, and the scene has one that nothing resists: steps need not converge.
bool Simulation::Impl::is_driven_for_nothing() const { return !setup->unresisted.empty() && control.has_torque; }

/// Such a run ends where a step fails, or leaves forces that no motion balances, instead of dividing every step in vain.
void Simulation::Impl::stop_if_driven_for_nothing(double t) {
  const bool failed = report.non_finite || report.not_converged || report.residual_relative > RunStats::kUnsolved;
  if (!failed || !is_driven_for_nothing()) return;
  roll_back();
  solver->rebind(model(), state);
  throw RunError(fmt::format("step {}, t = {:.6g} s, has no solution: {}", state.step_index + 1, t, setup->unresisted.front()));
}

/// Where neither other solvers nor smaller steps helped, they are tried again only after some steps, and after twice as many
/// each time: a step that they do not help costs as much as hundreds of others.
void Simulation::Impl::wait_for_help() {
  constexpr int kLongestWait = 10;
  if (help_waits > 0) {
    --help_waits;
  } else if (report.not_converged && helped == Help::smaller_steps) {
    help_in_vain = std::min(help_in_vain + 1, kLongestWait);
    help_waits = 1 << help_in_vain;
  } else {
    help_in_vain = 0;
  }
}

StepReport Simulation::Impl::dynamic_step(bool measure) {
  constexpr int kMostHalvings = 4;
  constexpr double kMostParts = 10000;
  release(state.time);
  helped = Help::none;
  // Counting steps instead of adding h keeps key times exact over long runs.
  const double h = dynamic->time_step(), t = static_cast<double>(state.step_index + 1) * h;
  // Where something turns far within the step, its frames at the end alone would not tell which way it went.
  constexpr double kFarthest = 0.5 * std::numbers::pi;
  const double from = state.time;
  const int parts = static_cast<int>(std::clamp(std::ceil(turn_between(from, t) / kFarthest), 1.0, kMostParts));
  if (parts > 1) ++steps_turned;
  StepReport whole;
  for (int i = 1; i <= parts; ++i) {
    const double share = h / parts;
    report = advance(i == parts ? t : from + i * share, share, measure && i == parts, kMostHalvings);
    if (report.non_finite) break;
    whole.not_converged = whole.not_converged || report.not_converged;
    whole.held_back = whole.held_back || report.held_back;
    whole.iterations += report.iterations;
  }
  report.not_converged = report.not_converged || whole.not_converged;
  report.held_back = report.held_back || whole.held_back;
  if (!report.non_finite) report.iterations = whole.iterations;
  stop_if_driven_for_nothing(t);
  if (report.non_finite) throw_non_finite(report);
  wait_for_help();
  if (helped == Help::other_solver) ++steps_by_others;
  if (helped == Help::smaller_steps) ++steps_divided;
  state.step_index += 1;
  break_segments();
  return report;
}

}  // namespace osier
