// A patch of grass: tapered blades, each with its own height, lean and curve.
#pragma once

#include "scene/structure.hpp"

namespace osier {

class Grass : public Structure {
 public:
  int blades = 1000, vertices = 16, seed = 1;
  Vec3d center;
  double width = 1.5, depth = 1.5;
  double height = 0.35, height_variation = 0.35, lean = 25, curve = 50;
  double tip = 0.2;
  double stretch_shear = 600, bend_twist = 1e-4, line_density = 1.4e-3, radius = 8e-4;
  double tau = 0;

  static const char* kind() { return "structure_grass"; }
  static const char* help() {
    return "Blades on a rectangle in the plane y = const, evenly spread. A blade is an arc that leaves the ground with a random "
           "lean and bends over by up to `curve`; it tapers in proportion to its length from its full section at the root to "
           "`tip` of its linear size: EA and line density go with the square, EI with the fourth power. The defaults are a round "
           "blade of 0.8 mm radius with E = 0.3 GPa and 700 kg/m³. Pieces: one per blade, called like the structure with 0, 1, "
           "... appended; group: `.roots` (root vertices and first segments, to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("blades", blades, "Number of blades", {.min = 1});
    f("vertices", vertices, "Vertices of a blade", {.min = 2});
    f("seed", seed, "Seed of what differs between blades", {.min = 0});
    f("center", center, "Middle of the patch", {.unit = "m"});
    f("width", width, "Extent of the patch along x", {.unit = "m", .min = 0, .above_min = true});
    f("depth", depth, "Extent of the patch along z", {.unit = "m", .min = 0, .above_min = true});
    f("height", height, "Length of a blade", {.unit = "m", .min = 0, .above_min = true});
    f("height_variation", height_variation, "How much shorter or longer a blade may be, as a fraction", {.min = 0, .max = 0.9});
    f("lean", lean, "Largest angle between a blade's root and the vertical", {.unit = "°", .min = 0, .max = 80});
    f("curve", curve, "Largest angle between the directions of a blade's root and tip at rest",
      {.unit = "°", .min = 0, .max = 180});
    f("tip", tip, "Linear size of the section at the tip, as a multiple of that at the root", {.min = 0.01, .max = 1});
    f("stretch_shear", stretch_shear, "Stretching and shearing stiffness at the root",
      {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness at the root", {.unit = "N·m²", .min = 0, .above_min = true});
    f("line_density", line_density, "Line density at the root", {.unit = "kg/m", .min = 0, .above_min = true});
    f("radius", radius, "Radius at the root", {.unit = "m", .min = 0, .above_min = true});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "grass"; }
};

}  // namespace osier
