// The method of "Cosserat Rods with Projective Dynamics" (Soler, Martin, Sorkine-Hornung 2018), repaired and as printed. Settings
// here; the algorithm box is in solver.cpp, its local step in local_step.hpp and paper_sweep.hpp, its global step in
// global_step.hpp.
#pragma once

#include <memory>
#include <optional>

#include "solvers/solver.hpp"

namespace osier::projective {

enum class Variant : std::uint8_t { exact, paper };
enum class Iteration : std::uint8_t { automatic, sweeps, anderson, coupled };
enum class SweepOrder : std::uint8_t { gauss_seidel, jacobi };

}  // namespace osier::projective

namespace osier {
template <>
struct Choices<projective::Variant> {
  static constexpr std::array<const char*, 2> names{"exact", "paper"};
};
template <>
struct Choices<projective::Iteration> {
  static constexpr std::array<const char*, 4> names{"auto", "sweeps", "anderson", "coupled"};
};
template <>
struct Choices<projective::SweepOrder> {
  static constexpr std::array<const char*, 2> names{"gauss_seidel", "jacobi"};
};
}  // namespace osier

namespace osier::projective {

/// chi = c h/r: how far a wave of stretching runs in a step, over the radius of the section (of a round one; r = 2 sqrt(EI/EA)).
/// The slowest error of a sweep decays by r/(c h). The largest of the model; infinity where segments have no joints.
double chi_of(const Model& model, double h);

class Settings : public SolverSettings {
 public:
  Variant variant = Variant::exact;
  Iteration iteration = Iteration::automatic;
  std::optional<int> iteration_count;
  std::optional<double> tolerance;
  std::optional<int> max_iterations;
  int history = 8;
  SweepOrder order = SweepOrder::gauss_seidel;

  static const char* kind() { return "projective"; }
  static const char* help() {
    return "Cosserat rods with projective dynamics: sweeps of one global solve along the rods for positions and one for turns, "
           "with "
           "the exact gradients of the energy (`variant` exact), or with the projections and weights of the paper (`paper`), "
           "which "
           "make a rod of bending and twisting stiffness 2 G J3. Dynamics only.";
  }
  template <class F>
  void fields(F& f) {
    f("variant", variant,
      "`exact`: converges to the minimum of the step's energy, like `newton`. `paper`: projections and weights as printed, for "
      "the "
      "record: of a material it knows EA and G J3 only, and bends and twists with 2 G J3");
    f("iteration", iteration,
      "`sweeps`; `anderson`: sweeps with Anderson acceleration; `coupled`: Gauss–Newton steps over positions and turns together, "
      "by "
      "the solver `direct`. `auto` takes the first up to chi = c h/r = 10, the second up to 50 and the third beyond, c being the "
      "speed of stretching waves, h the step and r the radius of the section; steps in which something may touch something are "
      "coupled");
    f("iterations", iteration_count,
      "Sweeps per time step, or Gauss–Newton steps where coupled. When left out: 10 sweeps; with acceleration 3 sqrt(chi), and 3 "
      "chi in steps in contact, which `iteration` anderson does without; where coupled as many as the usual tolerance of "
      "`direct` takes",
      {.min = 1});
    f("tolerance", tolerance,
      "Instead of a fixed number: until the largest left-over force of a rod is below this fraction of the largest force at work "
      "in "
      "it; where coupled, the tolerance of `direct`",
      {.min = 0, .max = 1, .above_min = true});
    f("max_iterations", max_iterations,
      "Most sweeps per step when a tolerance decides; beyond, the step counts as not converged. 10000 when left out, 50 where "
      "coupled, and three times as many in steps in contact",
      {.min = 1});
    f("history", history, "Earlier results that Anderson acceleration combines", {.min = 1, .max = 8});
    f("order", order,
      "`gauss_seidel`: positions, then turns. `jacobi`: both from the same iterate, as printed, for `variant` paper: needs twice "
      "the "
      "sweeps, and odd numbers of them may never come to rest");
    if (f.has("iterations") && f.has("tolerance")) f.problem("both `iterations` and `tolerance` are given", "keep one of them");
    if (f.has("max_iterations") && !f.has("tolerance"))
      f.problem("`max_iterations` without `tolerance`", "add `tolerance`, or use `iterations`");
    if (f.has("history") && (variant == Variant::paper || iteration == Iteration::sweeps || iteration == Iteration::coupled))
      f.problem("`history` applies only to Anderson acceleration", "leave it out, or use `iteration` anderson");
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "projective"; }
  Traits traits() const override;
  bool works_to_tolerance() const override { return tolerance.has_value(); }
  void set_goal(const StepGoal& goal) override {
    iteration_count = goal.iterations;
    tolerance = goal.tolerance;
    max_iterations = goal.max_iterations;
  }
  Simd simd_on(const Model& model) const override;
  void check(const Model& model, bool driven, Problems& problems) const override;
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override;

  /// The kind of iteration for steps of length h, never automatic, and the number of them (0: a tolerance decides).
  Iteration iteration_for(double chi) const;
  int iterations_for(double chi) const;
  /// The kind of iteration for steps in which something is near: contacts are stiff, and vertex by vertex they converge slowly.
  Iteration iteration_with_contact(double chi) const;
  /// The number in steps in which something is near, which are not accelerated.
  int iterations_with_contact(double chi) const;
  /// The settings of the coupled iteration: those of the solver that converges.
  std::unique_ptr<SolverSettings> coupled() const;
};

}  // namespace osier::projective
