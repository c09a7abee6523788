// The simulation loop: control, step, fracture, release.
#include "osier/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <sstream>
#include <utility>

#include "core/fields.hpp"
#include "integration/integrator.hpp"
#include "model/held_axes.hpp"
#include "scene/needs.hpp"
#include "scene/parse_json.hpp"
#include "scene/setup.hpp"
#include "sim/certifier.hpp"
#include "sim/changing_moduli.hpp"
#include "sim/contact_points.hpp"
#include "sim/energy_watch.hpp"
#include "sim/free_motion.hpp"
#include "sim/measure.hpp"
#include "sim/path_loop.hpp"
#include "sim/pull.hpp"
#include "sim/reaction.hpp"
#include "sim/readout.hpp"
#include "sim/recorder.hpp"
#include "sim/state_archive.hpp"
#include "sim/statics.hpp"
#include "sim/timed_joints.hpp"
#include "solvers/step_potential.hpp"

namespace osier {

struct Simulation::Impl final : StaticHost, LoadPath {
  static constexpr std::size_t kVerticesInCache = 512;
  static constexpr double kFloatRounding = 5e8;  ///< of float, in units of that of double
  std::shared_ptr<const Setup> setup;
  std::optional<Model> changed;  ///< once something broke or a clamp let go; until then the scene's own serves
  State state, last_good;
  Control control;        ///< at the end of the step at hand, or of the last one
  Control control_start;  ///< at its start, for a solver that reads it
  Control holds_at_end;   ///< what is held at the end of the step, where the control is that of a stage within
  Contacts contacts;
  contact::Record touched;  ///< in the last step
  std::unique_ptr<Solver> solver;
  Executor executor;                 ///< for loads and copies, on as many threads as the solver has
  std::vector<std::uint8_t> let_go;  ///< per constraint
  std::vector<std::uint8_t> acts;    ///< per force
  // What has been changed at run time, each in the place of the scene's own; null: nothing.
  std::vector<std::unique_ptr<Attachment>> own_constraints;
  std::vector<std::shared_ptr<const Force>> own_forces;
  std::map<std::string, std::shared_ptr<Carrier>> own_carriers;  ///< obstacles by name
  std::optional<Json> own_json;
  const Vec3d* velocity_home = nullptr;  ///< see keep_addresses(); null: nobody asked
  TimedJoints timed_joints;
  ChangingModuli moduli;
  Pull pull;
  StepPotential potential;
  std::optional<TimeIntegrator> integrator;  ///< dynamics only
  State reference;                           ///< where the implicit Euler step of an integrator begins; kept for measuring
  std::vector<Vec3d> velocity_at_stage;      ///< likewise
  bool falls_back = false;                   ///< the solver of the scene leaves the choice of a solver to us
  enum class Help { none, other_solver, smaller_steps } helped = Help::none;  ///< that the step at hand needed
  std::vector<std::unique_ptr<Solver>> helpers;                               ///< once they were needed
  long steps_by_others = 0, steps_divided = 0, steps_turned = 0;
  long steps_damped = 0;
  std::optional<EnergyWatch> energy_watch;  ///< where steps could make energy
  State stage;                              ///< of the last step, for the watch
  int help_waits = 0, help_in_vain = 0;     ///< steps until help is tried again, and how often running it did not help
  StepBalance balance;
  Reactions reactions;
  std::vector<Vec3d> motor_torque;  ///< per frame, of the control
  bool wants_reactions = false;
  bool own_balance = false;              ///< the solver's trait
  std::unique_ptr<Certifier> certifier;  ///< null: nobody asks
  StepReport report;
  const DynamicAnalysis* dynamic = nullptr;
  const StaticAnalysis* statics = nullptr;
  bool wants_control_start = false;
  bool breakable = false, joints_break = false;
  std::optional<StaticLoop> loop;  ///< statics only
  std::optional<PathLoop> path;    ///< instead, by arc length
  double measuring_seconds = 0;
  SectionArrays sections;          ///< of the frame handed out last
  std::vector<Quatd> clamp_frame;  ///< likewise
  int start_modes = -1;            ///< unstable ones of the equilibrium it started from; -1: not from one
  std::vector<Surface> obstacles;
  std::vector<Vec3d> obstacle_points, points_of_obstacle;  ///< of the frame handed out last
  std::vector<ContactPoint> contact_points;                ///< likewise
  bool shows_contacts = false, shows_sections = false;
  std::shared_ptr<const ScriptHolds> holds;  ///< of scripts; null: not made yet
  bool is_ahead = false;                     ///< the runner of the solver has a later state than `state`
  bool runner_knows = false;                 ///< the runner has `state`, or a later one

  const Model& model() const { return changed ? *changed : setup->model; }
  const Attachment& constraint(std::size_t i) const {
    return own_constraints[i] ? *own_constraints[i] : *setup->spec.constraints[i];
  }
  Attachment& own_constraint(std::size_t i);
  const Force& force(std::size_t i) const { return own_forces[i] ? *own_forces[i] : *setup->spec.forces[i]; }
  /// Whether poses, motors or values of the scene were set at run time.
  bool was_changed() const;
  Json& json() { return own_json ? *own_json : own_json.emplace(Json::parse(setup->json)); }
  double end_of_move(double seconds) const;
  void check_lead(const std::string& where, const Pose& pose, double seconds) const;
  Vec3d middle_of(const Attachment& constraint) const;
  void take_over(const Impl& other);
  void go_home();
  void set_force(std::size_t index, const std::string& pointer, const std::string& value);
  Model& mutable_model() { return changed ? *changed : changed.emplace(setup->model); }
  State& state_at_hand() override { return state; }
  const State& state_before() const override { return last_good; }
  const Model& model_at_hand() const override { return model(); }
  StaticReport solve_at(double t, bool along_path) override;
  PathReport follow(const PathStep& step) override;
  const Control& at(double load) override;  ///< of a path
  void put_back(const State& before, const State& now, double t) override;
  bool has_potential() const override { return !control.has_torque; }
  bool goes_below_zero() const override;
  StaticOptions static_options(bool along_path) const;
  double ramp_at(double t) const { return statics && statics->ramp ? t / statics->duration : 1; }
  double pseudo_time() const { return path ? path->load() * statics->duration : state.time; }
  /// Stiffnesses of time t, for a solver that is about to step there.
  void set_moduli(double t, Solver& with) {
    if (!moduli.changes(t)) return;
    moduli.set(t, setup->model, mutable_model());
    with.rebind(model(), state);
  }
  void prepare_control(double t, double ramp);
  void fit(Control& c) const;  ///< its size to the model
  void hold(double t, Control& c) const;
  void prepare_step(double t, double ramp);
  void roll_back() override;
  StepInput input(double h) { return {model(), wants_control_start ? control_start : control, control, contacts, h, &touched}; }
  void keep_state();  ///< in last_good
  /// f(part) in as many parts as there are threads; part(n) is the range of a list of n that belongs to it.
  template <class F>
  void share_out(std::size_t size, const F& f) const {
    const auto parts = static_cast<std::size_t>(executor.threads());
    executor.for_each(
        parts,
        [&](std::size_t i) {
          f([&](std::size_t n) {
            return std::pair(static_cast<std::ptrdiff_t>(n * i / parts), static_cast<std::ptrdiff_t>(n * (i + 1) / parts));
          });
        },
        size / parts + 1);
  }
  /// f(of the state, the same of the last good one)
  template <class F>
  void each_array(const F& f) {
    f(state.vertex_position, last_good.vertex_position), f(state.vertex_velocity, last_good.vertex_velocity);
    f(state.vertex_velocity_previous, last_good.vertex_velocity_previous);
    f(state.frame_rotation, last_good.frame_rotation);
    f(state.frame_velocity, last_good.frame_velocity);
    for (std::size_t i = 0; i < state.memory.size(); ++i) f(state.memory[i].values, last_good.memory[i].values);
  }
  /// Puts the numbers of this state into the arrays of another one of the same size, and takes those in place of its own.
  void move_into(State& other) {
    const auto move = [](auto& from, auto& to) {
      std::copy(from.begin(), from.end(), to.begin());
      from.swap(to);
    };
    move(state.vertex_position, other.vertex_position), move(state.vertex_velocity, other.vertex_velocity);
    move(state.frame_rotation, other.frame_rotation), move(state.frame_velocity, other.frame_velocity);
  }
  /// As compiled: welds may have closed since.
  bool is_same_graph(const Impl& simulation) const {
    const Model &m = setup->model, &other = simulation.setup->model;
    if (setup->timed_joints.size() != simulation.setup->timed_joints.size()) return false;
    return m.vertex_count() == other.vertex_count() && m.segment_vertices == other.segment_vertices &&
           m.joint_frames == other.joint_frames && m.anchor_vertex == other.anchor_vertex;
  }
  bool release(double t) override;
  double turn_between(double from, double to) const override;
  bool break_segments() override;  ///< true when something broke
  std::string free_motion_at_hand() const override { return free_motion(model(), control); }
  void measure_balance();
  void lead_loose(const Control& c, double h);
  std::vector<std::unique_ptr<Solver>> make_helpers() const;
  StepReport attempt(Solver& with, double t, double h, bool measure, bool damped = false);
  void damp(StepReport& taken, Solver& with, double t, double h, bool measure);
  StepReport advance(double t, double h, bool measure, int halvings);
  void accept();  ///< the last attempt counts
  bool is_driven_for_nothing() const;
  void stop_if_driven_for_nothing(double t);
  void wait_for_help();
  StepReport dynamic_step(bool measure);
  StepReport static_step();
  void start_in_equilibrium();
  std::span<const Quatd> clamp_frames();
  [[noreturn]] void throw_non_finite(const StepReport& r) override;
  std::uint64_t scene_digest() const;
  void carry(Archive& archive);
  std::string why_no_run_ahead();
  StepScript write_script(int steps) const;
  int run_ahead(int count);
  void catch_up();  ///< the state comes from the runner
};

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

void Simulation::Impl::fit(Control& c) const {
  const auto nv = static_cast<std::size_t>(model().vertex_count()), nf = static_cast<std::size_t>(model().frame_count());
  c.vertex_force.resize(nv), c.vertex_damping.resize(nv), c.vertex_fixed.resize(nv);
  c.vertex_target.resize(nv);
  c.frame_control.resize(nf), c.frame_target.resize(nf), c.frame_hinge_axis.resize(nf);
  if (c.has_torque || c.frame_torque.size() != nf) {
    c.frame_torque.assign(nf, {});
    c.frame_torque_material.assign(nf, {});
  }
  if (c.has_rotary_damping || c.frame_damping.size() != nf) c.frame_damping.assign(nf, 0);
  c.has_torque = c.has_rotary_damping = false;
  c.held_axes.clear();
  c.springs.clear();
}

/// What constraints hold or drive at time t.
void Simulation::Impl::hold(double t, Control& c) const {
  for (const bool yields : {false, true})
    for (std::size_t i = 0; i < let_go.size(); ++i)
      if (const Attachment& a = constraint(i); !let_go[i] && a.yields() == yields) a.apply(t, state, executor, c);
  settle_held_axes(c);
}

/// Loads and targets at time t.
void Simulation::Impl::prepare_control(double t, double ramp) {
  const auto nv = static_cast<std::size_t>(model().vertex_count()), nf = static_cast<std::size_t>(model().frame_count());
  fit(control);
  const LoadContext context{model(), state, t, ramp, setup->spec.execution.simd};
  if (nv > 0)
    executor.for_each_range(nv, [&](std::size_t begin, std::size_t end) {
      const auto clear = [&](auto& list, std::size_t from, std::size_t to, const auto& value) {
        std::fill(list.begin() + static_cast<std::ptrdiff_t>(from), list.begin() + static_cast<std::ptrdiff_t>(to), value);
      };
      clear(control.frame_control, nf * begin / nv, nf * end / nv, FrameControl::free);
      for (std::size_t next = begin; begin < end; begin = next) {  // all loads on some vertices while those are in the cache
        next = std::min(begin + kVerticesInCache, end);
        clear(control.vertex_force, begin, next, Vec3d{}), clear(control.vertex_damping, begin, next, 0.0);
        clear(control.vertex_fixed, begin, next, std::uint8_t{0});
        for (std::size_t i = 0; i < acts.size(); ++i)
          if (acts[i]) force(i).apply_field(context, static_cast<Index>(begin), static_cast<Index>(next), control);
      }
    });
  for (std::size_t i = 0; i < acts.size(); ++i)
    if (acts[i]) force(i).apply(context, control);
  if (wants_reactions) motor_torque = control.frame_torque;
  hold(t, control);
  timed_joints.pass_on(control);
  if (wants_reactions)
    for (std::size_t f = 0; f < motor_torque.size(); ++f) motor_torque[f] = control.frame_torque[f] - motor_torque[f];
}

/// To where the step at hand began.
void Simulation::Impl::roll_back() {
  state = last_good;
  if (wants_control_start) std::swap(control, control_start);
}

/// The control at the end of the last step becomes that at the start of the next one, which ends at time t.
void Simulation::Impl::prepare_step(double t, double ramp) {
  if (wants_control_start) std::swap(control, control_start);
  prepare_control(t, ramp);
}

void Simulation::Impl::keep_state() {
  if (last_good.memory.size() != state.memory.size()) last_good.memory = state.memory;
  const auto fit = [](const auto& from, auto& to) { to.resize(from.size()); };
  each_array(fit);
  last_good.time = state.time, last_good.step_index = state.step_index;
  share_out(state.vertex_position.size(), [&](const auto& part) {
    each_array([&](const auto& from, auto& to) {
      const auto [begin, end] = part(from.size());
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
    });
  });
}

/// Constraints whose time has come by the start of the step at hand.
bool Simulation::Impl::release(double t) {
  bool topology = false, any = false;
  for (std::size_t i = 0; i < let_go.size(); ++i) {
    if (let_go[i] || !constraint(i).release || t < *constraint(i).release * (1 - 1e-12)) continue;
    let_go[i] = 1;
    any = true;
    if (integrator) integrator->restart(model(), state);
    topology = constraint(i).clone()->let_go(mutable_model()) || topology;  // a copy, or it would count as changed by hand
  }
  for (const std::size_t i : timed_joints.due(state)) {
    timed_joints.toggle(i, control, mutable_model(), state);
    if (integrator) integrator->restart(model(), state);
    topology = any = true;
  }
  if (!topology) return any;
  update_topology(mutable_model());
  solver->rebind(model(), state);
  return any;
}

/// How far the constraint that turns most turns what it holds [rad].
double Simulation::Impl::turn_between(double from, double to) const {
  double most = 0;
  for (std::size_t i = 0; i < let_go.size(); ++i)
    if (!let_go[i]) most = std::max(most, constraint(i).turn_between(from, to));
  return most;
}

/// After every step, so that the frame rate has no say in what breaks.
bool Simulation::Impl::break_segments() {
  if (!breakable && !joints_break) return false;
  bool broken = false;
  for (Index j = 0; j < model().joint_count() && joints_break; ++j) {
    if (!model().joint_alive[j]) continue;
    const BendAndTwist now = joint_bend_and_twist(model(), state, j);
    if (!(now.bend >= model().joint_bend_limit[j]) && !(now.twist >= model().joint_twist_limit[j])) continue;
    mutable_model().joint_alive[j] = 0;
    broken = true;
  }
  for (Index s = 0; s < model().segment_count() && breakable; ++s) {
    if (!model().segment_alive[s] || !(segment_strain(model(), state, s) >= model().segment_strain_limit[s])) continue;
    mutable_model().segment_alive[s] = 0;
    broken = true;
  }
  if (!broken) return false;
  update_topology(mutable_model());
  solver->rebind(model(), state);
  if (integrator) integrator->restart(model(), state);
  return true;
}

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

/// A vertex whose segments have all broken is no part of any rod, but it still follows what leads it.
void Simulation::Impl::lead_loose(const Control& c, double h) {
  if (!breakable) return;
  for (Index v = 0; v < model().vertex_count(); ++v) {
    if (model().vertex_alive[v] || !c.vertex_fixed[v]) continue;
    state.vertex_position[v] = c.vertex_target[v];
    if (h > 0) state.vertex_velocity[v] = (1 / h) * (c.vertex_target[v] - last_good.vertex_position[v]);
  }
  for (const HeldAxes& held : c.held_axes) {
    const Index v = held.vertex;
    if (model().vertex_alive[v]) continue;
    state.vertex_position[v] = held_place(held, last_good.vertex_position[v]);
    if (h > 0) state.vertex_velocity[v] = (1 / h) * (state.vertex_position[v] - last_good.vertex_position[v]);
  }
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
    problems.add("/materials", "change their moduli: the energy that this takes is in no budget of a certificate",
                 "leave `young_over_time` and `shear_over_time` out, or --certify");
  if (s.integrator && !s.integrator->is_implicit_euler())
    problems.add("/analysis/integrator", "the energy budget of a certificate is that of implicit_euler", "use implicit_euler");
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

Diagnostics Simulation::diagnostics() const {
  impl_->catch_up();
  Diagnostics d = measure_state(impl_->model(), impl_->state);
  const double time = impl_->pseudo_time();
  const double ramp = impl_->ramp_at(time);
  if (impl_->statics) d.load_factor = time / impl_->statics->duration;
  for (std::size_t i = 0; i < impl_->acts.size(); ++i)
    if (impl_->acts[i]) d.external += impl_->force(i).potential({impl_->model(), impl_->state, time, ramp});
  for (const Spring& spring : impl_->control.springs) {
    const std::vector<Vec3d>& x = impl_->state.vertex_position;
    const std::vector<std::uint8_t>& alive = impl_->model().vertex_alive;
    if (!alive[spring.a] || (spring.b >= 0 && !alive[spring.b])) continue;
    const Vec3d span = (spring.b < 0 ? spring.anchor : x[spring.b]) - x[spring.a];
    d.external += vertex_spring::elastic_value(elastic_terms(spring), span);
  }
  d.residual = impl_->report.residual;
  d.residual_relative = impl_->report.residual_relative;
  d.iterations = impl_->report.iterations;
  d.unstable_modes = impl_->report.unstable_modes;
  return d;
}

Wrench Simulation::reaction(std::size_t index, bool material_axes) const {
  impl_->catch_up();
  const Impl& s = *impl_;
  if (s.let_go.at(index)) return {};
  std::vector<Index> vertices, frames;
  const Attachment& constraint = s.constraint(index);
  constraint.list_held(vertices, frames);
  Wrench wrench = constraint.has_springs() ? s.reactions.of_springs(&constraint, vertices, s.state)
                                           : s.reactions.of(vertices, frames, s.state, [&](Index v, const Vec3d& force) {
                                               return constraint.share(s.pseudo_time(), s.control, v, force);
                                             });
  if (!material_axes) return wrench;
  Index frame = frames.empty() ? -1 : frames.front();
  if (frame < 0 && !vertices.empty())
    if (const auto touching = s.model().vertex_segments.of(vertices.front()); !touching.empty()) frame = touching[0] / 2;
  if (frame < 0) return wrench;
  const Quatd axes = conj(s.state.frame_rotation[frame]);
  return {rotate(axes, wrench.force), rotate(axes, wrench.moment)};
}

/// Zero where a clamp has let go.
std::span<const Quatd> Simulation::Impl::clamp_frames() {
  const Model& m = model();
  clamp_frame.assign(static_cast<std::size_t>(m.anchor_count), Quatd{0, 0, 0, 0});
  for (Index j = 0; j < m.joint_count(); ++j)
    if (const Index frame = m.joint_frames[j][0]; m.joint_is_clamp[j] && m.joint_alive[j])
      clamp_frame[frame - m.segment_count()] = state.frame_rotation[frame];
  return clamp_frame;
}

Wrench Simulation::load_on_obstacle(std::size_t index) const {
  const Impl& s = *impl_;
  const Vec3d center = s.contacts.obstacles().at(index)->center(1);
  Wrench sum;
  for (const contact::Touch& touch : s.touched.touches) {
    if (!touch.pair.with_obstacle() || touch.pair.obstacle() != index) continue;
    sum.force -= touch.push;
    sum.moment -= cross(touch.surface - center, touch.push);
  }
  return sum;
}

const contact::Record& Simulation::touched() const { return impl_->touched; }

Frame Simulation::frame(int index) const {
  Impl& s = *impl_;
  s.catch_up();
  Frame frame{.index = index,
              .time = s.state.time,
              .vertex_position = s.state.vertex_position,
              .vertex_velocity = s.state.vertex_velocity,
              .segment_frame = std::span(s.state.frame_rotation).first(static_cast<std::size_t>(s.model().segment_count())),
              .segment_alive = s.model().segment_alive};
  if (s.model().anchor_count > 0) frame.clamp_frame = s.clamp_frames();
  if (s.model().has_inertia())
    frame.segment_spin = std::span(s.state.frame_velocity).first(static_cast<std::size_t>(s.model().segment_count()));
  s.obstacle_points.clear();
  for (std::size_t o = 0; o < s.obstacles.size() && any_moves(s.obstacles); ++o) {
    const double share = o < s.touched.obstacle_share.size() ? s.touched.obstacle_share[o] : 1;
    s.contacts.obstacles()[o]->place_points(s.obstacles[o].points, share, s.points_of_obstacle);
    s.obstacle_points.insert(s.obstacle_points.end(), s.points_of_obstacle.begin(), s.points_of_obstacle.end());
  }
  frame.obstacle_points = s.obstacle_points;
  if (s.setup->spec.output.contacts || s.shows_contacts) {
    list_contact_points(s.touched, s.contacts, s.state, s.contact_points);
    frame.contacts = s.contact_points;
  }
  if (!s.setup->spec.output.sections && !s.shows_sections) return frame;
  s.sections.measure(s.model(), s.state);
  frame.segment_force = s.sections.segment_force;
  frame.segment_strain = s.sections.segment_strain;
  frame.segment_moment = s.sections.segment_moment;
  frame.segment_curvature = s.sections.segment_curvature;
  frame.joint_moment = s.sections.joint_moment;
  frame.joint_curvature = s.sections.joint_curvature;
  return frame;
}

void Simulation::show_contacts(bool on) { impl_->shows_contacts = on; }
void Simulation::show_sections(bool on) { impl_->shows_sections = on; }

void Simulation::measure_reactions() {
  Problems problems;
  refuse(*impl_->setup->spec.solver, {{&Traits::reactions, "tell what constraints exert", "reactions"}}, problems);
  problems.throw_if_any();
  impl_->wants_reactions = true;
}

void Simulation::keep_addresses() { impl_->velocity_home = impl_->state.vertex_velocity.data(); }

/// Solvers exchange the velocities with those of the step before: an even number of times, or once more here.
void Simulation::Impl::go_home() {
  if (!velocity_home || state.vertex_velocity.data() == velocity_home) return;
  std::swap_ranges(state.vertex_velocity.begin(), state.vertex_velocity.end(), state.vertex_velocity_previous.begin());
  state.vertex_velocity.swap(state.vertex_velocity_previous);
}

void Simulation::pull(Index vertex, const Vec3d& target, double stiffness) {
  const auto refuse = [](std::string what, std::string remedy) {
    throw InputError({{"pull", std::move(what), std::move(remedy)}});
  };
  if (is_static()) refuse("a static analysis has no motion to take part in", "use dynamics");
  const Model& m = model();
  if (vertex < 0 || vertex >= m.vertex_count())
    refuse(fmt::format("there is no vertex {}", vertex), fmt::format("use 0 to {}", m.vertex_count() - 1));
  if (!std::isfinite(norm2(target)) || !std::isfinite(stiffness) || stiffness < 0)
    refuse("the target or the stiffness is not a finite number", "use finite ones");
  if (impl_->control.vertex_fixed[vertex]) refuse(fmt::format("vertex {} is held by the scene", vertex), "pull another one");
  Pull& p = impl_->pull;
  if (p.vertex != vertex || stiffness > 0) p.stiffness = stiffness > 0 ? stiffness : pull_stiffness(m, vertex);
  p.damping = 2 * std::sqrt(p.stiffness * m.vertex_mass[vertex]);  // critical for the vertex alone
  p.vertex = vertex, p.target = target;
}

void Simulation::stop_pulling() { impl_->pull = {}; }

void Simulation::enable_force(std::size_t index, bool on) { impl_->acts.at(index) = on ? 1 : 0; }

bool Simulation::continue_from(const Simulation& other) {
  Impl& s = *impl_;
  other.impl_->catch_up();
  s.is_ahead = s.runner_knows = false;
  const Impl& o = *other.impl_;
  const Model& n = o.model();
  if (!s.is_same_graph(o) || s.let_go.size() != o.let_go.size() || s.acts.size() != o.acts.size()) return false;
  const bool welded = !s.setup->timed_joints.empty() && s.timed_joints.continue_from(o.timed_joints, n, s.mutable_model());
  const Model& m = s.model();
  const bool same_topology = !welded && m.segment_alive == n.segment_alive && m.joint_alive == n.joint_alive;
  if (!same_topology) {
    Model& mine = s.mutable_model();
    mine.segment_alive = n.segment_alive;
    mine.joint_alive = n.joint_alive;
    update_topology(mine);
  }
  s.state = o.state;
  if (s.moduli.changes(s.state.time)) s.moduli.set(s.state.time, s.setup->model, s.mutable_model());
  s.solver->rebind(s.model(), s.state);
  // Time is counted in steps, which may have become longer or shorter.
  if (s.dynamic) {
    s.integrator->declare_memory(s.model(), s.state);
    s.state.step_index = std::lround(o.state.time / s.dynamic->time_step());
  }
  s.state.time = s.dynamic ? static_cast<double>(s.state.step_index) * s.dynamic->time_step() : o.state.time;
  s.let_go = o.let_go, s.acts = o.acts, s.pull = o.pull;
  s.take_over(o);
  if (s.loop && o.loop) s.loop->set_finished(o.loop->finished());
  s.last_good = s.state;
  s.go_home();
  s.contacts.set_step(s.state.time, s.state.time);
  s.touched = o.touched;
  if (s.dynamic) s.prepare_control(s.state.time, 1);
  if (s.wants_control_start) s.control_start = s.control;
  if (s.certifier) {  // from here on
    s.certifier.reset();
    certify();
  }
  return true;
}

/// What was changed at run time. Where the scene itself has changed, what it says now of a constraint counts.
void Simulation::Impl::take_over(const Impl& other) {
  const bool same_scene = setup == other.setup;
  if (same_scene) {
    own_json = other.own_json, own_forces = other.own_forces;
    steps_by_others = other.steps_by_others, steps_divided = other.steps_divided;
    steps_turned = other.steps_turned, steps_damped = other.steps_damped;
    help_waits = other.help_waits, help_in_vain = other.help_in_vain;
    energy_watch = other.energy_watch;
    start_modes = other.start_modes;
    report = other.report;
  }
  wants_reactions = wants_reactions || other.wants_reactions;
  reactions.forget();
  const bool any = std::any_of(other.own_constraints.begin(), other.own_constraints.end(), [](const auto& c) { return !!c; });
  const auto constraints_of = [](const Impl& s) { return Json::parse(s.setup->json).value("constraints", Json::array()); };
  Json mine, theirs;
  if (any && !same_scene) mine = constraints_of(*this), theirs = constraints_of(other);
  for (std::size_t i = 0; i < own_constraints.size(); ++i) {
    own_constraints[i].reset();
    if (other.own_constraints[i] && (same_scene || (i < mine.size() && i < theirs.size() && mine[i] == theirs[i])))
      own_constraints[i] = other.own_constraints[i]->clone();
  }
  own_carriers.clear();
  for (const auto& [name, carrier] : other.own_carriers) own_carriers[name] = std::make_shared<Carrier>(*carrier);
  for (std::size_t i = 0; i < own_constraints.size(); ++i)
    if (const auto& with = constraint(i).motion.with; with && own_carriers.contains(*with))
      own_constraint(i).motion.carrier = own_carriers[*with];
  const auto &here = contacts.obstacles(), &there = other.contacts.obstacles();
  for (std::size_t i = 0; i < here.size() && i < there.size(); ++i) {
    Motion* const motion = here[i]->motion();
    const Motion* const led = there[i]->motion();
    if (!motion || !led || here[i]->name != there[i]->name) continue;
    if (same_scene) *motion = *led;
    else motion->led = led->led;
    obstacles[i].moves = obstacles[i].moves || motion->led;
  }
}

Attachment& Simulation::Impl::own_constraint(std::size_t i) {
  if (!own_constraints.at(i)) own_constraints[i] = setup->spec.constraints[i]->clone();
  return *own_constraints[i];
}

[[noreturn]] static void refuse_change(std::string where, std::string what, std::string remedy) {
  throw InputError({{std::move(where), std::move(what), std::move(remedy)}});
}

/// Steps are counted, so that the end of the next one is known to the last bit.
double Simulation::Impl::end_of_move(double seconds) const {
  const double next = static_cast<double>(state.step_index + 1) * dynamic->time_step();
  return std::max(state.time + seconds, next);
}

void Simulation::Impl::check_lead(const std::string& where, const Pose& pose, double seconds) const {
  if (statics) refuse_change(where, "a static analysis moves nothing at run time", "use dynamics");
  if (!is_finite(pose.center) || !is_finite(pose.turn) || norm(pose.turn) < 1e-9 || !(seconds >= 0) || !std::isfinite(seconds))
    refuse_change(where, "the pose is not finite, its quaternion is zero, or the time is negative",
                  "give a place, a quaternion x, y, z, w and a time of at least 0");
}

/// Of the vertices that a constraint holds, or, where it holds none, of the segments.
Vec3d Simulation::Impl::middle_of(const Attachment& constraint) const {
  std::vector<Index> vertices, frames;
  constraint.list_held(vertices, frames);
  if (vertices.empty())
    for (const Index f : frames)
      for (const Index v : setup->model.segment_vertices[f]) vertices.push_back(v);
  Vec3d sum;
  for (const Index v : vertices) sum += setup->initial.vertex_position[v];
  return vertices.empty() ? sum : (1.0 / static_cast<double>(vertices.size())) * sum;
}

Pose Simulation::constraint_pose(std::size_t index) const {
  const Attachment& c = impl_->constraint(index);
  return c.motion.pose(impl_->middle_of(c), impl_->pseudo_time());
}

void Simulation::lead_constraint(std::size_t index, const Pose& pose, double seconds) {
  Impl& s = *impl_;
  const Attachment& now = s.constraint(index);
  s.check_lead(now.where, pose, seconds);
  std::vector<Index> vertices, frames;
  now.list_held(vertices, frames);
  const std::string name = "`" + now.name + "` ";
  if (!now.moves())
    refuse_change(now.where, fmt::format("{}is a {}, which nothing leads", name, now.type()), "lead a pin or a clamp");
  if (s.let_go[index]) refuse_change(now.where, name + "has let go", "lead another one");
  const Motion& motion = now.motion;
  if (!motion.led && ((motion.orientation.given() && vertices.size() > 1) || (motion.file && !motion.file->is_of_body())))
    refuse_change(now.where, name + "holds more than one vertex, and its `motion` does not move them as one body",
                  "leave `orientation` or the recorded points out of its motion");
  const Pose from = constraint_pose(index);
  if (vertices.empty() && norm(pose.center - from.center) > 1e-9 * (1 + norm(from.center)))
    refuse_change(now.where, name + "holds frames, which have no place", "turn it only, or lead a clamp");
  s.own_constraint(index).motion.lead(s.middle_of(now), s.state.time, from, s.end_of_move(seconds),
                                      {pose.center, normalized(pose.turn)});
}

Pose Simulation::obstacle_pose(std::size_t index) const {
  const Impl& s = *impl_;
  const Vec3d rest = s.setup->spec.obstacles.at(index)->center();
  const Motion* motion = index < s.contacts.obstacles().size() ? s.contacts.obstacles()[index]->motion() : nullptr;
  return motion ? motion->pose(rest, s.state.time) : Pose{rest, {}};
}

void Simulation::lead_obstacle(std::size_t index, const Pose& pose, double seconds) {
  Impl& s = *impl_;
  const ObstacleSpec& spec = *s.setup->spec.obstacles.at(index);
  s.check_lead(spec.where, pose, seconds);
  Motion* const motion = index < s.contacts.obstacles().size() ? s.contacts.obstacles()[index]->motion() : nullptr;
  if (!motion) refuse_change(spec.where, "`" + spec.name + "` takes no part: there is no contact", "add \"contact\": {}");
  const Pose from = obstacle_pose(index), to{pose.center, normalized(pose.turn)};
  if (!s.contacts.obstacles()[index]->may_tilt() && norm(rotation_log(normalized(to.turn * conj(from.turn)))) > 1e-9)
    refuse_change(spec.where, "`" + spec.name + "` has no end: far away a turn would move it without bound", "shift it only");
  motion->lead(spec.center(), s.state.time, from, s.end_of_move(seconds), to);
  s.obstacles[index].moves = true;
  for (std::size_t i = 0; i < s.own_constraints.size(); ++i) {
    if (s.constraint(i).motion.with != spec.name) continue;
    auto& carrier = s.own_carriers[spec.name];
    if (!carrier) carrier = std::make_shared<Carrier>(*s.constraint(i).motion.carrier);
    carrier->motion = *motion;
    s.own_constraint(i).motion.carrier = carrier;
  }
}

void Simulation::drive_motor(std::size_t index, double value) {
  Impl& s = *impl_;
  const Attachment& now = s.constraint(index);
  if (s.statics) refuse_change(now.where, "a static analysis moves nothing at run time", "use dynamics");
  if (!std::isfinite(value)) refuse_change(now.where, "the speed or torque is not a finite number", "use a finite one");
  if (!dynamic_cast<const Motor*>(&now))
    refuse_change(now.where, fmt::format("`{}` is a {}", now.name, now.type()), "drive a motor");
  if (s.let_go[index]) refuse_change(now.where, "`" + now.name + "` has let go", "drive another one");
  static_cast<Motor&>(s.own_constraint(index)).drive(s.state.time, value);
}

void Simulation::release_constraint(std::size_t index) {
  Impl& s = *impl_;
  if (s.path) refuse_change(s.constraint(index).where, "nothing lets go along a path by arc length", "use load control");
  s.own_constraint(index).release = s.pseudo_time();
}

/// Reads one force again, from what it was with one value changed.
void Simulation::Impl::set_force(std::size_t index, const std::string& pointer, const std::string& value) {
  const std::string where = fmt::format("/forces/{}", index);
  Json force_json = json()["forces"][index];
  Problems problems;
  apply_override(force_json, pointer + "=" + value, problems);
  problems.throw_if_any();
  std::unique_ptr<Force> read;
  JsonReader(json(), "", problems).read(force_json, where, read, {});
  problems.throw_if_any();
  read->bind(setup->names(), problems);
  read->check(setup->model, problems);
  problems.throw_if_any();
  own_forces[index] = std::move(read);
  json()["forces"][index] = std::move(force_json);
}

void Simulation::set(const std::string& pointer, const std::string& value) {
  Impl& s = *impl_;
  if (std::istringstream parts(pointer); pointer.starts_with("/forces/")) {
    std::string list, number, field;
    std::getline(parts, list, '/'), std::getline(parts, list, '/'), std::getline(parts, number, '/');
    std::getline(parts, field);
    const bool counts = !number.empty() && number.size() < 9 && number.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t index = counts ? std::stoul(number) : s.acts.size();
    if (index < s.acts.size() && !field.empty() && field != "type") return s.set_force(index, "/" + field, value);
  }
  Json changed = s.json();
  Problems problems;
  apply_override(changed, pointer + "=" + value, problems);
  problems.throw_if_any();
  const Scene now(s.setup), scene = Scene::parse(changed.dump(), s.setup->name, s.setup->folder);
  if (!begin_alike(scene, now))
    refuse_change(pointer, "makes rods of another shape or size", "make a new Simulation of the changed scene");
  Simulation next(scene.setup_, false);
  if (!next.continue_from(*this))
    refuse_change(pointer, "makes another graph of rods, constraints or forces", "make a new Simulation of the changed scene");
  assign(std::move(next));
}

void Simulation::assign(Simulation&& other) {
  Impl &s = *impl_, &next = *other.impl_;
  next.catch_up();
  if (!s.is_same_graph(next)) refuse_change("", "that simulation has another graph of rods", "use a copy of this one");
  next.move_into(s.state);
  next.velocity_home = s.velocity_home ? next.state.vertex_velocity.data() : nullptr;
  next.shows_contacts = s.shows_contacts, next.shows_sections = s.shows_sections;
  impl_ = std::move(other.impl_);
}

std::string Simulation::scene_json() const {
  return impl_->own_json ? impl_->own_json->dump(2, ' ', false, Json::error_handler_t::replace) : impl_->setup->json;
}

Simulation Simulation::copy() const {
  const Impl& s = *impl_;
  if (s.path) refuse_change("/analysis/control", "a path by arc length is not copied", "run it a second time");
  Simulation other(s.setup, false);
  other.continue_from(*this);
  return other;
}

std::uint64_t Simulation::Impl::scene_digest() const {
  Digest digest;
  add_to(digest, setup->model);
  add_to(digest, setup->initial);
  for (const std::size_t count : {let_go.size(), acts.size(), setup->timed_joints.size()}) digest.add(&count, sizeof count);
  digest.add(std::string_view(setup->spec.solver->name()));
  digest.add(dynamic ? dynamic->time_step() : 0.0);
  return digest.value();
}

/// The control of the last step is where the next one starts, and what was held then may be let go. Reactions, the record of what
/// touched and the potential are those of the last step, too, but every step makes them again before anybody looks.
void Simulation::Impl::carry(Archive& a) {
  catch_up();
  runner_knows = runner_knows && !a.reads();
  bool is_changed = changed.has_value();
  a(is_changed);
  if (is_changed) {
    carry_model(a, mutable_model());
    if (a.reads()) update_topology(mutable_model());
  } else if (a.reads()) {
    changed.reset();
  }
  a(timed_joints, moduli);
  carry_state(a, state);
  for (Control* c : {&control, &control_start})
    a(c->vertex_force, c->vertex_damping, c->vertex_fixed, c->vertex_target, c->frame_control, c->frame_target,
      c->frame_hinge_axis, c->has_torque, c->frame_torque, c->frame_torque_material, c->has_rotary_damping, c->frame_damping,
      c->held_axes);
  a(let_go, acts, pull, report, start_modes, energy_watch);
  a(steps_by_others, steps_divided, steps_turned, steps_damped, help_waits, help_in_vain);
  if (loop) a(*loop);
  if (path) a(*path);
  if (a.reads()) {
    solver = setup->spec.solver->make(model());
    solver->declare_memory(model(), state);
    last_good = state;
    touched = {};
    contacts.set_step(state.time, state.time);
  }
  solver->carry(model(), a);
}

bool Simulation::Impl::was_changed() const {
  const auto given = [](const auto& own) { return own != nullptr; };
  const auto led = [](const auto& o) { return o->motion() && o->motion()->led; };
  const auto& shapes = contacts.obstacles();
  return own_json || std::any_of(own_constraints.begin(), own_constraints.end(), given) ||
         std::any_of(own_forces.begin(), own_forces.end(), given) || std::any_of(shapes.begin(), shapes.end(), led);
}

std::string Simulation::save() const {
  if (impl_->was_changed())
    throw RunError(
        "a simulation whose poses, motors or values were set at run time cannot be saved: what was set would be lost; copy() "
        "keeps it");
  if (impl_->certifier)
    throw RunError("a certified simulation cannot be saved: its accounts are those of a whole run; leave --certify out");
  std::uint64_t scene = impl_->scene_digest();
  return carried([&](Archive& a) {
    a(scene);
    impl_->carry(a);
  });
}

void Simulation::restore(const std::string& saved) {
  Archive archive(saved);
  std::uint64_t scene = 0;
  archive(scene);
  if (scene != impl_->scene_digest())
    throw InputError(
        {{"saved state", "is that of another scene: rods, initial pose, constraints, forces, solver or time step differ",
          "restore it into a simulation of the scene that it was saved from"}});
  impl_->carry(archive);
  if (!archive.at_end()) throw RunError("the saved state is damaged: it is too long");
}

std::uint64_t Simulation::state_hash() const {
  impl_->catch_up();
  Digest digest;
  add_to(digest, impl_->state);
  if (impl_->changed) add_to(digest, *impl_->changed);
  digest.add(impl_->let_go);
  return digest.value();
}

const char* version() { return OSIER_VERSION; }

}  // namespace osier
