#include "solvers/projective/projective.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "solvers/projective/kernels.hpp"
#include "solvers/projective/rod_plan.hpp"

namespace osier::projective {

namespace {

constexpr double kSweepsUpTo = 10, kAndersonUpTo = 50;  ///< chi
constexpr int kSweeps = 10;

}  // namespace

double chi_of(const Model& m, double h) {
  double worst = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const double l = m.segment_rest_length[s], EA = m.segment_stiffness[s].d3 / l;
    double EI = 0;
    for (const Index e : m.frame_joints.of(s)) {
      const PerAxis& k = m.joint_stiffness[e / 2];
      EI = std::max(EI, std::min(k.d1, k.d2) * m.joint_length[e / 2] / 4);
    }
    // A vertex has half the mass of each of its segments.
    double density = 0;
    for (const Index v : m.segment_vertices[s]) {
      double length = 0;
      for (const Index e : m.vertex_segments.of(v)) length += m.segment_rest_length[e / 2] / 2;
      density = std::max(density, m.vertex_mass[v] / length);
    }
    const double c = density > 0 ? std::sqrt(EA / density) : std::numeric_limits<double>::infinity();
    const double r = 2 * std::sqrt(EI / EA);
    worst = std::max(worst, r > 0 ? c * h / r : std::numeric_limits<double>::infinity());
  }
  return worst;
}

Iteration Settings::iteration_for(double chi) const {
  if (iteration != Iteration::automatic) return iteration;
  if (variant == Variant::paper || chi <= kSweepsUpTo) return Iteration::sweeps;
  return chi <= kAndersonUpTo ? Iteration::anderson : Iteration::coupled;
}

int Settings::iterations_for(double chi) const {
  if (tolerance) return 0;
  if (iteration_count) return *iteration_count;
  switch (iteration_for(chi)) {
    case Iteration::coupled:
      return 0;
    case Iteration::anderson:
      return static_cast<int>(std::ceil(3 * std::sqrt(std::clamp(chi, 10.0, 1e4))));
    default:
      return kSweeps;
  }
}

Iteration Settings::iteration_with_contact(double chi) const {
  return iteration == Iteration::automatic ? Iteration::coupled : iteration_for(chi);
}

int Settings::iterations_with_contact(double chi) const {
  const bool left_to_us = !tolerance && !iteration_count;
  if (left_to_us && iteration_for(chi) == Iteration::anderson) return static_cast<int>(std::ceil(3 * std::clamp(chi, 10.0, 1e4)));
  return iterations_for(chi);
}

std::unique_ptr<SolverSettings> Settings::coupled() const {
  std::unique_ptr<SolverSettings> solver = make_settings(solver_with(SolverRole::converging));
  solver->execution = execution;
  solver->set_goal({.iterations = iteration_count, .tolerance = tolerance, .max_iterations = max_iterations});
  return solver;
}

Traits Settings::traits() const {
  Traits t{.contacts = true, .single_precision = true, .threads = true, .simd = true};
  if (variant == Variant::exact) return t;
  // The printed scheme has one number for stretch and one for bending and twisting, and nothing of the rest.
  t.single_precision = false;
  t.hinges = t.torques = t.rotary_damping = t.damping = t.integrators = t.contacts = false;
  return t;
}

Simd Settings::simd_on(const Model& model) const {
  if (execution.simd == Simd::off) return Simd::off;
  const RodPlan plan = plan_rods(model, 2);
  const bool side_by_side = std::any_of(plan.groups.begin(), plan.groups.end(), [](const RodGroup& g) { return g.lanes > 1; });
  return side_by_side ? execution.simd : Simd::off;
}

void Settings::check(const Model& model, bool, Problems& problems) const {
  if (variant == Variant::exact && order == SweepOrder::jacobi)
    problems.add("/solver/order", "`jacobi` is the printed order, for `variant` paper", "leave it out, or use `variant` paper");
  if (variant == Variant::exact) return;
  if (tolerance)
    problems.add("/solver/tolerance",
                 "the forces of the paper's variant do not go to zero, so that a tolerance on them is never reached",
                 "use `iterations`, or `variant` exact");
  const auto flat = [](const PerAxis& k) { return std::abs(k.d1 - k.d2) > 1e-9 * std::max(k.d1, k.d2); };
  if (std::any_of(model.joint_stiffness.begin(), model.joint_stiffness.end(), flat))
    problems.add("/solver/variant", "the paper's variant bends sections that differ in d1 and d2 as if they did not",
                 "use `variant` exact, or sections that bend alike in all directions");
  if (iteration == Iteration::anderson || iteration == Iteration::coupled)
    problems.add("/solver/iteration", "the paper's variant has sweeps only", "leave it out, or use `variant` exact");
}

SolverPlan Settings::plan(const Model& model, const Control& control, double h) const {
  const double chi = chi_of(model, h);
  const Iteration how = iteration_for(chi);
  const int count = iterations_for(chi);
  const std::string number = tolerance   ? fmt::format("to a tolerance of {:g}", *tolerance)
                             : count > 0 ? fmt::format("{} a step", count)
                                         : "to the usual tolerance of that solver";
  const std::string why = std::isfinite(chi) ? fmt::format("chi = c h/r = {:.3g}", chi) : "segments without joints";
  if (variant == Variant::paper)
    return {name(), fmt::format("the paper's projections: bends and twists with 2 G J3; sweeps, {}; {}", number, why)};
  if (how == Iteration::coupled) {
    const SolverPlan by = coupled()->plan(model, control, h);
    return {name(), fmt::format("{}: coupled Gauss–Newton steps, {}, by the solver `{}`: {}", why, number, by.solver, by.why)};
  }
  const int touching = iterations_with_contact(chi);
  const std::string contact = iteration_with_contact(chi) == Iteration::coupled
                                  ? fmt::format("; steps in contact are coupled, by the solver `{}`", coupled()->name())
                              : touching == count ? ""
                                                  : fmt::format("; steps in contact are not accelerated and take {}", touching);
  return {name(), fmt::format("{}: {}, {}{}", why, how == Iteration::sweeps ? "sweeps" : "sweeps with Anderson acceleration",
                              number, contact)};
}

void Settings::warn(const Model& model, double h, bool, std::vector<std::string>& warnings) const {
  if (variant == Variant::paper)
    warnings.push_back(
        "`variant` paper bends and twists every rod with 2 G J3, whatever its bending stiffness is; use `variant` exact for the "
        "material that was given");
  const double chi = chi_of(model, h);
  const Iteration how = iteration_for(chi);
  constexpr double kFloatFloor = 1e-5;
  if (tolerance && *tolerance < kFloatFloor && execution.in_float() && how != Iteration::coupled)
    warnings.push_back(fmt::format(
        "`tolerance` {:.3g} is below what `precision` float gives, some {:g} of the largest force: steps may go on to "
        "`max_iterations`; use `precision` double",
        *tolerance, kFloatFloor));
  const int count = iterations_for(chi);
  const bool few = (how == Iteration::sweeps && count < chi) || (how == Iteration::anderson && count < std::sqrt(chi));
  if (how != Iteration::coupled && count > 0 && few)
    warnings.push_back(
        fmt::format("chi = c h/r = {:.3g}: {} {} per step are stable, but rods move as if they were softer; leave `iteration` "
                    "and `iterations` "
                    "out, or use a `tolerance`",
                    chi, count, count == 1 ? "sweep" : "sweeps"));
}

}  // namespace osier::projective
