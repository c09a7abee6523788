// Springs and dampers between vertices or to a place, and elastic foundations along rods.
#pragma once

#include "forces/attachment.hpp"

namespace osier {

/// A constraint that acts through springs of the control.
class SpringSet : public Attachment {
 public:
  void list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const override;
  bool has_springs() const override { return true; }

 protected:
  void add(Control& control, Spring spring) const;
  void check_statics(AttachmentContext& context, const Track<double>& stiffness, const Track<double>& damping) const;
  std::vector<Spring> springs_;  ///< as at time 0
};

class SpringLink final : public SpringSet {
 public:
  Selection vertices, to;
  Track<Vec3d> anchor;
  Track<double> stiffness, damping;
  std::optional<double> rest_length;
  static const char* kind() { return "spring"; }
  static const char* help() {
    return "A spring, a damper or both, from vertices to another vertex, to a place that may move, or each to the place where it "
           "is at first. With a rest length they act along the line between the ends; with rest length 0 they are linear and act "
           "alike in all directions. The reaction is the force on `vertices`.";
  }
  template <class F>
  void fields(F& f) {
    f("vertices", vertices, "Where it acts; with several, each has its own spring", {.required = true});
    f("to", to, "The vertex at the other end, or as many as `vertices` has, each for one in the same order");
    f("anchor", anchor, "Or the place of the other end; the initial place of each vertex when both are left out", {.unit = "m"});
    f("stiffness", stiffness, "Spring constant", {.unit = "N/m", .min = 0});
    f("damping", damping, "Damper constant", {.unit = "N·s/m", .min = 0});
    f("rest_length", rest_length, "Length without force; the initial distance when left out", {.unit = "m", .min = 0});
    name_field(f);
    release_field(f);
    if (f.has("to") && f.has("anchor")) f.problem("`to` and `anchor` are given", "keep one of them");
    if (!f.has("stiffness") && !f.has("damping")) f.problem("neither `stiffness` nor `damping` is given", "give one or both");
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<SpringLink>(*this); }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  const char* type() const override { return kind(); }
};

class Foundation final : public SpringSet {
 public:
  Selection segments;
  Track<double> stiffness, damping;
  std::optional<Vec3d> direction;
  static const char* kind() { return "foundation"; }
  static const char* help() {
    return "An elastic support along rods (Winkler's): springs per length that hold every place where it is at first, in all "
           "directions or along one.";
  }
  template <class F>
  void fields(F& f) {
    f("segments", segments, "What it supports", {.required = true});
    f("stiffness", stiffness, "Force per length and displacement", {.unit = "N/m²", .min = 0});
    f("damping", damping, "Force per length and velocity", {.unit = "N·s/m²", .min = 0});
    f("direction", direction, "The only direction in which it acts, world axes; all of them when left out");
    name_field(f);
    release_field(f);
    if (!f.has("stiffness") && !f.has("damping")) f.problem("neither `stiffness` nor `damping` is given", "give one or both");
  }
  std::unique_ptr<Attachment> clone() const override { return std::make_unique<Foundation>(*this); }
  void bind(AttachmentContext& context) override;
  void apply(double t, const State& state, const Executor& executor, Control& control) const override;
  const char* type() const override { return kind(); }

 private:
  std::vector<double> length_;  ///< per spring: of the rod that it stands for [m]
};

}  // namespace osier
