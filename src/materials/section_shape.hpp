// Cross-sections: from a shape to areas and moments. One class each, one line in section_shape.cpp.
//
//   d1, d2   axes of the section; d3 is the rod's tangent
//   A        area [m^2]
//   I1, I2   second moments about d1 and d2: I1 = integral of x2^2 dA, I2 = integral of x1^2 dA [m^4]
//   J        Saint-Venant's torsion constant [m^4]; I1 + I2 only for the round ones
//   k1, k2   shear correction for shear along d1 and d2, a function of Poisson's ratio nu:
//            G. R. Cowper, The shear coefficient in Timoshenko's beam theory, J. Appl. Mech. 33 (1966), 335-340
#pragma once

#include <string>

#include "core/describe.hpp"
#include "osier/error.hpp"

namespace osier {

struct SectionProperties {
  double area = 0;                  ///< A [m^2]
  double bend_1 = 0, bend_2 = 0;    ///< I1, I2 [m^4]
  double torsion = 0;               ///< J [m^4]
  double shear_1 = 1, shear_2 = 1;  ///< k1, k2 [-]
  double radius = 0;                ///< of the smallest circle around it [m]
};

class SectionShape {
 public:
  virtual ~SectionShape() = default;
  virtual SectionProperties properties(double nu) const = 0;
  /// Alike in all directions, with J = I1 + I2: the only ones for which the paper's isotropic law can be true (nu = 0).
  virtual bool round() const { return false; }
  /// What the fields alone cannot say.
  virtual void check(Problems& problems) const { (void)problems; }

  std::string where;  ///< JSON pointer
};

template <>
std::span<const RegistryEntry<SectionShape>> registry<SectionShape>();

class CircleSection final : public SectionShape {
 public:
  double radius = 0;
  CircleSection() = default;
  explicit CircleSection(double r) : radius(r) {}
  static const char* kind() { return "section_circle"; }
  static const char* help() { return "A solid round section."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
  }
  SectionProperties properties(double nu) const override;
  bool round() const override { return true; }
};

class TubeSection final : public SectionShape {
 public:
  double radius = 0, inner_radius = 0;
  static const char* kind() { return "section_tube"; }
  static const char* help() { return "A hollow round section."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("radius", radius, "Outer radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("inner_radius", inner_radius, "Inner radius", {.unit = "m", .min = 0, .required = true});
  }
  SectionProperties properties(double nu) const override;
  bool round() const override { return true; }
  void check(Problems& problems) const override;
};

class EllipseSection final : public SectionShape {
 public:
  double radius_1 = 0, radius_2 = 0;
  static const char* kind() { return "section_ellipse"; }
  static const char* help() { return "A solid elliptic section."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("radius_1", radius_1, "Semi-axis along d1", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("radius_2", radius_2, "Semi-axis along d2", {.unit = "m", .min = 0, .above_min = true, .required = true});
  }
  SectionProperties properties(double nu) const override;
};

class RectangleSection final : public SectionShape {
 public:
  double width = 0, height = 0;
  static const char* kind() { return "section_rectangle"; }
  static const char* help() { return "A solid rectangular section."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("width", width, "Side along d1", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("height", height, "Side along d2", {.unit = "m", .min = 0, .above_min = true, .required = true});
  }
  SectionProperties properties(double nu) const override;
};

}  // namespace osier
