// The cable-stayed bridge of the authors' published scenes of Stable Cosserat Rods: 2,208 vertices, 2,298 segments, 347 joints.
#pragma once

#include "scene/structure.hpp"

namespace osier {

class Bridge : public Structure {
 public:
  double deck_stretch_shear = 2e4, deck_bend_twist = 5, deck_density = 0.25, deck_radius = 0.08;
  double arch_stretch_shear = 8e4, arch_bend_twist = 4e4, arch_density = 2, arch_radius = 0.25;
  double tie_bend_twist = 4e4;
  double cable_stretch_shear = 2e3, cable_density = 0.01, cable_radius = 0.025;
  double cable_segment_length = 0.7;
  double strain_limit = 0.005;
  double tau = 0;

  static const char* kind() { return "structure_bridge"; }
  static const char* help() {
    return "A deck of 72 m hung by 58 cables from an arch across its middle, after the Margaret Hunt Hill bridge. Pieces: "
           "`.deck`, `.arch`, `.side_deck0`, `.side_deck1`, `.cable0` to `.cable57`; groups: `.ties`, `.cables` and `.supports` "
           "(the eight vertices and two segments to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("deck_stretch_shear", deck_stretch_shear, "Stretching and shearing stiffness of decks and ties",
      {.unit = "N", .min = 0, .above_min = true});
    f("deck_bend_twist", deck_bend_twist, "Bending and twisting stiffness of the decks",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("deck_density", deck_density, "Line density of decks and ties", {.unit = "kg/m", .min = 0, .above_min = true});
    f("deck_radius", deck_radius, "Radius of decks and ties", {.unit = "m", .min = 0, .above_min = true});
    f("arch_stretch_shear", arch_stretch_shear, "Stretching and shearing stiffness of the arch",
      {.unit = "N", .min = 0, .above_min = true});
    f("arch_bend_twist", arch_bend_twist, "Bending and twisting stiffness of the arch",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("arch_density", arch_density, "Line density of the arch", {.unit = "kg/m", .min = 0, .above_min = true});
    f("arch_radius", arch_radius, "Radius of the arch", {.unit = "m", .min = 0, .above_min = true});
    f("tie_bend_twist", tie_bend_twist, "Bending and twisting stiffness of the ties and of their joints with the deck",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("cable_stretch_shear", cable_stretch_shear, "Stretching and shearing stiffness of the cables, which do not resist bending",
      {.unit = "N", .min = 0, .above_min = true});
    f("cable_density", cable_density, "Line density of the cables", {.unit = "kg/m", .min = 0, .above_min = true});
    f("cable_radius", cable_radius, "Radius of the cables", {.unit = "m", .min = 0, .above_min = true});
    f("cable_segment_length", cable_segment_length, "Longest segment of a cable", {.unit = "m", .min = 1e-3});
    f("strain_limit", strain_limit, "A member breaks when its strain reaches this", {.min = 0, .above_min = true});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "bridge"; }
};

}  // namespace osier
