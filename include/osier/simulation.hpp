// Runs a scene, step by step or as a whole.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osier/certificate.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "osier/pose.hpp"
#include "osier/scene.hpp"

namespace osier {

namespace contact {
struct Record;
}

/// Numbers that tell how a state is doing. Energies in J, strains without unit, curvature in 1/m.
struct Diagnostics {
  double time = 0;
  long step = 0;
  double kinetic = 0, stretch_shear = 0, bend_twist = 0, external = 0;
  double total() const { return kinetic + stretch_shear + bend_twist + external; }
  double residual = 0, residual_relative = 0;  ///< of the last step's equations [N]; relative to the largest force at work
  double max_stretch = 0;                      ///< largest |C^ss|
  double max_bend = 0;                         ///< largest change of curvature or twist (2/l)|Im| [1/m]
  Vec3d momentum, angular_momentum;
  int iterations = 0;
  double load_factor = 1;   ///< statics: share of the duration, and of the loads where they ramp
  int unstable_modes = -1;  ///< statics: directions in which the energy falls away from this equilibrium
  Index vertices_alive = 0, segments_alive = 0;
};

/// Force [N] and moment about a point [N m].
struct Wrench {
  Vec3d force, moment;
};

/// Unstable equilibria that a static analysis has left for stable ones.
struct BranchesLeft {
  long count = 0;
  double first_at = -1;  ///< pseudo-time by which the first of them had become unstable [s]
  int modes = 0;         ///< in so many directions
  double kept_at = -1;   ///< the last pseudo-time at which an unstable one was kept against `branch`; negative: none was [s]
};

/// Critical loads that load control has passed within a load step, where rods snapped or buckled to another branch.
struct Snaps {
  long count = 0;
  double at = -1;        ///< pseudo-time of the first of them [s]
  bool is_jump = false;  ///< the shape jumped there (a limit point); otherwise it left the path gradually (a bifurcation)
  double turn = 0;       ///< by which a segment turned in that load step, at most [rad]
};

/// A place of a path of equilibria where the stability changes.
struct CriticalPoint {
  double load = 0;        ///< factor
  bool is_limit = false;  ///< the load is largest or smallest there; otherwise another path branches off
  int modes_before = 0, modes_after = 0;
  std::vector<std::string> loads;  ///< in their own units; filled in by run_scene()
};

/// The path that a static analysis by arc length has followed.
struct PathTaken {
  double load = 0, most_load = 0;  ///< factors: at the end, and the largest
  bool is_complete = false;        ///< the end is at the full load
  std::vector<CriticalPoint> critical_points;
};

class Simulation {
 public:
  explicit Simulation(const Scene& scene);
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  /// Another simulation that stands where this one does and goes on by itself, with everything that was changed while it ran. Its
  /// steps are those of this one, to the last bit.
  Simulation copy() const;
  /// Becomes another simulation of the same graph, a copy from before for example; the arrays of its state stay where they are.
  void assign(Simulation&& other);

  /// Watches every step from now on (CertificateReport), and makes step() throw CertificateError, with the state of before, when
  /// something passes through something, or energy or momentum come out of nothing. Before the first step. Throws InputError for
  /// statics and for scenes without contact.
  void certify();
  bool is_certified() const;
  const CertificateReport& certificate() const;  ///< empty without certify()

  /// One time step, or one load step of a static analysis. Throws RunError when the state is no longer finite (the state then
  /// still is the last good one) or a static step cannot be converged. `measure` also evaluates the step's residual.
  StepReport step(bool measure = false);
  /// Takes up to `count` steps without looking at the state in between, on a solver that needs nothing of the host meanwhile, and
  /// leaves the state where that solver has it until somebody asks for it. Returns how many it took, with last_report() that of
  /// all of them: 0 where something in the scene needs every step to be seen (why_no_run_ahead()).
  int run_ahead(int count);
  /// One sentence; empty where run_ahead() takes steps.
  std::string why_no_run_ahead() const;
  /// As many steps as a frame has; `after_step` runs after each.
  void advance_frame(const std::function<bool()>& after_step = {});

  bool is_static() const;
  int frame_count() const;  ///< frames after the initial one
  int steps_per_frame() const;
  double time_step() const;  ///< 0 for statics
  /// Steps in which the solver that `automatic` chose did not converge, and that another one took instead, or that were
  /// divided into smaller ones.
  long steps_by_others() const;
  long steps_divided() const;
  /// Steps that implicit Euler took because the midpoint rule would have made energy.
  long steps_damped() const;
  /// Directions in which the energy falls away from the equilibrium that it started from; -1 where it did not start from one.
  int start_unstable_modes() const;
  /// Welds and joints whose time to close has come and whose vertices have not met.
  long welds_not_met() const;
  /// Steps that were divided because prescribed motion turns something by more than a quarter turn in them.
  long steps_turned() const;
  BranchesLeft branches_left() const;
  Snaps snaps() const;
  /// Of an analysis by arc length; null: of another kind.
  const PathTaken* path() const;
  /// A static analysis that was to stop at an instability has found it; its state and time are the critical ones. By arc length:
  /// the path has come to its end.
  bool finished() const;
  /// The pseudo-time of the loads [s]; `state().time` but along a path, where that is the length of the path.
  double pseudo_time() const;

  const Model& model() const;  ///< changes when something breaks
  const State& state() const;
  State& mutable_state();  ///< for tests and bindings that set their own initial state
  Diagnostics diagnostics() const;
  const StepReport& last_report() const;
  const Control& control() const;  ///< loads and targets of the last step, before the first one those of time 0
  /// What constraint number `index` of the scene exerts on the rods in the last step, inertia and damping included, moments about
  /// the middle of the vertices that it holds; NaN before the first step and in scenes without a probe of reactions, 0 once it
  /// has let go.
  Wrench reaction(std::size_t index, bool material_axes = false) const;
  /// What rods exerted on obstacle number `index` of the scene in the last step, moments about its centre; nothing before it.
  Wrench load_on_obstacle(std::size_t index) const;
  /// What touched in the last step (contact/record.hpp).
  const contact::Record& touched() const;
  Frame frame(int index) const;  ///< valid until the next step or the next call
  /// Frames carry what touches, also where the scene does not ask for it.
  void show_contacts(bool on);
  /// Frames carry section forces, strains, moments and curvatures, likewise.
  void show_sections(bool on);
  /// reaction() is known after every step from now on, also without a probe. Throws InputError where the solver cannot tell.
  void measure_reactions();
  /// Arrays of the state stay where they are from now on, so that somebody may look at them while it runs. They do anyway, but
  /// for velocities, which solvers exchange with those of the step before.
  void keep_addresses();

  // For those who take part while it runs.

  /// Pulls a vertex towards a point with a damped spring, from the next step on, until stop_pulling. Any stiffness [N/m] is
  /// stable; 0 takes one that suits the rod. Throws InputError for statics, a vertex that does not exist or one that is held.
  void pull(Index vertex, const Vec3d& target, double stiffness = 0);
  void stop_pulling();
  /// Force number `index` of the scene acts, or not.
  void enable_force(std::size_t index, bool on);

  // Constraints and obstacles by their number in the scene (Scene::constraint, Scene::obstacle). What is held moves as one body
  // about its centre, which for a constraint is the middle of the vertices that it holds, and turns are those since the start.
  // Whoever is led once follows its `motion` in the scene no more. All throw InputError where it makes no sense, statics
  // included.

  Pose constraint_pose(std::size_t index) const;
  /// There by the end of the next step, or after so many seconds, along a straight line and by the shorter turn.
  void lead_constraint(std::size_t index, const Pose& pose, double seconds = 0);
  Pose obstacle_pose(std::size_t index) const;
  void lead_obstacle(std::size_t index, const Pose& pose, double seconds = 0);
  /// The speed [rad/s] of a motor that has one in the scene, the torque [N m] at all speeds of one that has a torque.
  void drive_motor(std::size_t index, double value);
  /// It lets go at the start of the next step.
  void release_constraint(std::size_t index);
  /// Any value of the scene, by its JSON pointer: "/forces/0/acceleration", "[0, 0, -9.81]". What acts through a force costs
  /// microseconds; anything else (materials, solver, step) compiles the scene again and goes on in it. Throws InputError, with
  /// nothing changed, when the value is wrong or makes rods of another shape or another graph.
  void set(const std::string& pointer, const std::string& json);
  /// The scene with everything that was set.
  std::string scene_json() const;
  /// Goes on where another simulation stands: time, state, what has broken or let go, which forces act. Needs the same graph;
  /// returns false, with nothing changed, when it differs.
  bool continue_from(const Simulation& other);

  /// Everything that the next steps depend on, what was set at run time included, as bytes for this version of the engine on this
  /// machine. Throws RunError for a simulation that is certified: its accounts are those of a whole run.
  std::string save() const;
  /// Goes on where a simulation of the same scene (scene_json() at that time) was saved: the next steps are the same, to the last
  /// bit. Throws InputError, with nothing changed, where the bytes belong to another scene, and RunError where they are damaged.
  void restore(const std::string& saved);
  /// A fingerprint of the state and of all that the solver keeps in it, of what is broken, welded or let go.
  std::uint64_t state_hash() const;

 private:
  struct Impl;
  Simulation(std::shared_ptr<const Setup> setup, bool start_in_equilibrium);
  std::unique_ptr<Impl> impl_;
};

struct RunOptions {
  std::filesystem::path folder;                  ///< empty: nothing is written
  bool resume = false;                           ///< goes on from the checkpoint in the folder, if it is of this scene
  bool certify = false;                          ///< see Simulation::certify
  int frames = -1;                               ///< fewer or more frames than the scene says
  const std::atomic<bool>* interrupt = nullptr;  ///< set from a signal handler; the run stops after the step at hand
  std::function<void(int frame, int frames, double ms)> progress;
  std::vector<std::shared_ptr<Writer>> writers;       ///< beside those of the scene's formats
  std::function<void(const Simulation&)> frame_done;  ///< after every frame, the initial one included
};

/// What a run did; `--stats` writes it as JSON.
struct RunStats {
  Index vertices = 0, segments = 0, joints = 0;
  int frames = 0;
  int resumed_from = -1;  ///< the frame of the checkpoint that it went on from; negative: it began at the start
  long steps = 0;
  long iterations = 0;  ///< sweeps or Newton iterations in all
  int threads = 1;
  std::string precision, simd, solver, device;
  double ms_per_frame_min = 0, ms_per_frame_median = 0;
  double ns_per_vertex_iteration = 0;  ///< from the fastest frame
  double wall_seconds = 0;
  double simulated_seconds = 0;
  double energy_total = 0, max_stretch = 0, max_bend = 0, residual = 0;
  long steps_not_converged = 0;                 ///< above the tolerance of their solver
  long welds_not_met = 0;                       ///< at the end, though their time to close had come
  long steps_held_back = 0;                     ///< in which contact held prescribed motion back
  double held_back_at = 0;                      ///< time of the first of them [s]
  long steps_by_others = 0, steps_divided = 0;  ///< see Simulation
  long steps_turned = 0, steps_damped = 0;      ///< likewise
  BranchesLeft branches_left;                   ///< likewise
  bool stability_unknown =
      false;                  ///< an equilibrium was found by a solver that does not tell stable equilibria from unstable ones
  bool follows_paths = true;  ///< the solver can stay on a path through unstable equilibria
  long steps_judged = 0, steps_not_solved = 0;        ///< the last of every frame; those that left more than kUnsolved
  double worst_residual = -1, worst_residual_at = 0;  ///< of these, relative to the largest force at work, and when [s]
  /// A step is no solution of its equations where more than this share of the largest force is left.
  static constexpr double kUnsolved = 0.1;
  /// What is to be said of the run's convergence, in whole sentences; nothing where all is well.
  std::vector<std::string> remarks() const;
  int start_unstable_modes = -1;        ///< see Simulation
  bool ends_by_count = false;           ///< steps ended after so many iterations, whatever was left
  Snaps snaps;                          ///< see Simulation
  std::vector<std::string> snap_loads;  ///< what acted at the first of them
  std::optional<PathTaken> path;        ///< of statics by arc length
  /// What is to be said of the path, one sentence a line.
  std::vector<std::string> path_lines() const;
  std::vector<std::string> critical_loads;  ///< what acts at that time, each in its own unit, as in "/forces/0: 0.5 N"
  double instability_time = -1;  ///< pseudo-time at which equilibrium lost its stability; negative: not looked for or not found
  Index vertices_alive = 0, segments_alive = 0;
  bool non_finite = false;
  bool interrupted = false;
  std::string error;  ///< why the run failed, or empty
  bool certified = false;
  CertificateReport certificate;
  /// What the certificate has to say, one sentence a line; nothing without one.
  std::vector<std::string> certificate_lines() const;
  void judge(const StepReport& report, double time);
  /// Of the part of the run before a checkpoint.
  void take_counts(const RunStats& other);
  std::string to_json() const;
};

/// Runs and records. A run that fails keeps the frames written so far, reports them in the stats and leaves `error` set.
/// Throws InputError when the folder cannot be written to.
RunStats run_scene(const Scene& scene, const RunOptions& options);

/// Counts, ranges and estimates for `osier info`.
std::string scene_info_json(const Scene& scene);
std::string scene_info_text(const Scene& scene);

const char* version();

}  // namespace osier
