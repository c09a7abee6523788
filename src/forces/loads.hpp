// Gravity, drag, dead forces and torques.
#pragma once

#include "core/track.hpp"
#include "forces/force.hpp"
#include "math/quat.hpp"

namespace osier {

class Gravity final : public Force {
 public:
  Track<Vec3d> acceleration{Vec3d{0, -9.81, 0}};
  static const char* kind() { return "gravity"; }
  static const char* help() { return "The same acceleration for every vertex."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("acceleration", acceleration, "Acceleration", {.unit = "m/s²"});
  }
  void apply_field(const LoadContext& context, Index begin, Index end, Control& control) const override;
  bool tell(double time, StepLoads& loads) const override;
  double potential(const LoadContext& context) const override;
  std::string amount(double time, double ramp) const override;
};

class Drag final : public Force {
 public:
  Track<double> rate{0.0};
  Track<double> per_length{0.0};
  static const char* kind() { return "drag"; }
  static const char* help() {
    return "Resistance to motion through still surroundings, −(rate·m + per_length·l)·v, taken at the new velocity so that any "
           "strength is stable.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("rate", rate, "Mass-proportional part, the paper's drag", {.unit = "1/s", .min = 0});
    f("per_length", per_length, "Part proportional to the rest length around a vertex", {.unit = "N·s/m²", .min = 0});
  }
  void apply_field(const LoadContext& context, Index begin, Index end, Control& control) const override;
  bool tell(double time, StepLoads& loads) const override;
};

class DeadForce final : public Force {
 public:
  Selection vertices;
  Track<Vec3d> force;
  static const char* kind() { return "force"; }
  static const char* help() { return "A force of fixed direction on each selected vertex."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("vertices", vertices, "Where it acts", {.required = true});
    f("force", force, "Force on each of them, world axes", {.unit = "N", .required = true});
  }
  void bind(const Names& names, Problems& problems) override { list_ = names.find(vertices, Element::vertex, problems); }
  void apply(const LoadContext& context, Control& control) const override;
  double potential(const LoadContext& context) const override;
  std::string amount(double time, double ramp) const override;

 private:
  std::vector<Index> list_;
};

enum class TorqueAxes : std::uint8_t { world, material };
template <>
struct Choices<TorqueAxes> {
  static constexpr std::array<const char*, 2> names{"world", "material"};
};

class Torque final : public Force {
 public:
  Selection segments;
  Track<Vec3d> torque;
  TorqueAxes axes = TorqueAxes::world;
  static const char* kind() { return "torque"; }
  static const char* help() { return "A couple on each selected segment: dead (world axes) or following the segment's frame."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("segments", segments, "Where it acts", {.required = true});
    f("torque", torque, "Couple on each of them", {.unit = "N·m", .required = true});
    f("axes", axes, "`world`: dead load; `material`: follower, components along d1, d2, d3");
  }
  void bind(const Names& names, Problems& problems) override { list_ = names.find(segments, Element::segment, problems); }
  void apply(const LoadContext& context, Control& control) const override;
  std::string amount(double time, double ramp) const override;

 private:
  std::vector<Index> list_;
};

}  // namespace osier
