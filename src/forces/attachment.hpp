// What holds or drives a part of the rods: pin, fix, clamp, hinge, each with keyframed motion and release.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/track.hpp"
#include "exec/parallel.hpp"
#include "forces/directions.hpp"
#include "forces/file_motion.hpp"
#include "forces/step_script.hpp"
#include "math/quat.hpp"
#include "model/rod_graph.hpp"
#include "model/selection.hpp"
#include "osier/pose.hpp"

namespace osier {

struct Turn {
  Vec3d axis{0, 0, 1};
  Vec3d center{0, 0, 0};
  Track<double> angle, speed;
  std::string where;
  static const char* kind() { return "turn"; }
  static const char* help() { return "Rotation about a fixed axis, by an angle or at a speed."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("axis", axis, "Direction of the axis");
    f("center", center, "A point on the axis", {.unit = "m"});
    f("angle", angle, "Angle", {.unit = "deg"});
    f("speed", speed, "Angular speed, instead of `angle`; the angle is its integral over time", {.unit = "rad/s"});
    f.exactly_one({"angle", "speed"});
  }
};

struct Carrier;

/// Motion that somebody prescribes while a simulation runs: as one body, by the place of its centre and its turn since the start.
struct LedMotion {
  Vec3d rest;  ///< the centre before any motion
  Track<Vec3d> place;
  Track<Quatd> turn;  ///< keys as those of `place`
  Pose at(double t) const { return {place.at(t), normalized(turn.at(t))}; }
};

/// x -> center + R(t) (x - center) + translate(t); frames: q -> R(t) orientation(t) q; then both as the carrier goes
struct Motion {
  Track<Vec3d> translate;
  std::optional<Turn> rotate;
  Track<Quatd> orientation;
  std::optional<FileMotion> file;
  std::optional<std::string> with;
  std::shared_ptr<const Carrier> carrier;  ///< the obstacle that `with` names; null: none
  std::optional<LedMotion> led;            ///< instead of all the others
  std::string where;
  static const char* kind() { return "motion"; }
  static const char* help() {
    return "Prescribed motion of what a constraint holds, in all six degrees of freedom: turned on the spot by `orientation`, "
           "then "
           "turned by `rotate`, then shifted. Or as recorded in a file.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("translate", translate, "Shift from the initial place", {.unit = "m"});
    f("rotate", rotate, "Rotation");
    f("orientation", orientation,
      "Rotation of held frames from their initial orientation, world axes, each on its own spot; keys are joined by the shorter "
      "arc, so put them less than half a turn apart (half a turn is refused)");
    f("file", file, "Recorded motion, instead of the others");
    f("with", with, "Name of an obstacle that carries all of this along, as if fastened to it");
    for (const char* key : {"translate", "rotate", "orientation", "with"})
      if (f.has("file") && f.has(key)) f.problem(std::string("`") + key + "` comes together with `file`", "keep one of them");
  }
  bool moves_places() const { return translate.given() || rotate || file || with || led; }
  /// The motion of places at one time, worked out once for the many vertices that a constraint may hold.
  struct Placement : Mover {
    /// `item`: which of those that the constraint holds.
    Vec3d operator()(const Vec3d& x, std::size_t item = 0) const { return recorded ? recorded->place(x, item) : place(x); }
    std::optional<FileMotion::Moment> recorded;
  };
  /// Of frames, likewise.
  struct Turning {
    Quatd all;
    std::optional<FileMotion::Moment> recorded;
    Quatd operator()(std::size_t item = 0) const { return recorded ? recorded->turn_of(item) : all; }
  };
  Turning turning(double t) const;
  double angle(double t) const;  ///< of `rotate` [rad]
  Quatd turn(double t) const;    ///< the part about a centre
  Placement placement(double t) const;
  /// How far it turns between two times [rad], there and back added up.
  double turn_between(double from, double to) const;
  bool turns_directions() const { return rotate || with || led; }
  /// Where a body is whose centre is `rest` before any motion.
  Pose pose(const Vec3d& rest, double t) const { return {placement(t)(rest), turning(t)()}; }
  /// From now on from one pose to another, where it stays.
  void lead(const Vec3d& rest, double from_time, const Pose& from, double to_time, const Pose& to);
};

struct AttachmentContext {
  const RodGraph& graph;
  Model& model;
  State& state;
  const Names& names;
  Problems& problems;
  std::string folder;  ///< where relative file names start
  bool is_static;
  std::vector<std::string>& vertex_holder;  ///< pointer of the constraint that holds a vertex, or ""
  std::vector<std::string>& frame_holder;
  /// By vertex: what clamps held in the run that this one starts from.
  const std::map<Index, Quatd>& earlier_clamps;
  const std::map<std::string, std::shared_ptr<const Carrier>>& carriers;  ///< obstacles by name

  struct HeldDirection {
    Vec3d axis;
    bool turns;  ///< with the constraint's motion
    std::string by;
  };
  std::map<Index, std::vector<HeldDirection>> vertex_directions = {};  ///< of vertices that are held along some only
  /// Whether a constraint may hold a vertex along these unit vectors; a problem when not.
  bool claim_directions(Index vertex, const std::vector<Vec3d>& axes, bool turns, const std::string& by);
  /// Whether it may hold the vertex altogether.
  bool claim_vertex(Index vertex, const std::string& by);
};

/// A body that moves by a motion of its own and turns about its centre.
struct Carrier {
  Motion motion;
  Vec3d center;  ///< before any motion [m]
};

class Attachment {
 public:
  virtual ~Attachment() = default;
  virtual std::unique_ptr<Attachment> clone() const = 0;
  virtual void bind(AttachmentContext& context) = 0;
  /// Writes the targets for the end of a step at time t; `state` is its start. No two hold the same thing.
  virtual void apply(double t, const State& state, const Executor& executor, Control& control) const = 0;
  /// Lists what it holds for a script, as mover number `mover`; false where holds of a script cannot say it.
  virtual bool tell(Index mover, std::vector<HeldVertex>& vertices, std::vector<HeldFrame>& frames) const {
    return (void)mover, (void)vertices, (void)frames, false;
  }
  /// That mover, at a time.
  Mover mover(double time) const;
  virtual const char* type() const = 0;  ///< its registry name
  /// The vertices and frames that it acts on.
  virtual void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const = 0;
  /// How far it turns what it holds between two times [rad], there and back added up. Orientations alone do not tell a whole
  /// turn from none, so this is what steps are divided by.
  virtual double turn_between(double from, double to) const { return motion.turn_between(from, to); }
  /// How far it has moved and turned what it holds at a time, as in "0.1 m, 90 degrees"; empty where it leads nothing by keys.
  virtual std::string amount(double time) const;
  /// Called once when it lets go; true when the model's topology changed.
  virtual bool let_go(Model& model) { return (void)model, false; }
  /// Its part of the force that all constraints on a vertex exert, at time t.
  virtual Vec3d share(double t, const Control& control, Index vertex, const Vec3d& force) const {
    (void)t, (void)control, (void)vertex;
    return force;
  }
  virtual bool holds_directions() const { return false; }  ///< single ones
  virtual bool has_springs() const { return false; }
  virtual bool hinges() const { return false; }  ///< frames that turn about one axis
  virtual bool moves() const { return false; }   ///< by a `motion`
  virtual bool yields() const { return false; }  ///< is bound and applied after all others, and holds what they leave free

  std::string name;
  Motion motion;
  std::optional<double> release;
  std::string where;

 protected:
  template <class F>
  void name_field(F& f) {
    f.where(where);
    f("name", name, "Name for probes; its type and its place in the list, as in `clamp0`, when left out");
  }
  template <class F>
  void common_fields(F& f) {
    name_field(f);
    f("motion", motion, "Keyframed motion");
    release_field(f);
  }
  template <class F>
  void release_field(F& f) {
    f("release", release, "Time at which it lets go; in statics, the first load step that starts then or later",
      {.unit = "s", .min = 0});
  }
  /// Checks the motion, reads it where it is in a file, and finds what carries it.
  void prepare_motion(const AttachmentContext& context);
  void check_turns(Problems& problems) const;
  void check_no_orientation(Problems& problems) const;
  /// For constraints that hold along some directions only, which a recorded motion of places cannot lead.
  void refuse_recorded_motion(Problems& problems) const;
  /// Holds the rod's frame at a vertex; nothing, with a problem, where it is a cable's.
  std::optional<ClampResult> clamp_vertex(AttachmentContext& context, Index vertex) const;
  /// The segment at a vertex that a selection names, or the only one; -1 with a problem.
  Index segment_at(AttachmentContext& context, Index vertex, const Selection& segment) const;
  static bool claim(std::vector<std::string>& holder, Index i, const char* what, const std::string& by, Problems& problems);
};

template <>
std::span<const RegistryEntry<Attachment>> registry<Attachment>();

class Pin final : public Attachment {
 public:
  Selection vertices;
  std::optional<Directions> axes;
  static const char* kind() { return "pin"; }
  static const char* help() {
    return "Holds vertices in place, or along some directions only; the rod may turn about them. What is held along one "
           "direction "
           "is a `roller` too.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "What to hold", {.required = true});
    f("axes", axes, "The only directions along which to hold them, world axes, turned with `motion`; all of them when left out");
    common_fields(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Pin>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  bool tell(Index mover, std::vector<HeldVertex>& vertices, std::vector<HeldFrame>& frames) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  Vec3d share(double t, const Control& control, Index vertex, const Vec3d& force) const override;
  bool holds_directions() const override { return axes && axes->list.size() < 3; }
  const char* type() const override { return kind(); }

 private:
  std::vector<std::pair<Index, Vec3d>> held_;
};

class Fix final : public Attachment {
 public:
  Selection segments;
  static const char* kind() { return "fix"; }
  static const char* help() {
    return "Holds the frames of segments, as the paper does at its ends. The rod keeps the bending of half a segment to itself, "
           "so the error is of first order; prefer `clamp`.";
  }
  template <class F>
  void fields(F& f) {
    f("segments", segments, "Whose frames to hold", {.required = true});
    common_fields(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Fix>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  bool tell(Index mover, std::vector<HeldVertex>& vertices, std::vector<HeldFrame>& frames) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  const char* type() const override { return kind(); }

 private:
  std::vector<std::pair<Index, Quatd>> held_;
};

class Clamp final : public Attachment {
 public:
  Selection vertices;
  std::optional<Vec3d> tangent;
  static const char* kind() { return "clamp"; }
  static const char* help() {
    return "Holds vertices together with the rod's frame at them (position, tangent, twist), by half-joints of length l/2 to the "
           "segments there: second-order accurate.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "Where to clamp", {.required = true});
    f("tangent", tangent, "Direction of the rod at the clamp; as in the initial pose when left out");
    common_fields(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Clamp>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  bool tell(Index mover, std::vector<HeldVertex>& vertices, std::vector<HeldFrame>& frames) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  const char* type() const override { return kind(); }
  bool let_go(Model& model) override;

 private:
  struct Held {
    Index vertex;
    Vec3d position;
    ClampResult clamp;
  };
  std::vector<Held> held_;
};

class Hinge final : public Attachment {
 public:
  Selection vertex, segment;
  Vec3d axis{0, 0, 1};
  static const char* kind() { return "hinge"; }
  static const char* help() { return "Holds a vertex and lets one segment at it turn about one axis only."; }
  template <class F>
  void fields(F& f) {
    f("vertex", vertex, "The held vertex", {.required = true});
    f("segment", segment, "The hinged segment; the only one at the vertex when left out");
    f("axis", axis, "Axis of the hinge, world axes");
    common_fields(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Hinge>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  const char* type() const override { return kind(); }
  bool hinges() const override { return true; }

 private:
  Index vertex_ = -1, segment_ = -1;
  Vec3d position_;
  Quatd frame_;
};

class Motor final : public Attachment {
 public:
  Selection segment;
  std::optional<Vec3d> axis;
  Track<double> speed, torque_speed;
  static const char* kind() { return "motor"; }
  static const char* help() {
    return "Drives a segment's frame about one axis, in a bearing that lets it turn about nothing else: at a given angular "
           "speed, "
           "or with the torque that a motor has at the speed it runs at. Positions are free; pin a vertex to hold them. Steps in "
           "which "
           "a given speed turns it by more than a quarter turn are divided. For a stiff shaft use `newton` or sweeps with a "
           "`tolerance`: a few sweeps do "
           "not "
           "carry a torque far.";
  }
  template <class F>
  void fields(F& f) {
    f("segment", segment, "The driven segment", {.required = true});
    f("axis", axis, "Axis of the motor, world axes; the segment's initial d3 when left out");
    f("speed", speed, "Angular speed", {.unit = "rad/s"});
    f("torque_speed", torque_speed,
      "Torque [N·m] over angular speed [rad/s]: one number, or keys [speed, torque], e.g. from stall torque to no-load speed; "
      "dynamics only",
      {.unit = "N·m", .over = "speed"});
    f.exactly_one({"speed", "torque_speed"});
    name_field(f);
    release_field(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Motor>(*this); }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  double turn_between(double from, double to) const override;
  const char* type() const override { return kind(); }
  bool hinges() const override { return true; }
  /// From a time on: another speed, or another torque at all speeds, whichever it is driven by.
  void drive(double now, double value);

 private:
  Index segment_ = -1;
  Vec3d axis_;
  Quatd frame_;
  double inertia_ = 0;  ///< of the segment about the axis [kg m^2]
};

}  // namespace osier
