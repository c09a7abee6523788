// The inside of a simulation; only the files sim/simulation*.cpp know it.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/integrator.hpp"
#include "osier/simulation.hpp"
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
  /// What a motor was told, and when.
  struct Drive {
    std::size_t constraint;
    double time, value;
  };
  std::vector<Drive> drives;
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
  std::shared_ptr<const Force> read_force(std::size_t index, const Json& from);
  void carry_along(const std::string& obstacle, const Motion& motion);
  void carry_changes(Archive& archive);
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

/// InputError with one problem.
[[noreturn]] void refuse_change(std::string where, std::string what, std::string remedy);

}  // namespace osier
