// Hair on a head: curly, wavy or straight, depending on the radius and pitch of its curls.
#pragma once

#include "scene/generators/sampling.hpp"
#include "scene/structure.hpp"

namespace osier {

class Hair : public Structure {
 public:
  int strands = 1000, vertices = 32, seed = 1;
  Vec3d center, head{0.075, 0.1, 0.09}, crown{0, 1, -0.35};
  double scalp = 105;
  double length = 0.17, length_variation = 0.15;
  double curl_radius = 0.007, curl_pitch = 0.02, curl_variation = 0.3, lean = 15;
  double stretch_shear = 1e-3, bend_twist = 7e-9, line_density = 6.6e-6, radius = 4e-5;
  double tau = 0;

  static const char* kind() { return "structure_hair"; }
  static const char* help() {
    return "Strands on the upper part of an ellipsoid, the head. Each is a helix that starts at its root and climbs away from "
           "the "
           "head, left- or right-handed, with its own phase, size and lean; roots are spread evenly. Density, radius and bending "
           "stiffness are those of human hair (1320 kg/m³, 40 µm, E = 3.5 GPa). Stretching is not: real hair has EA = 18 N, "
           "which "
           "at 1 ms is 10⁵ times stiffer than what inertia can follow and never seen to stretch. 1 mN still keeps the stretch "
           "under its own weight near one per cent, and lets a few sweeps per millisecond converge. Pieces: one per strand, "
           "called like the structure with 0, 1, ... appended; group: `.roots` (root vertices and first segments, to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("strands", strands, "Number of strands", {.min = 1});
    f("vertices", vertices, "Vertices of a strand", {.min = 2});
    f("seed", seed, "Seed of what differs between strands", {.min = 0});
    f("center", center, "Centre of the head", {.unit = "m"});
    f("head", head, "Half axes of the head", {.unit = "m"});
    f("crown", crown, "Direction from the centre to the middle of the scalp; need not be a unit vector");
    f("scalp", scalp, "Angle from `crown` down to which hair grows", {.unit = "°", .min = 0, .max = 180, .above_min = true});
    f("length", length, "Length of a strand, along its curls", {.unit = "m", .min = 0, .above_min = true});
    f("length_variation", length_variation, "How much shorter or longer a strand may be, as a fraction", {.min = 0, .max = 0.9});
    f("curl_radius", curl_radius, "Radius of the curls; 0 for straight hair", {.unit = "m", .min = 0});
    f("curl_pitch", curl_pitch, "Advance of a curl per turn", {.unit = "m", .min = 0, .above_min = true});
    f("curl_variation", curl_variation, "Variation of radius and pitch between strands, as a fraction", {.min = 0, .max = 0.9});
    f("lean", lean, "Largest angle between a strand's axis and the normal of the head", {.unit = "°", .min = 0, .max = 80});
    f("stretch_shear", stretch_shear, "Stretching and shearing stiffness", {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness", {.unit = "N·m²", .min = 0, .above_min = true});
    f("line_density", line_density, "Line density", {.unit = "kg/m", .min = 0, .above_min = true});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  void check(Problems& problems) const override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "hair"; }

 private:
  struct Curl {
    Vec3d root, axis, across;  ///< `across`: any unit vector at a right angle to the axis
    double radius, pitch, turns, phase;
    int hand;  ///< +1 right-handed, -1 left-handed
    Vec3d at(double fraction) const;
  };
  Curl curl(int strand, Random& random) const;
  double segments_per_turn() const;
};

}  // namespace osier
