// The `contact` object of a scene.
#pragma once

#include <string>
#include <vector>

#include "core/describe.hpp"

namespace osier::contact {

struct FrictionPair {
  std::string first, second;
  double friction = 0;
  std::string where;
  static const char* kind() { return "friction_pair"; }
  static const char* help() { return "Friction between two materials."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("first", first, "A material", {.required = true});
    f("second", second, "The other one; may be the same", {.required = true});
    f("friction", friction, "Coefficient of friction between the two", {.min = 0, .required = true});
  }
};

struct Settings {
  double friction = 0;
  std::vector<FrictionPair> friction_pairs;
  double slip = 0.1;
  double thickness = 1;
  bool rods = true;
  std::string where;

  static const char* kind() { return "contact"; }
  static const char* help() {
    return "Rods collide with each other, with themselves and with obstacles; without this object they pass through each other. "
           "Centrelines never cross, whatever the step. See [contact.md](contact.md).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("friction", friction, "Coefficient of friction of materials without one of their own", {.min = 0});
    f("friction_pairs", friction_pairs,
      "Coefficients for pairs of materials; of other pairs, the larger one of the two materials' `friction`");
    f("slip", slip,
      "Displacement at which a contact that held begins to slide, as a multiple of the rod's radius: smaller holds "
      "firmer and takes more iterations",
      {.min = 0, .above_min = true});
    f("thickness", thickness, "Radius of contact, as a multiple of the section's", {.min = 0, .above_min = true});
    f("rods", rods, "Whether rods touch each other and themselves; `false`: obstacles alone");
  }
};

}  // namespace osier::contact
