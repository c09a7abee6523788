#include "materials/material.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <string_view>
#include <utility>

namespace osier {

Section Material::section(Problems& problems, std::vector<std::string>& warnings) const {
  Section s;
  const bool reported = problems.mentions(where);  // do not call a value missing that was only misspelt
  const double area = radius ? std::numbers::pi * *radius * *radius : 0;
  const double second_moment = radius ? 0.25 * area * *radius * *radius : 0;
  const auto from = [&](const std::optional<double>& raw, const std::optional<double>& si, double factor, const char* raw_name,
                        const char* si_name) {
    if (raw) return *raw;
    if (si && radius) return *si * factor;
    if (!reported)
      problems.add(where, fmt::format("`{}` is missing", raw_name),
                   fmt::format("give `{}`, or `{}` and `radius`", raw_name, si_name));
    return 1.0;
  };
  s.stretch_shear = from(stretch_shear, young, area, "stretch_shear", "young");
  s.bend_twist = from(bend_twist, young, second_moment, "bend_twist", "young");
  s.line_density = from(line_density, density, area, "line_density", "density");
  s.radius = radius.value_or(0);
  s.tau_stretch = tau_stretch;
  s.tau_bend = tau_bend;
  if (strain_limit) s.strain_limit = *strain_limit;

  if (poisson && shear_modulus) problems.add(where, "both `poisson` and `shear_modulus` are given", "keep one of them");
  if ((poisson || shear_modulus) && !young) problems.add(where, "`poisson` or `shear_modulus` without `young`", "add `young`");
  if ((poisson || shear_modulus) && bend_twist)
    problems.add(where + (poisson ? "/poisson" : "/shear_modulus"), "has no effect beside `bend_twist`", "keep one of them");
  for (const auto& [name, value] :
       {std::pair{"stretch_shear", s.stretch_shear.d3}, {"bend_twist", s.bend_twist.d3}, {"line_density", s.line_density}}) {
    const bool may_vanish = name == std::string_view("bend_twist") && bend_twist;
    if (!reported && (!std::isfinite(value) || (value == 0 && !may_vanish)))
      problems.add(where, fmt::format("{} comes out as {}", name, value), "check modulus, density and radius");
  }
  if (young && radius && !bend_twist) {
    double shear = *young / 2;
    if (poisson) shear = *young / (2 * (1 + *poisson));
    if (shear_modulus) shear = *shear_modulus;
    const double gj = shear * 2 * second_moment;
    if (std::abs(gj - s.bend_twist.d3) > 1e-9 * s.bend_twist.d3)
      warnings.push_back(
          fmt::format("{}: twisting uses EI = {:.6g} N·m² as bending does; GJ = {:.6g} N·m² is not represented "
                      "by the isotropic energy",
                      where, s.bend_twist.d3, gj));
  }
  return s;
}

}  // namespace osier
