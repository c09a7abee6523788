// The method of "Stable Cosserat Rods" (SCR, 2025) with its viscous addendum (VSCR, 2026), on any graph.
// Settings here; the algorithm box is in solver.cpp, its sub-steps in position_update.hpp and orientation_update.hpp.
#pragma once

#include <memory>
#include <optional>

#include "solvers/solver.hpp"
#include "solvers/stable_cosserat/lambda.hpp"

namespace osier::stable_cosserat {

enum class Order : std::uint8_t { gauss_seidel, red_black, jacobi };
enum class Method : std::uint8_t { automatic, sweep, direct };

}  // namespace osier::stable_cosserat

namespace osier {
template <>
struct Choices<stable_cosserat::Lambda> {
  static constexpr std::array<const char*, 3> names{"approx", "exact", "secular"};
};
template <>
struct Choices<stable_cosserat::Method> {
  static constexpr std::array<const char*, 3> names{"auto", "sweep", "direct"};
};
template <>
struct Choices<stable_cosserat::Order> {
  static constexpr std::array<const char*, 3> names{"gauss_seidel", "red_black", "jacobi"};
};
}  // namespace osier

namespace osier::stable_cosserat {

/// Sweeps that stop when their estimated error is below a share of what the step changes (sweep_error.hpp). A step that does not
/// get there within the limit leaves the state as it was.
struct SweepGoal {
  double tolerance;
  int limit;
  int expected = 16;  ///< sweeps
  double kappa = 1;   ///< of the slow modes that may be there (method_cost.hpp)
  double give = 0;    ///< how far a vertex moves for one unit of strain [m]: what rounding is to be measured by
};

class Settings : public SolverSettings {
 public:
  Method method = Method::automatic;
  int iteration_count = 4;
  bool iterations_given = false, sweeps_asked_for = false;
  std::optional<double> tolerance;
  std::optional<int> max_iterations;
  std::optional<SweepGoal> goal;  ///< of sweeps that `auto` has chosen
  Lambda lambda = Lambda::secular;
  Order order = Order::red_black;
  Precision number = Precision::double_precision;
  int thread_count = 1;
  Simd instructions = Simd::automatic;

  static const char* kind() { return "stable_cosserat"; }
  static const char* help() {
    return "Stable Cosserat Rods with the viscous addendum: vertex block descent for positions, closed-form quaternions for "
           "orientations, a few sweeps per step; or the same energy by direct solves along the rods.";
  }
  template <class F>
  void fields(F& f) {
    f("method", method,
      "`sweep`: the paper's updates, a few per step; `direct`: coupled Gauss–Newton steps, each solved in one pass along the "
      "rods (by conjugate gradients where they form many loops), which converge in a few iterations however stiff the rods are; "
      "`auto`: sweeps, until their estimated error is below the tolerance, where that is expected to take less than half the "
      "time of direct solves and no torques act; otherwise, and in statics, `direct` (`osier info` says which and why); "
      "`sweep` where `order` or `lambda` is given");
    f("iterations", iteration_count,
      "Sweeps, or Gauss–Newton iterations, per time step (unless `tolerance` is given). `auto` then takes `direct`, unless that "
      "many sweeps are enough",
      {.min = 1});
    f("tolerance", tolerance,
      "Instead of a fixed number: until the error of positions is below this fraction of the step's motion; 1e-3 unless "
      "`iterations` are given. `direct` and sweeps of `auto` judge by how their corrections decay. `sweep`, where it "
      "is asked for: until the largest left-over force is below this fraction of the largest force at work",
      {.min = 0, .max = 1, .above_min = true});
    f("max_iterations", max_iterations,
      "Most iterations per step when a tolerance decides; beyond, the step counts as not converged, and sweeps of `auto` give "
      "way "
      "to `direct`. 10000 sweeps or 50 Gauss–Newton iterations when left out",
      {.min = 1});
    f("lambda", lambda,
      "How |q| = 1 is met: the paper's approximation (Eq. 22), its fixed point (Algorithm 1), or the exact secular root");
    f("order", order, "Sequential sweeps; coloured sweeps (parallel, the same result for any thread count); or all at once");
    f("precision", number, "Number type of the sweeps or of the direct solves; positions are accumulated in double either way");
    f("threads", thread_count, "Threads of direct solves, and of sweeps in the orders `red_black` and `jacobi`",
      {.min = 1, .max = 1024});
    f("simd", instructions,
      "Instructions of the kernels: the widest this machine has, none (`off`: one number at a time), or a given set; results "
      "differ by rounding");
    if (f.has("iterations") && f.has("tolerance")) f.problem("both `iterations` and `tolerance` are given", "keep one of them");
    iterations_given = f.has("iterations");
    sweeps_asked_for = f.has("order") || f.has("lambda");
    const bool sweeps = method == Method::sweep || (method == Method::automatic && sweeps_asked_for);
    if (f.has("max_iterations") && !f.has("tolerance") && (sweeps || iterations_given))
      f.problem("`max_iterations` without `tolerance`", "add `tolerance`, or use `iterations`");
    if (method == Method::direct)
      for (const char* key : {"lambda", "order"})
        if (f.has(key)) f.problem(std::string("`") + key + "` belongs to sweeps", "leave it out, or use `method` sweep");
    if (order == Order::gauss_seidel && thread_count > 1)
      f.problem("`threads` with sequential sweeps", "use `order` red_black or jacobi");
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  std::unique_ptr<Solver> make_sweeps(const Model& model) const;
  std::unique_ptr<Solver> make_direct(const Model& model) const;
  /// These settings for sweeps that `auto` has chosen: a fixed number of them, or with a goal.
  Settings sweeps_of_auto(const Model& model, const Control& control, double h, const MethodChoice& choice) const;
  const char* name() const override { return "stable_cosserat"; }
  Traits traits() const override { return {.statics = can_solve_statics(), .single_precision = true}; }
  Precision precision() const override { return number; }
  int threads() const override { return thread_count; }
  Simd simd() const override { return instructions; }
  Simd simd_on(const Model& model) const override;
  bool can_solve_statics() const override { return method != Method::sweep && !sweeps_asked_for; }
  Problem no_statics() const override {
    if (method == Method::sweep)
      return {"/solver/method", "`sweep` cannot solve statics", "use `auto` or `direct`, or the solver `newton`"};
    return {"/solver", "`order` and `lambda` belong to sweeps, which cannot solve statics",
            "leave them out, or use the solver `newton`"};
  }
  int iterations() const override { return tolerance || (method != Method::sweep && !iterations_given) ? 0 : iteration_count; }
  void check(const Model& model, bool driven, Problems& problems) const override;
  MethodChoice choose(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::size_t bytes(const Model& model, const Control& control, double h) const override;
  std::size_t sweep_bytes(const Model& model) const;
};

}  // namespace osier::stable_cosserat
