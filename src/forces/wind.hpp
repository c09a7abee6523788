// Gusty wind, the model of the scenes of "Stable Cosserat Rods", and the push of a steady or gusty wind in physical words.
//
//   phase = (2 pi/lambda) (d.x - U t)      with keyframed U: the integral of U, so that gusts do not jump
//   S     = sum_{k=0..2} 0.7^k sin(0.7^k phase),   M = 1/0.3
//   wind  = U (S + M + b)/(b + 2 M) d
//   f     = c sqrt(m) l |dv x t| dv   for each segment at a vertex, dv = wind - v, t the segment's direction
//
// Deviation: f is linearised as K (wind - v_new) with K from the start of the step, so that strong wind on a light vertex
// cannot overshoot.
// With a drag coefficient Cd, the force per segment is that of a cylinder in cross-flow (the independence principle: only the
// wind's part across the segment pushes),
//
//   f     = 1/2 rho Cd d l |dv_n| dv_n,   dv_n = dv - (dv.t) t
//
// half of it at each end, with dv that of the end. Per vertex, K = sum of 1/4 rho Cd d l |dv_n| over its segments, from the start
// of the step, and the force is sum K_s dv_n + K (v - v_new): at v_new = v the push itself, and damped like the paper's against
// overshoot. The part along the segment is damped against changes within a step alone.
// A steady wind is U d everywhere.
//
// The formulas are in wind_formula.hpp.
#pragma once

#include <optional>
#include <string>

#include "core/track.hpp"
#include "forces/force.hpp"

namespace osier {

class Wind final : public Force {
 public:
  Vec3d direction{2, 0, 3};
  Track<double> speed{10.0};
  double wavelength = 20;
  double coefficient = 1;
  double bias = 0;
  bool steady = false;
  double air_density = 1.225;
  std::optional<double> drag_coefficient, diameter;
  static const char* kind() { return "wind"; }
  static const char* help() {
    return "Gusts, a travelling sum of three sines, or a `steady` wind, pushing segments that lie across it. How hard: by the "
           "paper's `coefficient`, or as air does, by `drag_coefficient`, `air_density` and `diameter`: ½ ρ C d l |v| v for a "
           "segment of length l, with v the wind's speed relative to the rod, across the segment.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("direction", direction, "Where the wind blows to");
    f("speed", speed, "Speed U of the gusts and scale of the wind; the speed itself of a `steady` one",
      {.unit = "m/s", .min = 0});
    f("wavelength", wavelength, "Distance between gusts", {.unit = "m", .min = 0, .above_min = true});
    f("coefficient", coefficient, "Strength c of the paper's push, c √m l |v| v", {.unit = "kg^½/m²", .min = 0});
    f("bias", bias, "Steadiness b: larger means weaker gusts", {.min = 0});
    f("steady", steady, "Whether the wind blows with `speed` everywhere, without gusts");
    f("drag_coefficient", drag_coefficient,
      "Drag coefficient C of the section in cross-flow, about 1.2 for a round one; instead of `coefficient`", {.min = 0});
    f("air_density", air_density, "Density of the air, with `drag_coefficient`", {.unit = "kg/m^3", .min = 0});
    f("diameter", diameter, "Width of the rod across the wind, with `drag_coefficient`; twice the section's radius when left out",
      {.unit = "m", .min = 0});
    if (f.has("coefficient") && f.has("drag_coefficient"))
      f.problem("`coefficient` has no effect beside `drag_coefficient`", "keep one of them");
    for (const char* key : {"air_density", "diameter"})
      if (f.has(key) && !f.has("drag_coefficient"))
        f.problem(std::string("`") + key + "` has no effect without `drag_coefficient`", "give one, or leave it out");
    for (const char* key : {"wavelength", "bias"})
      if (f.has(key) && steady) f.problem(std::string("`") + key + "` has no effect on a steady wind", "leave it out");
  }
  void bind(const Names&, Problems& problems) override;
  void check(const Model& model, Problems& problems) const override;
  void apply_field(const LoadContext& context, Index begin, Index end, Control& control) const override;
  bool tell(double time, StepLoads& loads) const override;

 private:
  WindMoment moment(double time, double ramp) const;
};

}  // namespace osier
