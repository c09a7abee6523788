#include "materials/material.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace osier {

void Material::check(Problems& problems) const {
  const auto add = [&](const char* key, const char* what, const char* remedy) {
    problems.add(*key ? where + "/" + key : where, what, remedy);
  };
  if (poisson && shear_modulus) add("", "both `poisson` and `shear_modulus` are given", "keep one of them");
  if (radius && shape) add("", "both `radius` and `section` are given", "keep one of them");
  if ((poisson || shear_modulus) && !young && !preset.value)
    add("", "`poisson` or `shear_modulus` without `young`", "add `young`");

  // What is accepted is used.
  const bool raw_shear = shear || stretch_shear, raw_twist = twist || bend_twist;
  const bool raw_stretch = stretch || stretch_shear, raw_bend = bend || bend_twist;
  if (raw_shear && raw_twist)
    for (const auto& [key, given] : {std::pair{"poisson", poisson.has_value()}, {"shear_modulus", shear_modulus.has_value()}})
      if (given) add(key, "has no effect beside given stiffnesses of shearing and twisting", "leave it out");
  if (raw_stretch && raw_shear && raw_bend && raw_twist) {
    if (young) add("young", "has no effect beside given stiffnesses", "leave it out");
    if (preset.value && (line_density || density) && (radius || shape))
      add("preset", "has no effect: everything else is given", "leave it out");
  }
  if (stretch && shear && stretch_shear) add("stretch_shear", "has no effect beside `stretch` and `shear`", "leave it out");
  if (bend && twist && bend_twist) add("bend_twist", "has no effect beside `bend` and `twist`", "leave it out");
  if (density && line_density) add("density", "has no effect beside `line_density`", "keep one of them");
}

Section Material::section(Problems& problems) const {
  const bool reported = problems.mentions(where);  // do not call a value missing that was only misspelt
  check(problems);

  // Moduli: the keys, then the preset.
  std::optional<double> E = young, rho = density, G = shear_modulus, r = radius;
  if (const Preset* p = preset.value) {
    if (!E) E = p->young;
    if (!rho) rho = p->density;
    if (!G && !poisson) G = p->shear_modulus;
    if (!r) r = p->radius;
  }
  if (!G && poisson && E) G = *E / (2 * (1 + *poisson));
  // E and G of a fibre need not be those of an isotropic solid; the shear correction still wants a Poisson ratio.
  const double nu = poisson ? *poisson : E && G ? std::clamp(*E / (2 * *G) - 1, 0.0, 0.5) : 0.0;

  // Section.
  const CircleSection circle(r.value_or(0));
  const SectionShape* form = shape ? shape.get() : r ? &circle : nullptr;
  if (form && !problems.mentions(form->where)) form->check(problems);
  const SectionProperties a = form ? form->properties(nu) : SectionProperties{};
  const bool paper = form && E && !G && form->round();  // GJ = EI, GA = EA

  // Stiffness: a key of its own, a combined key, SI.
  Section s;
  PerAxis &ss = s.stretch_shear, &bt = s.bend_twist;
  const bool solid = form && E;
  const bool has_stretch = stretch || stretch_shear || solid, has_bend = bend || bend_twist || solid;
  const bool sheared = solid && (G || paper);
  const bool has_shear = shear || stretch_shear || sheared, has_twist = twist || bend_twist || sheared;
  if (solid) ss.d3 = *E * a.area, bt = {*E * a.bend_1, *E * a.bend_2, 0};
  if (paper) ss.d1 = ss.d2 = ss.d3, bt.d3 = bt.d1;
  else if (sheared) ss.d1 = *G * a.area * a.shear_1, ss.d2 = *G * a.area * a.shear_2, bt.d3 = *G * a.torsion;
  if (stretch_shear) ss = *stretch_shear;
  if (bend_twist) bt = *bend_twist;
  if (stretch) ss.d3 = *stretch;
  if (shear) ss.d1 = shear->d1, ss.d2 = shear->d2;
  if (bend) bt.d1 = bend->d1, bt.d2 = bend->d2;
  if (twist) bt.d3 = *twist;

  const bool has_mass = line_density || (rho && form);
  s.line_density = line_density ? *line_density : rho.value_or(0) * a.area;
  if (form && a.area > 0) s.inertia = (s.line_density / a.area) * PerAxis(a.bend_1, a.bend_2, a.bend_1 + a.bend_2);
  s.radius = a.radius;
  s.tau_stretch = {tau_shear.value_or(tau_stretch), tau_shear.value_or(tau_stretch), tau_stretch};
  s.tau_bend = {tau_bend, tau_bend, tau_twist.value_or(tau_bend)};
  if (strain_limit) s.strain_limit = *strain_limit;
  if (curvature_limit) s.curvature_limit = *curvature_limit;
  if (twist_limit) s.twist_limit = *twist_limit;
  if (reported) return s;

  const auto missing = [&](const char* key, const char* si) {
    problems.add(where, fmt::format("`{}` is missing", key), fmt::format("give `{}`, or {} and a section (`radius`)", key, si));
  };
  const bool modulus = solid && !sheared;  // a section that is not round, without G
  if (!has_stretch && !has_shear) missing("stretch_shear", "`young`");
  else if (!has_stretch) missing("stretch", "`young`");
  else if (!has_shear && !modulus) missing("shear", "`young`");
  if (!has_bend && !has_twist) missing("bend_twist", "`young`");
  else if (!has_bend) missing("bend", "`young`");
  else if (!has_twist && !modulus) missing("twist", "`young`");
  if (!has_mass) missing("line_density", "`density`");
  if (modulus && (!has_shear || !has_twist))
    problems.add(where, "`poisson` or `shear_modulus` is missing",
                 "give one of them, or `shear` and `twist`; only a round section can do without");

  const auto finite = [&](const char* name, double value, bool may_vanish) {
    if (!std::isfinite(value) || (value == 0 && !may_vanish))
      problems.add(where, fmt::format("{} comes out as {}", name, value), "check moduli, density and section");
  };
  if (has_stretch) finite("EA", ss.d3, false);
  if (has_shear) finite("GA", ss.d1, false), finite("GA", ss.d2, false);
  if (has_bend) finite("EI", bt.d1, bend || bend_twist), finite("EI", bt.d2, bend || bend_twist);
  if (has_twist) finite("GJ", bt.d3, twist || bend_twist);
  if (has_mass) finite("the line density", s.line_density, false);
  return s;
}

Section scaled(const Section& section, double scale) {
  const double s2 = scale * scale, s4 = s2 * s2;
  Section s = section;
  s.stretch_shear = s2 * s.stretch_shear;
  s.line_density *= s2;
  s.bend_twist = s4 * s.bend_twist;
  s.inertia = s4 * s.inertia;
  s.radius *= scale;
  return s;
}

}  // namespace osier
