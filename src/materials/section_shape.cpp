#include "materials/section_shape.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "core/fields.hpp"

namespace osier {

using std::numbers::pi;

template <>
std::span<const RegistryEntry<SectionShape>> registry<SectionShape>() {
  static const RegistryEntry<SectionShape> entries[] = {
      registry_entry<SectionShape, CircleSection>("circle", "solid, round: `radius`"),
      registry_entry<SectionShape, TubeSection>("tube", "hollow, round: `radius`, `inner_radius`"),
      registry_entry<SectionShape, EllipseSection>("ellipse",
                                                   "solid, elliptic: semi-axes `radius_1` along d1, `radius_2` along d2"),
      registry_entry<SectionShape, RectangleSection>("rectangle", "solid, rectangular: `width` along d1, `height` along d2"),
  };
  return entries;
}

SectionProperties CircleSection::properties(double nu) const {
  const double r2 = radius * radius, area = pi * r2, moment = area * r2 / 4;
  const double shear = 6 * (1 + nu) / (7 + 6 * nu);  // Cowper, circle
  return {area, moment, moment, 2 * moment, shear, shear, radius};
}

void TubeSection::check(Problems& problems) const {
  if (inner_radius >= radius)
    problems.add(where + "/inner_radius", fmt::format("{} m is not smaller than `radius`", inner_radius), "use a smaller one");
}

SectionProperties TubeSection::properties(double nu) const {
  const double R = radius, r = inner_radius;
  const double area = pi * (R - r) * (R + r), moment = area * (R * R + r * r) / 4;
  const double m = r / R, wall = (1 + m * m) * (1 + m * m);
  const double shear = 6 * (1 + nu) * wall / ((7 + 6 * nu) * wall + (20 + 12 * nu) * m * m);  // Cowper, hollow circle
  return {area, moment, moment, 2 * moment, shear, shear, radius};
}

/// Cowper, ellipse with semi-axis a along the shear force and b across it.
static double ellipse_shear(double a, double b, double nu) {
  const double p = a * a / (a * a + b * b), q = 1 - p;  // only the ratio counts
  return 12 * (1 + nu) * p * (3 * p + q) / ((40 + 37 * nu) * p * p + (16 + 10 * nu) * p * q + nu * q * q);
}

SectionProperties EllipseSection::properties(double nu) const {
  const double a = radius_1, b = radius_2, area = pi * a * b;
  const double torsion = area * (a * a) * (b * b) / (a * a + b * b);  // Saint-Venant: pi a^3 b^3/(a^2 + b^2)
  return {area, area * b * b / 4, area * a * a / 4, torsion, ellipse_shear(a, b, nu), ellipse_shear(b, a, nu), std::max(a, b)};
}

/// Saint-Venant's series for a rectangle a >= b (Timoshenko and Goodier, Theory of Elasticity, section 109),
///   J = a b^3 (1/3 - 64/pi^5 b/a sum over odd n of tanh(n pi a/2b)/n^5),
/// with tanh x = 1 - 2/(exp(2x) + 1): the ones add up to 31/32 zeta(5), the rest falls off faster than exp(-n pi).
static double rectangle_torsion(double a, double b) {
  constexpr double zeta5 = 1.0369277551433699263;
  double rest = 0;
  for (int n = 1; n <= 13; n += 2) rest += 2 / ((std::exp(n * pi * a / b) + 1) * std::pow(n, 5));
  const double sum = 31 * zeta5 / 32 - rest;
  return a * b * b * b * (1.0 / 3 - 64 / std::pow(pi, 5) * (b / a) * sum);
}

SectionProperties RectangleSection::properties(double nu) const {
  const double area = width * height, shear = 10 * (1 + nu) / (12 + 11 * nu);  // Cowper, rectangle
  const double torsion = rectangle_torsion(std::max(width, height), std::min(width, height));
  return {area, area * height * height / 12, area * width * width / 12, torsion, shear, shear, 0.5 * std::hypot(width, height)};
}

}  // namespace osier
