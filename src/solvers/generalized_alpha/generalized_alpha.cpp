#include "solvers/generalized_alpha/generalized_alpha.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "solvers/generalized_alpha/elimination.hpp"
#include "solvers/generalized_alpha/rod_plan.hpp"

namespace osier::generalized_alpha {

namespace {
constexpr double kUsualRho = 0.8;
}

Weights Settings::weights() const {
  if (alpha && beta && gamma) return {*alpha, *beta, *gamma};
  return weights_of(rho_infinity.value_or(kUsualRho));
}

std::optional<double> Settings::own_rho() const {
  if (alpha) return {};
  return rho_infinity.value_or(kUsualRho);
}

Traits Settings::traits() const {
  Traits t{.statics = true};
  t.branches = t.cables = t.fracture = false;
  t.hinges = t.rotary_damping = t.frame_holds = t.inner_pins = false;
  t.integrators = t.integrator_choice = false;
  t.own_balance = t.control_at_start = t.threads = t.simd = t.single_directions = true;
  t.stability = false;
  t.strains = theory == Theory::cosserat;
  return t;
}

void Settings::set_goal(const StepGoal& goal) {
  if (goal.tolerance) tolerance = std::clamp(*goal.tolerance, 1e-14, 1e-2);
  if (goal.max_iterations) max_iterations = *goal.max_iterations;
}

void Settings::check(const Model& m, bool, Problems& problems) const {
  if (!segment_masses(m))
    problems.add("/solver/name", "`generalized_alpha` does not support point masses on vertices",
                 "use `direct`, or leave the point masses out");
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (theory == Theory::kirchhoff || m.segment_stiffness[static_cast<std::size_t>(s)].smallest() > 0) continue;
    problems.add("/solver/name", "`generalized_alpha` needs rods that resist stretch and shear",
                 "give them stiffness, or use `theory` kirchhoff, or `direct`");
    return;
  }
}

SolverPlan Settings::plan(const Model& m, const Control&, double h) const {
  const std::size_t rods = find_rods(m, false).size();
  const Weights w = weights();
  const std::string what = fmt::format("{} rod{} as boundary-value problem{} ({})", rods, rods == 1 ? "" : "s",
                                       rods == 1 ? "" : "s", theory == Theory::kirchhoff ? "Kirchhoff" : "Cosserat");
  if (h == 0) return {name(), what + ", steps of backward Euler that grow until nothing moves"};
  return {name(), fmt::format("{}, alpha {:.3g}, beta {:.3g}, gamma {:.3g}", what, w.alpha, w.beta, w.gamma)};
}

void Settings::warn(const Model& m, double h, bool, std::vector<std::string>& warnings) const {
  const Weights w = weights();
  if (std::abs(w.alpha - w.beta + w.gamma - 0.5) > 1e-9)
    warnings.push_back(
        fmt::format("/solver: alpha - beta + gamma is {:.3g}: of first order in time, and damps more than asked for; of second "
                    "order it is 1/2, "
                    "which `rho_infinity` sees to",
                    w.alpha - w.beta + w.gamma));
  if (rho_infinity == 1.0)
    warnings.push_back("/solver/rho_infinity: 1 damps nothing; under gravity steps may fail, use at most 0.9");
  // A sudden load makes forces alternate from station to station where a cell is longer than what bends in one step.
  double worst = 0, sharpest = 0;
  for (const Rod& rod : find_rods(m, false))
    for (const auto& cell : rod.model.cells) {
      worst = std::max(worst, cell.h / std::pow(rod.model.bending * h * h / cell.rhoA, 0.25));
      sharpest = std::max(sharpest, norm(cell.k0) * cell.h);
    }
  constexpr double kCoarse = 2, kSharp = 0.5;
  if (worst > kCoarse)
    warnings.push_back(
        fmt::format("/solver: segments are {:.2g} times as long as bending spreads in one step: after sudden loads forces "
                    "alternate along the rod; "
                    "use longer steps or more segments",
                    worst));
  if (sharpest > kSharp)
    warnings.push_back(
        fmt::format("/rods: a segment turns by {:.2g} rad at rest: use more segments, 0.3 rad or less are accurate", sharpest));
}

std::optional<std::size_t> Settings::bytes(const Model& m, const Control&, double) const {
  std::size_t longest = 0, all = 0;
  for (const Rod& rod : find_rods(m, false)) {
    longest = std::max(longest, rod.segments.size());
    all += rod.segments.size();
  }
  constexpr std::size_t kPivots = Elimination<double>::kKept * sizeof(double);
  constexpr std::size_t kStepper = 2 * (sizeof(Station<double>) * 4 + sizeof(Rates<double>) * 6 + sizeof(StageEnd<double>) +
                                        sizeof(StrainLaw<double>) + sizeof(CellForce<double>) + sizeof(Residual<double>));
  constexpr std::size_t kModel = sizeof(Cell<double>) + 3 * sizeof(Quatd) + 2 * sizeof(Vec3d) + 40;
  const std::size_t lanes = static_cast<std::size_t>(lane_kernel_by(execution.simd).lanes);
  return longest * static_cast<std::size_t>(execution.threads) * 2 * lanes * (kPivots + kStepper) + all * kModel;
}

}  // namespace osier::generalized_alpha
