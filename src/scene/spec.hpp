// A scene as its author wrote it: the root object of the scene language and its parts. docs/scene.md and the JSON Schema are
// generated from these descriptions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contact/settings.hpp"
#include "forces/attachment.hpp"
#include "forces/force.hpp"
#include "integration/integrator.hpp"
#include "obstacles/obstacle_spec.hpp"
#include "scene/material_ref.hpp"
#include "scene/shape.hpp"
#include "scene/structure.hpp"
#include "solvers/solver.hpp"

namespace osier {

struct SegmentMaterial {
  int first = 0, last = -1;
  MaterialRef material;
  std::string where;
  static const char* kind() { return "segment_material"; }
  static const char* help() { return "Another material for a stretch of a rod."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("first", first, "First segment; negative counts from the end");
    f("last", last, "Last segment, included; negative counts from the end");
    f("material", material, "Its material", {.required = true});
  }
};

struct VelocitySpec {
  Vec3d linear{0, 0, 0}, angular{0, 0, 0}, about{0, 0, 0};
  static const char* kind() { return "velocity"; }
  static const char* help() { return "Initial velocity: linear + angular × (x − about)."; }
  template <class F>
  void fields(F& f) {
    f("linear", linear, "Common velocity", {.unit = "m/s"});
    f("angular", angular, "Angular velocity, with `rotational_inertia` of the sections too", {.unit = "rad/s"});
    f("about", about, "Centre of the rotation", {.unit = "m"});
  }
};

enum class FrameRule : std::uint8_t { transport, up };
template <>
struct Choices<FrameRule> {
  static constexpr std::array<const char*, 2> names{"transport", "up"};
};

struct RodSpec {
  std::string name;
  Tagged<Shape> shape, pose;
  std::optional<int> segments;
  std::optional<double> segment_length;
  MaterialRef material;
  std::vector<SegmentMaterial> segment_materials;
  Track<double> taper, pose_twist;
  std::optional<Vec3d> up;
  FrameRule frame = FrameRule::transport;
  VelocitySpec velocity;
  std::string where;
  static const char* kind() { return "rod"; }
  static const char* help() { return "One rod along a curve."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Name for selections; `rod0`, `rod1`, … when left out");
    f("shape", shape, "Rest shape", {.required = true});
    f("pose", pose, "Initial shape, where it differs from the rest shape; sampled like the rod", {});
    f("segments", segments, "Number of segments, of equal length", {.min = 1, .max = kMostSegments});
    f("segment_length", segment_length, "Wanted segment length, instead of `segments`",
      {.unit = "m", .min = 0, .above_min = true});
    f("material", material, "Material", {.required = true});
    f("segment_materials", segment_materials, "Exceptions along the rod; later ones win");
    f("taper", taper,
      "Linear size of the section, as a multiple of the material's, over the fraction of the rest length: EA, GA and line "
      "density go with its square, EI, GJ and rotational inertia with its fourth power; read at the middle of each segment",
      {.min = 0, .above_min = true, .over = "fraction"});
    f("up", up, "Direction near which d1 of the first segment points, or of every segment with `frame` up");
    f("frame", frame,
      "How the section's axes run along the rod: by parallel transport from the first segment, or everywhere with d1 as near "
      "`up` as the segment's direction allows");
    f("pose_twist", pose_twist,
      "Turn of the frames about d3 in the initial state, beyond what the pose gives, over the fraction of the rest length; the "
      "rest shape is not changed",
      {.unit = "°", .over = "fraction"});
    f("velocity", velocity, "Initial velocity");
  }
};

struct WeldSpec {
  Selection vertices;
  bool joint = true;
  std::optional<double> bend_twist;
  double tolerance = 1e-6;
  std::optional<double> close, within, open;
  bool is_timed() const { return close || within || open; }
  std::string where;
  static const char* kind() { return "weld"; }
  static const char* help() {
    return "Makes vertices of several rods one vertex. With `joint` the rods keep their rest angle there (every segment of one "
           "rod "
           "with every segment of another); without, they are hinged freely. With `close` or `within` two vertices become one "
           "during the run, like a plug in its socket, and the rods keep the angle that they have then; with `open` they part "
           "again.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("vertices", vertices, "Two or more vertices at the same place", {.required = true});
    f("joint", joint, "Whether the angle between the rods is kept");
    f("bend_twist", bend_twist, "Bending and twisting stiffness of these joints, when it differs from the rods'",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("tolerance", tolerance, "Largest distance between the vertices", {.unit = "m", .min = 0});
    f("close", close, "Time from which two vertices become one; from the start when only `within` is given",
      {.unit = "s", .min = 0});
    f("within", within,
      "Distance at which they do; they are moved together then. A tenth of the shortest segment there when left out; while they "
      "are farther apart, a weld with `close` waits",
      {.unit = "m", .min = 0, .above_min = true});
    f("open", open, "Time at which they part", {.unit = "s", .min = 0});
    if (close && open && !(*close < *open)) f.problem("`open` is not after `close`", "let it close first");
  }
};

struct JointSpec {
  Selection segments;
  std::optional<double> bend_twist;
  std::optional<Quatd> rest_rotation;
  std::optional<double> close, open;
  std::string where;
  static const char* kind() { return "joint"; }
  static const char* help() { return "An extra joint between two segments, with the present angle as rest angle unless given."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("segments", segments, "The two segments", {.required = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness; the segments' own when left out",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("rest_rotation", rest_rotation, "Rest rotation conj(q_a) q_b");
    f("close", close, "Time from which it holds, with the angle of that time as rest angle unless given",
      {.unit = "s", .min = 0});
    f("open", open, "Time at which it lets go", {.unit = "s", .min = 0});
    if (close && open && !(*close < *open)) f.problem("`open` is not after `close`", "let it close first");
  }
};

struct PointMassSpec {
  Selection vertices, segments;
  double mass = 0;
  std::optional<Vec3d> inertia;
  std::string where;
  static const char* kind() { return "point_mass"; }
  static const char* help() {
    return "Something heavy that is fastened to a rod: a mass on vertices, moments of inertia on segments, or both. Gravity acts "
           "on it; it has no extent.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("vertices", vertices, "Where the mass is, all of it at each of them");
    f("mass", mass, "Mass", {.unit = "kg", .min = 0});
    f("segments", segments, "Whose frames turn with the inertia");
    f("inertia", inertia, "Moments of inertia about d1, d2, d3; needs `rotational_inertia`", {.unit = "kg·m²"});
    if (f.has("mass") != f.has("vertices")) f.problem("`mass` and `vertices` go together", "give both");
    if (f.has("inertia") != f.has("segments")) f.problem("`inertia` and `segments` go together", "give both");
    if (!f.has("mass") && !f.has("inertia")) f.problem("neither `mass` nor `inertia` is given", "give one of them");
  }
};

struct FractureSpec {
  std::optional<double> strain_limit, curvature_limit, twist_limit;
  static const char* kind() { return "fracture"; }
  static const char* help() {
    return "Breaking of what has no limit of its own; tested after every time step. A segment that breaks leaves a gap. A joint "
           "that breaks leaves a hinge: the pieces stay together and bear no moment there.";
  }
  template <class F>
  void fields(F& f) {
    f("strain_limit", strain_limit, "A segment breaks when |C^ss| reaches this strain", {.min = 0, .above_min = true});
    f("curvature_limit", curvature_limit, "A joint breaks when its bend away from rest, per length, reaches this",
      {.unit = "1/m", .min = 0, .above_min = true});
    f("twist_limit", twist_limit, "A joint breaks when its twist away from rest, per length, reaches this",
      {.unit = "rad/m", .min = 0, .above_min = true});
    f.at_least_one({"strain_limit", "curvature_limit", "twist_limit"});
  }
};

enum class ProbeAxes : std::uint8_t { world, material };
template <>
struct Choices<ProbeAxes> {
  static constexpr std::array<const char*, 2> names{"world", "material"};
};

struct ProbeSpec {
  std::string name;
  Selection vertex, segment, joint, clamp;
  std::optional<std::string> rod, reaction;
  std::optional<double> at;
  ProbeAxes axes = ProbeAxes::world;
  std::string where;
  static const char* kind() { return "probe"; }
  static const char* help() {
    return "Columns of `probes.csv`. A vertex gives position and velocity; a segment its frame, section force and strain; a "
           "joint its moment, bending angle and curvature; a clamp its elastic moment; a `reaction` what a constraint exerts, or "
           "what "
           "an obstacle bears; a "
           "place `at` a fraction of a `rod` position, "
           "force, moment, strain and curvature there. Axes and signs: [output.md](output.md#forces-and-moments).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("vertex", vertex, "One vertex: x y z [m], vx vy vz [m/s]");
    f("segment", segment,
      "One segment: frame qx qy qz qw, force fx fy fz [N] in world axes, tension [N], force n1 n2 n3 [N] and strain g1 g2 g3 in "
      "material axes");
    f("joint", joint,
      "One joint: moment mx my mz [N·m] in world axes, angle [rad] away from rest, moment m1 m2 m3 [N·m] and curvature k1 k2 k3 "
      "[1/m] in material axes");
    f("clamp", clamp,
      "One clamped vertex: elastic moment mx my mz [N·m] that the clamp exerts on the rod, world axes; with damping see "
      "`reaction`");
    f("reaction", reaction,
      "Name of a constraint: force fx fy fz [N] and moment mx my mz [N·m], about the middle of the vertices it holds, that it "
      "exerts on the rods in the last step, inertia and damping included; nan before the first step. Or of an obstacle: force "
      "and moment, about its centre (`point` of a plane), that the rods exert on it in the last step");
    f("axes", axes,
      "With `reaction`: world axes, or the material ones of the first frame or segment that the constraint holds; of an "
      "obstacle, world axes alone");
    f("rod", rod,
      "A rod's name, with `at`: position x y z [m], tangent tx ty tz, and in material axes force n1 n2 n3 [N], moment m1 m2 m3 "
      "[N·m], strain g1 g2 g3, curvature k1 k2 k3 [1/m]");
    f("at", at, "Where on the `rod`: 0 is its start, 1 its end, in between in proportion to the rest length",
      {.min = 0, .max = 1});
    f.exactly_one({"vertex", "segment", "joint", "clamp", "rod", "reaction"});
    if (f.has("axes") && !f.has("reaction")) f.problem("`axes` has no effect without `reaction`", "leave it out");
  }
};

/// A word from the format registry.
struct FormatName {
  std::string name, where;
  static constexpr bool only_short = true;
  static const char* kind() { return "format"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

enum class Rate : std::uint8_t { none, frame, step };
template <>
struct Choices<Rate> {
  static constexpr std::array<const char*, 3> names{"none", "frame", "step"};
};

/// How often the run is saved, so that it can be resumed.
struct CheckpointSpec {
  std::optional<int> frames;
  std::optional<double> minutes;
  bool off = false;
  std::string where;
  static const char* kind() { return "checkpoint"; }
  static const char* help() {
    return "How often a run saves itself in its folder, for `osier run --resume`; `none`: never.";
  }
  /// "none"
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("frames", frames, "After every so many frames", {.min = 1, .max = 1e9});
    f("minutes", minutes, "After the first frame that ends so long after the last time", {.unit = "min", .min = 0});
    f.exactly_one({"frames", "minutes"});
  }
};

struct OutputSpec {
  std::vector<FormatName> formats{{"hdf5", {}}};
  Rate diagnostics = Rate::frame;
  Rate probes = Rate::frame;
  bool sections = false;
  bool contacts = false;
  CheckpointSpec checkpoint;
  std::string where;
  static const char* kind() { return "output"; }
  static const char* help() { return "What a run writes into its folder."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("formats", formats, "Trajectory formats, see `osier list formats`; `hdf5` when left out");
    f("sections", sections, "Adds section forces, strains, moments and curvatures to the trajectory");
    f("contacts", contacts, "Adds contacts to the trajectory: where rods touch, the gap, normal force and friction");
    f("diagnostics", diagnostics, "How often a line goes to `diagnostics.csv`");
    f("probes", probes, "How often a line goes to `probes.csv`");
    f("checkpoint", checkpoint,
      "How often the run saves itself, so that it can be resumed after whatever ended it; after every frame when left out");
  }
};

/// A height, or "none".
struct GroundSpec {
  std::optional<double> height;  ///< along the direction against gravity [m]; nothing: no ground
  static constexpr bool only_short = true;
  static const char* kind() { return "ground"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

struct ViewSpec {
  std::optional<GroundSpec> ground;
  static const char* kind() { return "view"; }
  static const char* help() {
    return "How the scene is shown by `osier view`, `osier render` and `--html` pages; nothing else reads it.";
  }
  template <class F>
  void fields(F& f) {
    f("ground", ground,
      "Height at which the ground is drawn, against gravity from the origin, or `none`. When left out, a level plane among the "
      "obstacles is the ground, and without one it lies below the rods. Nothing collides with a ground that is only drawn",
      {.unit = "m"});
  }
};

/// Where a run starts, when it is not the initial pose.
struct StartSpec {
  std::string run;  ///< empty: from equilibrium
  int frame = -1;
  std::string where;
  static const char* kind() { return "start"; }
  static const char* help() {
    return "Starts from a frame of a recorded run of the same rods: its positions, velocities and material frames take the place "
           "of "
           "the initial pose, what has broken is broken, and clamps hold the directions that clamps held there. Time starts at "
           "0, and "
           "constraints hold and move things from where they are in that frame.";
  }
  /// "equilibrium"
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("run", run, "Folder of the run, or its trajectory.h5; a relative name starts at the folder of the scene",
      {.required = true});
    f("frame", frame, "Frame of the run, counted from 0; negative numbers count from the end");
  }
};

enum class Branch : std::uint8_t { stable, follow };
template <>
struct Choices<Branch> {
  static constexpr std::array<const char*, 2> names{"stable", "follow"};
};

enum class LoadControl : std::uint8_t { load, arc_length };
template <>
struct Choices<LoadControl> {
  static constexpr std::array<const char*, 2> names{"load", "arc_length"};
};

enum class AnalysisKind : std::uint8_t { dynamic, statics };

class Analysis {
 public:
  explicit Analysis(AnalysisKind kind) : what(kind) {}
  virtual ~Analysis() = default;
  const AnalysisKind what;
  std::optional<StartSpec> start;
};
template <>
std::span<const RegistryEntry<Analysis>> registry<Analysis>();

class DynamicAnalysis final : public Analysis {
 public:
  DynamicAnalysis() : Analysis(AnalysisKind::dynamic) {}
  double step = 1e-3, duration = 1;
  std::optional<double> fps;
  std::optional<int> frame_steps;
  std::optional<IntegratorKind> integrator;
  double rho_infinity = 0.8;
  std::optional<int> iterations;
  std::optional<double> tolerance;

  /// Time steps per frame, the length of each [s], and frames per second.
  int steps_per_frame() const;
  double time_step() const;
  double frames_per_second() const;
  int frame_count() const;

  static const char* kind() { return "dynamic"; }
  static const char* help() {
    return "Time stepping. The interval between two frames, 1/fps, is divided into whole equal steps no longer than `step`. Or "
           "`steps_per_frame` says how many there are: beside `fps` of length 1/(fps·n), beside `step` of that length, a frame "
           "every n steps.";
  }
  template <class F>
  void fields(F& f) {
    f("step", step, "Longest time step h", {.unit = "s", .min = 0, .above_min = true});
    f("duration", duration, "Simulated time, rounded up to whole frames", {.unit = "s", .min = 0, .above_min = true});
    f("fps", fps, "Frames per second; 30 when left out", {.unit = "1/s", .min = 0, .above_min = true});
    f("steps_per_frame", frame_steps, "Steps per frame, beside either `fps` or `step`", {.min = 1, .max = 1e9});
    f("integrator", integrator,
      "Time integration. `implicit_euler`: of first order, damps everything; the papers' own. Of second order: `bdf2`, which "
      "damps what is too fast for the step and is stable whatever the step; `midpoint`, which keeps momentum and does not damp, "
      "but wants steps that follow the motion; `generalized_alpha`, between the two by `rho_infinity`. When left out: "
      "`implicit_euler` for sweeps and where motors have a torque-speed curve, otherwise `bdf2`");
    f("rho_infinity", rho_infinity,
      "Share of the fastest oscillations that a step of `generalized_alpha` leaves over: 0 is `bdf2`, 1 is `midpoint`",
      {.min = 0, .max = 1});
    f("start", start,
      "Where it starts: in the initial pose when left out, in the `equilibrium` of the loads and constraints at time 0, or in a "
      "frame "
      "of a run. Velocities of rods stay those of the scene in an equilibrium");
    f("iterations", iterations, "Short for /solver/iterations", {.min = 1});
    f("tolerance", tolerance, "Short for /solver/tolerance", {.min = 0, .max = 1, .above_min = true});
    step_given_ = f.has("step");
    if (step_given_ && f.has("fps") && f.has("steps_per_frame"))
      f.problem("`step`, `fps` and `steps_per_frame` are given", "keep two of them");
    if (f.has("rho_infinity") && integrator != IntegratorKind::generalized_alpha)
      f.problem("`rho_infinity` has no effect", "say `integrator` generalized_alpha, or leave it out");
  }

 private:
  bool step_given_ = false;
};

class StaticAnalysis final : public Analysis {
 public:
  StaticAnalysis() : Analysis(AnalysisKind::statics) {}
  int load_steps = 1;
  double duration = 1;
  bool ramp = true;
  double tolerance = 1e-8;
  int max_iterations = 200;
  bool stop_at_instability = false;
  Branch branch = Branch::stable;
  LoadControl control = LoadControl::load;
  int path_steps = 1000;
  bool by_arc_length() const { return control == LoadControl::arc_length; }
  /// Whether the path is followed through unstable equilibria.
  bool along_path() const { return stop_at_instability || branch == Branch::follow; }
  static const char* kind() { return "static"; }
  static const char* help() {
    return "Equilibrium, found in load steps; a step that does not converge is cut in halves, and the run fails if that does not "
           "help. Each load step is a frame; keyframes are read at its pseudo-time.";
  }
  template <class F>
  void fields(F& f) {
    f("control", control,
      "`load`: the load grows step by step, and where it passes the largest load of a path (a limit point) the rods snap to "
      "another branch, which the run says. `arc_length`: the load is an unknown, too, and the path of equilibria is followed "
      "through limit points, forth and back, until it reaches the full load, or minus the full load (docs/theory/arc_length.md). "
      "Every step is a frame, and critical points are frames of their own; the time of a frame is the length of the path, its "
      "`load_factor` the share of the full load and of the pseudo-time of prescribed motion");
    f("load_steps", load_steps,
      "Steps from no load to full load. With `arc_length` no step is longer than one over this: the length of a step is the root "
      "of the mean square turn of the rods in rad and of the change of the load factor",
      {.min = 1});
    f("path_steps", path_steps, "With `control` arc_length: the run ends after so many steps, if not before", {.min = 1});
    f("duration", duration, "Pseudo-time of the last step, for keyframes", {.unit = "s", .min = 0, .above_min = true});
    f("ramp", ramp, "Whether loads grow in proportion to the pseudo-time; `false` takes them as keyframed");
    f("tolerance", tolerance, "Largest left-over force, relative to the largest force at work", {.min = 1e-15, .max = 1});
    f("max_iterations", max_iterations, "Iterations per load step", {.min = 1});
    f("stop_at_instability", stop_at_instability,
      "Stops at the pseudo-time where the equilibrium becomes unstable (a buckling load) or ends (a limit point, from where the "
      "rods would snap), however long the load steps. Directions that cost no energy (a rod between pins spins about its line) "
      "are no instability; loads without a potential (torques) are left out of the judgement");
    f("start", start, "Where it starts: in the initial pose when left out, or in a frame of a run");
    f("branch", branch,
      "Past a critical load: `stable` leaves an equilibrium that has become unstable, downhill along its softest mode, and says "
      "so; `follow` stays on the path, unstable or not. With torques, which have no potential, no branch is left");
    if (f.has("path_steps") && !by_arc_length())
      f.problem("`path_steps` belongs to `control` arc_length", "leave it out, or set `control` to arc_length");
    if (f.has("branch") && by_arc_length())
      f.problem("`branch` has no effect beside `control` arc_length, which follows the path", "leave one of them out");
    if (f.has("branch") && stop_at_instability)
      f.problem("`branch` has no effect beside `stop_at_instability`", "leave one of them out");
  }
};

struct SceneSpec {
  std::string schema, name, description;
  std::map<std::string, Material> materials;
  std::vector<RodSpec> rods;
  std::vector<Tagged<Structure>> structures;
  std::vector<WeldSpec> welds;
  std::vector<JointSpec> joints;
  std::vector<PointMassSpec> point_masses;
  std::vector<Tagged<Attachment>> constraints;
  std::vector<Tagged<Force>> forces;
  std::vector<Tagged<ObstacleSpec>> obstacles;
  std::optional<FractureSpec> fracture;
  std::optional<contact::Settings> contact;
  bool rotational_inertia = false;
  Tagged<SolverSettings> solver;
  Execution execution;
  Tagged<Analysis> analysis;
  std::vector<ProbeSpec> probes;
  OutputSpec output;
  ViewSpec view;

  /// Null for the other kind of analysis.
  const DynamicAnalysis* dynamic() const {
    return analysis && analysis->what == AnalysisKind::dynamic ? static_cast<const DynamicAnalysis*>(analysis.get()) : nullptr;
  }
  const StaticAnalysis* statics() const {
    return analysis && analysis->what == AnalysisKind::statics ? static_cast<const StaticAnalysis*>(analysis.get()) : nullptr;
  }

  /// Of dynamics; that of the solver's kind where the scene names none.
  TimeIntegrator integrator() const;

  static const char* kind() { return "scene"; }
  static const char* help() { return "The root object."; }
  template <class F>
  void fields(F& f) {
    f("$schema", schema, "For editors: where the JSON Schema lies");
    f("name", name, "Name; the file's name when left out");
    f("description", description, "What the scene shows");
    f("materials", materials, "Materials by name");
    f("rods", rods, "Rods along curves");
    f("structures", structures, "Generated graphs");
    f("welds", welds, "Vertices that become one");
    f("joints", joints, "Extra joints");
    f("point_masses", point_masses, "Masses fastened to rods");
    f("constraints", constraints, "What is held or driven");
    f("forces", forces, "Loads; without any, not even gravity acts");
    f("fracture", fracture, "Breaking");
    f("obstacles", obstacles, "What rods collide with other than rods; needs `contact`");
    f("contact", contact, "Contact of rods with each other and with themselves; none when left out");
    f("rotational_inertia", rotational_inertia,
      "Whether segments resist turning as their sections do, rho I1, rho I2 and rho (I1 + I2) per length; without, frames follow "
      "at once as in the paper. Needs a section and a density or line density everywhere");
    f("solver", solver, "Solver and its settings; `automatic`, which chooses, when left out");
    f("execution", execution, "How it is computed: threads, instructions, number type");
    f("analysis", analysis, "Dynamics (default) or statics");
    f("probes", probes, "Measured points");
    f("output", output, "What to write");
    f("view", view, "How it is shown");
  }
};

}  // namespace osier
