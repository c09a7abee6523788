// From what a data sheet says to what the energy needs, in one place.
#pragma once

#include <optional>
#include <string>

#include "core/describe.hpp"
#include "core/hex_color.hpp"
#include "core/track.hpp"
#include "materials/preset.hpp"
#include "materials/section.hpp"
#include "materials/section_shape.hpp"

namespace osier {

struct Material {
  PresetName preset;
  std::optional<double> young, poisson, shear_modulus, density, radius;
  Tagged<SectionShape> shape;
  std::optional<double> stretch_shear, bend_twist, line_density;
  std::optional<double> stretch, twist;
  std::optional<AxisPair> shear, bend;
  double tau_stretch = 0, tau_bend = 0;
  std::optional<double> tau_shear, tau_twist;
  std::optional<double> strain_limit, curvature_limit, twist_limit;
  std::optional<double> friction;
  Track<double> young_over_time, shear_over_time;
  std::optional<HexColor> color;
  std::string where;

  static const char* kind() { return "material"; }
  static const char* help() {
    return "What a rod is made of and how thick it is. In SI: `young`, `poisson` or `shear_modulus`, `density` and a section "
           "(`radius`, or `section`) give EA, GA1, GA2, EI1, EI2, GJ and the line density. Raw stiffnesses win over these, key "
           "by key; a single one (`bend`) over a combined one (`bend_twist`). A round section with neither `poisson` nor "
           "`shear_modulus` follows the isotropic law of Stable Cosserat Rods, GJ = EI and GA = EA. See docs/materials.md.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("preset", preset,
      "Moduli and density by name, see `osier list materials`; other keys win over it one by one, and `poisson` over its shear "
      "modulus");
    f("young", young, "Young's modulus E", {.unit = "Pa", .min = 0, .above_min = true});
    f("poisson", poisson, "Poisson ratio: G = E/(2 (1 + poisson)), GA = k G A with Cowper's k, GJ = G J",
      {.min = -1, .max = 0.5, .above_min = true});
    f("shear_modulus", shear_modulus, "Shear modulus G, instead of `poisson`", {.unit = "Pa", .min = 0, .above_min = true});
    f("density", density, "Mass density; times the section's area it is the line density",
      {.unit = "kg/m^3", .min = 0, .above_min = true});
    f("radius", radius, "Radius of a round section, short for a `section` of type circle",
      {.unit = "m", .min = 0, .above_min = true});
    f("section", shape, "Cross-section; its axes d1 and d2 are placed by the rod's `up` and `frame`");
    f("stretch_shear", stretch_shear, "Stretching and both shearing stiffnesses, EA = GA: the paper's k^ss per length",
      {.unit = "N", .min = 0, .above_min = true});
    f("stretch", stretch, "Stretching stiffness EA", {.unit = "N", .min = 0, .above_min = true});
    f("shear", shear, "Shearing stiffness GA, or [along d1, along d2]", {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist,
      "Both bending and the twisting stiffness, EI = GJ: the paper's k^bt per length; 0 makes a cable without joints",
      {.unit = "N·m²", .min = 0});
    f("bend", bend, "Bending stiffness EI, or [about d1, about d2]", {.unit = "N·m²", .min = 0});
    f("twist", twist, "Twisting stiffness GJ", {.unit = "N·m²", .min = 0});
    f("line_density", line_density, "Mass per length", {.unit = "kg/m", .min = 0, .above_min = true});
    f("tau_stretch", tau_stretch, "Kelvin–Voigt time of stretching", {.unit = "s", .min = 0});
    f("tau_shear", tau_shear, "Kelvin–Voigt time of shearing; `tau_stretch` when left out", {.unit = "s", .min = 0});
    f("tau_bend", tau_bend, "Kelvin–Voigt time of bending", {.unit = "s", .min = 0});
    f("tau_twist", tau_twist, "Kelvin–Voigt time of twisting; `tau_bend` when left out", {.unit = "s", .min = 0});
    f("strain_limit", strain_limit, "A segment breaks when |C^ss| reaches this strain", {.min = 0, .above_min = true});
    f("curvature_limit", curvature_limit, "A joint breaks when its bend away from rest, per length, reaches this",
      {.unit = "1/m", .min = 0, .above_min = true});
    f("twist_limit", twist_limit, "A joint breaks when its twist away from rest, per length, reaches this",
      {.unit = "rad/m", .min = 0, .above_min = true});
    f("friction", friction, "Coefficient of friction; that of `contact` when left out", {.min = 0});
    f("young_over_time", young_over_time,
      "Factor on Young's modulus, and so on EA and EI, over time: the stiffness of every step is that of its end",
      {.min = 0, .above_min = true});
    f("shear_over_time", shear_over_time, "Likewise on the shear modulus, and so on GA and GJ", {.min = 0, .above_min = true});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours; the program chooses when left out");
  }

  /// Adds a problem for everything that is missing, contradictory or without effect.
  Section section(Problems& problems) const;

 private:
  void check(Problems& problems) const;
};

/// The section of the same shape, `scale` times as large: A ~ scale^2, I and J ~ scale^4.
Section scaled(const Section& section, double scale);

}  // namespace osier
