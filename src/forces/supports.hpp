// Constraints on single directions: rollers, sliders, planes of symmetry, and motion in a plane.
#pragma once

#include "forces/attachment.hpp"

namespace osier {

/// A constraint that holds vertices along the same one or two directions.
class DirectionHold : public Attachment {
 public:
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  bool holds_directions() const override { return true; }
  Vec3d share(double t, const Control& control, Index vertex, const Vec3d& force) const override;

 protected:
  struct Held {
    Index vertex;
    Vec3d position;
  };
  void hold_vertices(AttachmentContext& context, const std::vector<Index>& list);
  void apply_directions(double t, const Executor& executor, Control& control) const;
  std::vector<Held> held_;
  std::vector<Vec3d> axes_;  ///< unit, at time 0
};

class Roller final : public DirectionHold {
 public:
  Selection vertices;
  Vec3d normal{0, 1, 0};
  static const char* kind() { return "roller"; }
  static const char* help() {
    return "Holds vertices along one direction, from both sides, and lets them move across it and turn: the roller of a beam. A "
           "`pin` with `axes` holds two.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "What to hold", {.required = true});
    f("normal", normal, "Direction in which it holds");
    common_fields(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Roller>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  const char* type() const override { return kind(); }
};

class Slider final : public DirectionHold {
 public:
  Selection vertices, segment;
  Vec3d axis{1, 0, 0};
  bool turns = false;
  static const char* kind() { return "slider"; }
  static const char* help() {
    return "A clamp that is free to slide along one axis. With `turns` the rod may also turn about that axis, as a sleeve does; "
           "then a segment is held as by a `hinge`, which keeps the bending of half a segment out.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "What to hold; one vertex with `turns`", {.required = true});
    f("axis", axis, "Axis along which it slides");
    f("turns", turns, "Whether the rod may turn about the axis");
    f("segment", segment, "With `turns`: the segment that turns; the only one at the vertex when left out");
    common_fields(f);
    if (f.has("segment") && !turns) f.problem("`segment` has no effect without `turns`", "leave it out");
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Slider>(*this); }
  bool moves() const override { return true; }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  const char* type() const override { return kind(); }
  bool hinges() const override { return turns; }
  bool let_go(Model& model) override;

 private:
  std::vector<ClampResult> clamps_;
  Index segment_ = -1;
  Quatd frame_;
};

class Symmetry final : public DirectionHold {
 public:
  Selection vertices;
  Vec3d normal{1, 0, 0};
  static const char* kind() { return "symmetry"; }
  static const char* help() {
    return "Ends of rods at a plane of symmetry, which they meet at a right angle: they stay in the plane, their tangent stays "
           "along its normal, and they may turn about it. Half of a symmetric scene then moves as the whole does.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "Ends of rods in the plane", {.required = true});
    f("normal", normal, "Normal of the plane");
    name_field(f);
    release_field(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Symmetry>(*this); }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  const char* type() const override { return kind(); }
  bool let_go(Model& model) override;

 private:
  std::vector<ClampResult> clamps_;
};

class Planar final : public DirectionHold {
 public:
  Selection vertices;
  Vec3d normal{0, 0, 1};
  static const char* kind() { return "planar"; }
  static const char* help() {
    return "Motion in two dimensions: vertices move across the normal only, and segments between them turn about it only. Other "
           "constraints hold what they hold within the plane.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "What moves in the plane; everything when left out");
    f("normal", normal, "Normal of the plane");
    name_field(f);
    release_field(f);
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Planar>(*this); }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  Vec3d share(double t, const Control& control, Index vertex, const Vec3d& force) const override;
  const char* type() const override { return kind(); }
  bool hinges() const override { return true; }
  bool yields() const override { return true; }

 private:
  struct Segment {
    Index index;
    Quatd frame;
    bool alone;  ///< no other constraint holds it
  };
  std::vector<Segment> segments_;
};

}  // namespace osier
