// Gusty wind, the model of the scenes of "Stable Cosserat Rods".
//
//   phase = (2 pi/lambda) (d.x - U t)      with keyframed U: the integral of U, so that gusts do not jump
//   S     = sum_{k=0..2} 0.7^k sin(0.7^k phase),   M = 1/0.3
//   wind  = U (S + M + b)/(b + 2 M) d
//   f     = c sqrt(m) l |dv x t| dv   for each segment at a vertex, dv = wind - v, t the segment's direction
//
// Deviation: f is linearised as K (wind - v_new) with K from the start of the step, so that strong wind on a light vertex
// cannot overshoot.
// The formulas are in wind_push.hpp, for several vertices at a time.
#pragma once

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
  static const char* kind() { return "wind"; }
  static const char* help() { return "The paper's gusts: a travelling sum of three sines, pushing segments that lie across it."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("direction", direction, "Where the wind blows to");
    f("speed", speed, "Speed U of the gusts and scale of the wind", {.unit = "m/s", .min = 0});
    f("wavelength", wavelength, "Distance between gusts", {.unit = "m", .min = 0, .above_min = true});
    f("coefficient", coefficient, "Strength c of the push", {.unit = "kg^½/m²", .min = 0});
    f("bias", bias, "Steadiness b: larger means weaker gusts", {.min = 0});
  }
  void bind(const Names&, Problems& problems) override;
  void apply_field(const LoadContext& context, Index begin, Index end, Control& control) const override;
};

}  // namespace osier
