// The simulation: how it begins, its step, and what it tells of itself.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "sim/simulation_impl.hpp"

namespace osier {

Simulation::Simulation(const Scene& scene) : Simulation(scene.setup_, true) {}

Simulation::Simulation(std::shared_ptr<const Setup> setup, bool start_in_equilibrium) : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.setup = std::move(setup);
  s.state = s.setup->initial;
  s.timed_joints = TimedJoints(s.setup->timed_joints);
  if (const std::vector<std::size_t> due = s.timed_joints.due(s.state); !due.empty()) {
    for (const std::size_t i : due) s.timed_joints.toggle(i, s.control, s.mutable_model(), s.state);
    update_topology(s.mutable_model());
  }
  s.moduli = ChangingModuli(*s.setup);
  if (s.moduli.changes(0)) s.moduli.set(0, s.setup->model, s.mutable_model());
  s.solver = s.setup->spec.solver->make(s.model());
  s.executor = Executor(s.setup->spec.execution.threads);
  s.dynamic = s.setup->spec.dynamic();
  s.statics = s.setup->spec.statics();
  s.let_go.assign(s.setup->spec.constraints.size(), 0);
  s.acts.assign(s.setup->spec.forces.size(), 1);
  s.own_constraints.resize(s.let_go.size());
  s.own_forces.resize(s.acts.size());
  const auto& limits = s.model().segment_strain_limit;
  const auto is_finite = [](double l) { return std::isfinite(l); };
  s.breakable = std::any_of(limits.begin(), limits.end(), is_finite);
  for (const auto* list : {&s.model().joint_bend_limit, &s.model().joint_twist_limit})
    s.joints_break = s.joints_break || std::any_of(list->begin(), list->end(), is_finite);
  s.contacts = s.setup->contacts;
  s.contacts.separate();
  s.obstacles = obstacle_surfaces(*s.setup);
  s.solver->declare_memory(s.model(), s.state);
  if (start_in_equilibrium && s.dynamic && s.dynamic->start && s.dynamic->start->run.empty()) s.start_in_equilibrium();
  if (s.statics && s.statics->by_arc_length()) s.path.emplace(s, *s.statics);
  else if (s.statics) s.loop.emplace(s, *s.statics);
  if (s.dynamic) {
    s.integrator = s.setup->spec.integrator();
    s.integrator->declare_memory(s.model(), s.state);
    if (s.integrator->is_midpoint() && !s.model().has_inertia()) s.energy_watch.emplace();
  }
  s.last_good = s.state;
  s.falls_back = s.setup->spec.solver->role() == SolverRole::automatic;
  s.wants_reactions =
      std::any_of(s.setup->probes.begin(), s.setup->probes.end(), [](const Probe& p) { return p.kind == ProbeKind::reaction; });
  s.wants_control_start = s.setup->spec.solver->traits().control_at_start;
  s.own_balance = s.setup->spec.solver->traits().own_balance;
  s.prepare_control(0, 1);
  if (s.wants_control_start) s.control_start = s.control;
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;

StepReport Simulation::step(bool measure) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  impl_->catch_up();
  impl_->runner_knows = false;
  StepReport& report = impl_->report;
  impl_->measuring_seconds = 0;
  struct Return {
    Impl& simulation;
    ~Return() { simulation.go_home(); }  // after a step that failed, too
  } const at_the_end{*impl_};
  report = impl_->dynamic ? impl_->dynamic_step(measure) : impl_->static_step();
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count() - impl_->measuring_seconds;
  return report;
}

void Simulation::certify() {
  Impl& s = *impl_;
  if (s.certifier) return;
  Problems problems;
  if (is_static())
    problems.add("/analysis/type", "\"static\": a certificate is about motion", "use dynamics, or leave --certify out");
  if (!s.contacts.active())
    problems.add("/contact", "is not there: rods pass through each other, and there is nothing to certify",
                 "add \"contact\": {}, or leave --certify out");
  if (!s.moduli.empty() && !s.own_balance)
    problems.add("/materials", "change their moduli over time, and a certificate does not account for the energy of that",
                 "leave `young_over_time` and `shear_over_time` out, or --certify");
  if (s.integrator && !s.integrator->is_implicit_euler())
    problems.add("/analysis/integrator", "a certificate needs the energy budget of implicit_euler", "use implicit_euler");
  problems.throw_if_any();
  // Velocities of float are rounded displacements over the step.
  const double rounding = s.setup->spec.execution.in_float() ? 1e-4 : 0;
  s.certifier = std::make_unique<Certifier>(s.model(), s.state, s.contacts, s.executor.threads(), rounding,
                                            s.setup->spec.solver->works_to_tolerance());
}

bool Simulation::is_certified() const { return impl_->certifier != nullptr; }
const CertificateReport& Simulation::certificate() const {
  static const CertificateReport none;
  return impl_->certifier ? impl_->certifier->report() : none;
}

void Simulation::advance_frame(const std::function<bool()>& after_step) {
  if (!after_step) {
    int left = steps_per_frame();
    left -= run_ahead(left);
    for (; left > 0; --left) step();
    return;
  }
  for (int i = 0; i < steps_per_frame(); ++i) {
    step();
    if (!after_step()) return;
  }
}

long Simulation::steps_by_others() const { return impl_->steps_by_others; }
long Simulation::steps_damped() const { return impl_->steps_damped; }
long Simulation::steps_divided() const { return impl_->steps_divided; }
int Simulation::start_unstable_modes() const { return impl_->start_modes; }
BranchesLeft Simulation::branches_left() const {
  if (!impl_->loop) return {};
  return {impl_->loop->branches_left(), impl_->loop->branch_left_at(), impl_->loop->branch_left_modes(),
          impl_->control.has_torque ? -1 : impl_->loop->unstable_at()};
}
long Simulation::welds_not_met() const { return impl_->timed_joints.never_met(impl_->state.time); }
long Simulation::steps_turned() const { return impl_->steps_turned; }
Snaps Simulation::snaps() const { return impl_->loop ? impl_->loop->snaps() : Snaps{}; }
const PathTaken* Simulation::path() const { return impl_->path ? &impl_->path->taken() : nullptr; }
double Simulation::pseudo_time() const { return impl_->pseudo_time(); }
bool Simulation::finished() const { return (impl_->loop && impl_->loop->finished()) || (impl_->path && impl_->path->finished()); }
bool Simulation::is_static() const { return impl_->statics != nullptr; }

int Simulation::steps_per_frame() const { return is_static() ? 1 : impl_->dynamic->steps_per_frame(); }
int Simulation::frame_count() const {
  if (impl_->path) return impl_->statics->path_steps;
  return is_static() ? impl_->statics->load_steps : impl_->dynamic->frame_count();
}
double Simulation::time_step() const { return is_static() ? 0 : impl_->dynamic->time_step(); }
const Model& Simulation::model() const { return impl_->model(); }
const State& Simulation::state() const {
  impl_->catch_up();
  return impl_->state;
}
State& Simulation::mutable_state() {
  impl_->catch_up();
  impl_->runner_knows = false;
  return impl_->state;
}
const StepReport& Simulation::last_report() const { return impl_->report; }
const Control& Simulation::control() const { return impl_->control; }

void Simulation::keep_addresses() { impl_->velocity_home = impl_->state.vertex_velocity.data(); }

/// Solvers exchange the velocities with those of the step before: an even number of times, or once more here.
void Simulation::Impl::go_home() {
  if (!velocity_home || state.vertex_velocity.data() == velocity_home) return;
  std::swap_ranges(state.vertex_velocity.begin(), state.vertex_velocity.end(), state.vertex_velocity_previous.begin());
  state.vertex_velocity.swap(state.vertex_velocity_previous);
}

const char* version() { return OSIER_VERSION; }

}  // namespace osier
