// The slingshot of the authors' published scenes of Stable Cosserat Rods: 44 vertices, 46 segments, 47 joints.
#pragma once

#include "scene/structure.hpp"

namespace osier {

class Slingshot : public Structure {
 public:
  double wood_stretch_shear = 1e6, wood_bend_twist = 1e5, wood_density = 3, wood_radius = 0.06;
  double rubber_stretch_shear = 400, rubber_bend_twist = 0.1, rubber_density = 0.2, rubber_radius = 0.025;
  double rubber_rest_scale = 0.94;
  double jitter = 0.03;
  int seed = 1;
  Vec3d draw{0, -1.3, -5};
  double tau = 0;

  static const char* kind() { return "structure_slingshot"; }
  static const char* help() {
    return "A wooden fork with four rubber bands, drawn and ready to shoot along +z. Pieces: `.handle`, `.fork_left` and "
           "`.fork_right` (as the shooter sees them), `.rubber0` to `.rubber3`; groups: `.grip` (the five drawn vertices; hold "
           "them, then let go) and `.base` (first vertex and segment of the handle).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("wood_stretch_shear", wood_stretch_shear, "Stretching and shearing stiffness of the wood",
      {.unit = "N", .min = 0, .above_min = true});
    f("wood_bend_twist", wood_bend_twist, "Bending and twisting stiffness of the wood",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("wood_density", wood_density, "Line density of the wood", {.unit = "kg/m", .min = 0, .above_min = true});
    f("wood_radius", wood_radius, "Radius of the wood", {.unit = "m", .min = 0, .above_min = true});
    f("rubber_stretch_shear", rubber_stretch_shear, "Stretching and shearing stiffness of the rubber",
      {.unit = "N", .min = 0, .above_min = true});
    f("rubber_bend_twist", rubber_bend_twist, "Bending and twisting stiffness of the rubber and of its knots",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("rubber_density", rubber_density, "Line density of the rubber", {.unit = "kg/m", .min = 0, .above_min = true});
    f("rubber_radius", rubber_radius, "Radius of the rubber", {.unit = "m", .min = 0, .above_min = true});
    f("rubber_rest_scale", rubber_rest_scale, "Rest length of the rubber over its assembled length; below 1 it is pre-stretched",
      {.min = 0, .above_min = true});
    f("jitter", jitter, "Largest displacement of the rubber's inner vertices along each axis", {.unit = "m", .min = 0});
    f("seed", seed, "Seed of the jitter", {.min = 0});
    f("draw", draw, "How far the middle of the rubber is pulled in the initial pose", {.unit = "m"});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "slingshot"; }
};

}  // namespace osier
