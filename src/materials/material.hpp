// From what a data sheet says to what the energy needs, in one place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "model/rod_graph.hpp"

namespace osier {

struct Material {
  std::optional<double> young, poisson, shear_modulus, density, radius;
  std::optional<double> stretch_shear, bend_twist, line_density;
  double tau_stretch = 0, tau_bend = 0;
  std::optional<double> strain_limit;
  std::string where;

  static const char* kind() { return "material"; }
  static const char* help() {
    return "A round rod's material, in SI (`young`, `density`, `radius`) or raw (`stretch_shear`, `bend_twist`, "
           "`line_density`); a raw value wins over the one computed from SI. One stiffness serves bending and twisting, "
           "EI, and one stretching and shearing, EA: that is a round section with Poisson ratio 0.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("young", young, "Young's modulus E; EA and EI follow from it and the radius", {.unit = "Pa", .min = 0, .above_min = true});
    f("poisson", poisson, "Poisson ratio. Anything but 0 gives a warning: EI and GJ are one number in this energy",
      {.min = -1, .max = 0.5});
    f("shear_modulus", shear_modulus, "Shear modulus G, instead of `poisson`; a value other than E/2 gives the same warning",
      {.unit = "Pa", .min = 0, .above_min = true});
    f("density", density, "Mass density; the line density is density times pi radius^2",
      {.unit = "kg/m^3", .min = 0, .above_min = true});
    f("radius", radius, "Radius of the round section", {.unit = "m", .min = 0, .above_min = true});
    f("stretch_shear", stretch_shear, "Stretching and shearing stiffness, the paper's k^ss per length",
      {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness, the paper's k^bt per length; 0 makes a cable without joints",
      {.unit = "N·m²", .min = 0});
    f("line_density", line_density, "Mass per length", {.unit = "kg/m", .min = 0, .above_min = true});
    f("tau_stretch", tau_stretch, "Kelvin–Voigt time of stretching and shearing", {.unit = "s", .min = 0});
    f("tau_bend", tau_bend, "Kelvin–Voigt time of bending and twisting", {.unit = "s", .min = 0});
    f("strain_limit", strain_limit, "A segment breaks when |C^ss| reaches this strain", {.min = 0, .above_min = true});
  }

  /// Adds a problem for every quantity that is missing, a warning for every one the energy cannot represent.
  Section section(Problems& problems, std::vector<std::string>& warnings) const;
};

}  // namespace osier
