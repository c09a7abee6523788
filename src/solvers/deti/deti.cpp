#include "solvers/deti/deti.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "solvers/deti/fibre_plan.hpp"

namespace osier::deti {

Traits Settings::traits() const {
  Traits t{.statics = true, .threads = true, .simd = true};
  t.loops = t.hinges = t.rotational_inertia = t.torques = t.rotary_damping = false;
  t.integrators = t.integrator_choice = t.stability = false;
  t.own_balance = t.control_at_start = true;
  // A cuboid passes on shear without a strain of the segment, and its bending stretches it.
  t.strains = false;
  const bool is_printed = scheme == Scheme::paper;
  t.contacts = !is_printed;
  t.damping = !is_printed;  // but for alpha0 and alpha1
  // Springs between fibres belong to a system over all of them.
  t.springs = !is_printed && functions == Functions::factored && variant == Variant::double_pole;
  return t;
}

Simd Settings::simd_on(const Model& model) const {
  if (execution.simd == Simd::off || functions == Functions::krylov || scheme == Scheme::paper) return Simd::off;
  const FibrePlan fibres = plan_fibres(model, *this);
  std::vector<Index> sizes;
  for (const Chain& c : fibres.chains) sizes.push_back(c.fibre.size());
  std::sort(sizes.begin(), sizes.end());
  return std::adjacent_find(sizes.begin(), sizes.end()) != sizes.end() ? execution.simd : Simd::off;
}

void Settings::check(const Model& model, bool, Problems& problems) const {
  const FibrePlan fibres = plan_fibres(model, *this);
  for (const auto& [what, remedy] : fibres.problems) problems.add("/solver/name", "`deti`: " + what, remedy);
  if (functions == Functions::krylov && !fibres.has_one_tau())
    problems.add("/solver/functions", "`krylov` needs one damping time for all springs, and the materials have several",
                 "use `functions` factored, or the same time for stretching and bending everywhere");
  for (Index v = 0; v < model.vertex_count(); ++v) {
    if (!model.vertex_segments.of(v).empty() && !(model.vertex_mass[v] > 0)) {
      problems.add("/solver/name", fmt::format("`deti` needs mass everywhere, and vertex {} has none", v), "give rods a density");
      break;
    }
  }
  const auto breaks = [](double limit) { return std::isfinite(limit); };
  if (std::any_of(model.joint_bend_limit.begin(), model.joint_bend_limit.end(), breaks) ||
      std::any_of(model.joint_twist_limit.begin(), model.joint_twist_limit.end(), breaks))
    problems.add("/solver/name", "`deti` cannot break joints, whose segments would go on sharing a section",
                 "leave the limits of bending and twisting out, or use `direct`");
}

SolverPlan Settings::plan(const Model& model, const Control&, double) const {
  const FibrePlan fibres = plan_fibres(model, *this);
  if (fibres.chains.empty()) return {};
  double side = 0;
  for (const Chain& c : fibres.chains) side = std::max(side, c.fibre.side);
  return {name(), fmt::format("{} fibre{} of cuboids up to {:.3g} m wide; {} per step", fibres.chains.size(),
                              fibres.chains.size() == 1 ? "" : "s", side,
                              scheme == Scheme::paper           ? "the printed scheme"
                              : functions == Functions::krylov  ? "Lanczos' method"
                              : variant == Variant::double_pole ? "one real factorisation"
                                                                : "one complex factorisation")};
}

void Settings::warn(const Model& model, double, bool, std::vector<std::string>& warnings) const {
  constexpr double kNotable = 0.01, kCurved = 0.3;
  double shear = 0, curvature = 0;
  for (const Chain& c : plan_fibres(model, *this).chains) {
    shear = std::max(shear, c.shear);
    curvature = std::max(curvature, c.curvature);
  }
  if (scheme == Scheme::paper)
    warnings.push_back(
        "`scheme` paper is right for small motion about the start only: elsewhere it comes to rest where forces do not balance, "
        "or blows up; use `scheme` saturated for results");
  if (network == Network::paper)
    warnings.push_back(
        "`network` paper bends with a multiple of the stiffness of its material, or less, and twists without resistance; use "
        "`network` "
        "scaffold for the material that was given");
  if (shear > kNotable)
    warnings.push_back(fmt::format(
        "shear of the material, which `deti` leaves out, would add {:.2g} % to the bending of the shortest rod; use `direct`",
        100 * shear));
  if (curvature > kCurved)
    warnings.push_back(
        fmt::format("the rest shape bends by {:.2g} rad over the side of a cuboid: bending is off by about the square of that; "
                    "use shorter segments",
                    curvature));
}

}  // namespace osier::deti
