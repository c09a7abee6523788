// What every solver looks like from outside. One folder per method, one line in registry.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/contacts.hpp"
#include "contact/record.hpp"
#include "core/describe.hpp"
#include "exec/execution.hpp"
#include "forces/step_script.hpp"
#include "osier/error.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/step_goal.hpp"

namespace osier {

class Archive;

struct StaticOptions {
  double tolerance = 1e-8;
  int max_iterations = 200;
  /// Goes to the nearest equilibrium, stable or not, instead of downhill: follows a path through its buckling load.
  bool along_path = false;
  /// Leaves an equilibrium that turns out to be unstable, downhill along its softest mode.
  bool leave_unstable = false;
};

/// What a solver has to tell of an equilibrium.
struct StaticReport : StepReport {
  int branches_left = 0;  ///< unstable equilibria that were left for one of lower energy
  int modes_left = 0;     ///< in how many directions the first of them was unstable
  bool off_path = false;  ///< along a path: this is not the equilibrium that the path leads to
  /// On the way down there were places of negative curvature, or rods turned far: another branch may have been met.
  bool may_have_jumped = false;
};

/// Loads and prescribed motion as a function of the load factor, along which a path may go forth and back.
class LoadPath {
 public:
  virtual ~LoadPath() = default;
  /// The reference lasts until the next call.
  virtual const Control& at(double load) = 0;
};

/// A step of given length along a path of equilibria, by arc-length continuation (docs/theory/arc_length.md).
struct PathStep {
  double load = 0;    ///< factor of the equilibrium that the state is in
  double length = 0;  ///< of the step: root of the mean square turn of frames [rad] and of the change of the load factor
  /// The point of the path before this one, which says where ahead is; null: the path begins, with growing load.
  const State* before = nullptr;
  double load_before = 0;
};

struct PathReport : StaticReport {
  double load = 0;   ///< factor at the end of the step
  double slope = 0;  ///< d load/d length there, in the direction in which the path goes; 0 at a limit point
};

/// The input of one step, apart from the state at its start.
struct StepInput {
  const Model& model;
  const Control& start;  ///< loads and prescribed motion at the start of the step
  const Control& end;    ///< and at its end, where an implicit step takes its loads
  const Contacts& contacts;
  double h = 0;                       ///< length of the step [s]; 0 for statics
  contact::Record* record = nullptr;  ///< where solvers that let rods touch tell what touched; null: nobody asks
};

/// A step, or an equilibrium, under a control that does not change, without contacts.
inline StepInput constant_input(const Model& model, const Control& control, double h = 0) {
  static const Contacts none;
  return {model, control, control, none, h};
}

/// Steps in a state that is not in the memory of the host.
class ScriptRunner {
 public:
  virtual ~ScriptRunner() = default;
  /// Whether its steps know contacts.
  virtual bool lets_rods_touch() const { return false; }
  /// The state to go on from; the contacts last as long as steps are made with them.
  virtual void put(const State& state, const Contacts& contacts) = 0;
  /// All steps of the script, of a model that does not change meanwhile. Returns when they are done.
  virtual StepReport run(const StepScript& script) = 0;
  /// Where it stands now.
  virtual void get(State& state) const = 0;
};

/// A solver may keep two kinds of memory between steps.
///  - Numbers that the next step needs are declared in State::memory: rollback, continue_from and checkpoints keep them.
///  - Numbers that only make the next step faster (arrangements of the model, forces and ratios for a warm start) may stay in the
///    object. They may change the last bits of a step, so rebind() forgets them: after `rebind(model, state)` the next steps
///    depend on the state alone, down to the last bit. carry() saves and restores them, so that a run that is resumed from a
///    checkpoint takes the same steps as one that was not interrupted.
class Solver {
 public:
  virtual ~Solver() = default;

  /// One implicit step of length h. Advances positions, velocities, frames; time and step index are the caller's. Time-stepping
  /// solvers allocate nothing after the first call on a model (Newton, which assembles, does).
  virtual StepReport step(const StepInput& input, State& state) = 0;

  /// What takes several implicit Euler steps at a time; null: nothing does. Lasts until the next rebind().
  virtual ScriptRunner* runner() { return nullptr; }

  /// Equilibrium under the loads of `input.end`, starting from the state. Only for solvers whose settings say so.
  virtual StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options);

  /// The equilibrium a step further along a path, stable or not. Where solve_static() is.
  virtual PathReport follow_path(const Model& model, LoadPath& path, State& state, const StaticOptions& options,
                                 const PathStep& step);

  /// The model's topology has changed (fracture, a clamp that let go), or the state has been replaced by another.
  virtual void rebind(const Model& model, State& state) = 0;

  /// For those with their own balance: what held vertices and frames have exerted on them in the last step, by number [N], [N m].
  virtual void tell_reactions(std::vector<Vec3d>& vertex_force, std::vector<Vec3d>& frame_couple) const {
    (void)vertex_force, (void)frame_couple;
  }

  /// Makes its arrays in State::memory where the state does not have them yet, so that copies of it have them from the start.
  virtual void declare_memory(const Model& model, State& state) const { (void)model, (void)state; }

  /// Saves what the object remembers beside the state, or restores it into a solver that was just made for this model. For
  /// solvers without such memory there is nothing to do.
  virtual void carry(const Model& model, Archive& archive) { (void)model, (void)archive; }
};

/// The abilities of a solver, for any model.
struct Traits {
  bool statics = false;            ///< solve_static()
  bool loops = true;               ///< graphs that are not trees
  bool hinges = true;              ///< frames that turn about one axis
  bool anisotropy = true;          ///< a stiffness for every axis of a section
  bool rotational_inertia = true;  ///< frames with angular velocities
  bool torques = true;             ///< on frames: couples, and motors without a torque-speed curve
  bool rotary_damping = true;      ///< motors with a torque-speed curve
  bool damping = true;             ///< Kelvin-Voigt, of segments and joints
  bool integrators = true;  ///< its steps are those of implicit Euler, from which others are made (integration/integrator.hpp)
  bool integrator_choice = true;  ///< knows /analysis/integrator at all; others integrate in time by themselves
  bool own_balance = false;  ///< its equations are not those of the step potential: it tells what they leave itself, if anything
  bool reactions = true;     ///< what constraints exert can be told
  bool branches = true;      ///< vertices where more than two segments meet, and joints but those along a rod
  bool cables = true;        ///< segments without joints
  bool inner_pins = true;    ///< held vertices inside of a rod whose frames are free
  bool frame_holds = true;   ///< frames of segments that are held or driven
  bool fracture = true;      ///< segments and joints that break
  bool strains = true;       ///< places and frames show strains, from which section forces are read
  bool leaves_unstable = true;     ///< solve_static() leaves an unstable equilibrium, or tells that it is one
  bool stability = true;           ///< solve_static() tells stable equilibria from unstable ones
  bool single_directions = false;  ///< vertices that are held along one or two directions
  bool springs = false;            ///< between vertices or to a place
  bool contacts = false;           ///< reads StepInput::contacts
  bool any_obstacle = true;        ///< not only solid shapes that stay where they are
  bool control_at_start = false;   ///< reads StepInput::start; for others it may be the control at the end
  bool single_precision = false;   ///< can work in float
  bool threads = false;            ///< can work on several of them
  bool simd = false;               ///< works in SIMD lanes, where a model has something for them
  bool device = false;             ///< can work on another device than the CPU
};

/// The purpose of a solver, so that benchmarks and validation need no names. Several solvers may have the same role; the first of
/// them in the registry represents it.
enum class SolverRole : std::uint8_t {
  other,
  automatic,   ///< chooses among the others
  converging,  ///< solves each step to a tolerance
  sweeps,      ///< a few cheap iterations per step, as in the paper
  reference,   ///< exact and slow
};

/// The solver that will do the steps of a scene, and the reason, in one line.
struct SolverPlan {
  std::string solver;  ///< empty: there is nothing to tell
  std::string why;
};

/// The `solver` object of a scene: settings that know how to make their solver.
class SolverSettings {
 public:
  virtual ~SolverSettings() = default;
  Execution execution;  ///< the scene's

  virtual std::unique_ptr<Solver> make(const Model& model) const = 0;
  virtual const char* name() const = 0;
  virtual Traits traits() const = 0;
  virtual SolverRole role() const { return SolverRole::other; }
  /// For solvers that have one.
  virtual void set_goal(const StepGoal& goal) { (void)goal; }
  /// Whether a step that does not count as not converged is meant to be a solution.
  virtual bool works_to_tolerance() const { return false; }
  /// rho_infinity of a solver that integrates in time by itself, by generalized-alpha; none where it is not that.
  virtual std::optional<double> own_rho() const { return {}; }
  /// The instruction set that the steps of this model run on, which may be narrower than the setting.
  virtual Simd simd_on(const Model& model) const { return (void)model, traits().simd ? execution.simd : Simd::off; }
  /// Settings that do not fit the model or each other, with the solver's pointer as the place. What follows from the traits is
  /// refused in refusals.hpp. `driven`: some motor has a torque-speed curve.
  virtual void check(const Model& model, bool driven, Problems& problems) const { (void)model, (void)driven, (void)problems; }
  /// The control says what is held, h is the time step or 0 for statics.
  virtual SolverPlan plan(const Model& model, const Control& control, double h) const {
    (void)model, (void)control, (void)h;
    return {};
  }
  /// Warnings about settings that will run but disappoint, in steps of length h: one sentence each.
  virtual void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const {
    (void)model, (void)h, (void)driven, (void)warnings;
  }
  /// Bytes of working memory for a model of this size, where the solver can tell before it runs.
  virtual std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const {
    (void)model, (void)control, (void)h;
    return {};
  }
};

template <>
struct RegistryTraits<SolverSettings> {
  static constexpr const char* tag = "name";
  static constexpr const char* fallback = "automatic";
};
template <>
std::span<const RegistryEntry<SolverSettings>> registry<SolverSettings>();

/// Adds a solver for as long as the object lives: for programs, and tests, with a solver of their own.
class RegisteredSolver {
 public:
  explicit RegisteredSolver(const RegistryEntry<SolverSettings>& entry);
  ~RegisteredSolver();
  RegisteredSolver(const RegisteredSolver&) = delete;
  RegisteredSolver& operator=(const RegisteredSolver&) = delete;
};

/// A registered solver's settings, all of them default. Throws std::logic_error for a name that is not registered.
std::unique_ptr<SolverSettings> make_settings(const std::string& name);
/// The name of the first registered solver with this role. Throws std::logic_error when there is none.
std::string solver_with(SolverRole role);

}  // namespace osier
