// Sweeps or direct solves: which of the two a scene gets.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "solvers/direct/split_solver.hpp"
#include "solvers/stable_cosserat/method_cost.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_system.hpp"

namespace osier::stable_cosserat {

namespace {

/// Sees the first step before it decides: what is held and how long a step is say which method is cheaper. Sweeps that do not get
/// to their goal are given up for good: what slowed them down in one step is likely to do so in the next.
class LateChoice final : public Solver {
 public:
  explicit LateChoice(const Settings& settings) : settings_(settings) {}
  StepReport step(const StepInput& input, State& state) override {
    if (!solver_) choose(input.model, input.end, input.h);
    StepReport report = solver_->step(input, state);
    if (!may_give_up_ || !report.not_converged) return report;
    const int sweeps = report.iterations;  // the state is as it was
    may_give_up_ = false;
    solver_ = settings_.make_direct(input.model);
    report = solver_->step(input, state);
    report.sweeps_given_up = sweeps;
    return report;
  }
  StepReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    if (!solver_) choose(input.model, input.end, 0);
    return solver_->solve_static(input, state, options);
  }
  void rebind(const Model& m, State& state) override {
    if (solver_) solver_->rebind(m, state);
  }

 private:
  void choose(const Model& m, const Control& c, double h) {
    const MethodChoice choice = settings_.choose(m, c, h);
    if (choice.method == "direct") {
      solver_ = settings_.make_direct(m);
    } else {
      const Settings sweeps = settings_.sweeps_of_auto(m, c, h, choice);
      may_give_up_ = sweeps.goal.has_value();
      solver_ = sweeps.make_sweeps(m);
    }
  }
  Settings settings_;
  std::unique_ptr<Solver> solver_;
  bool may_give_up_ = false;
};

/// What makes the recursion dearer than along a chain.
std::string shape_of(const systems::Tree& tree) {
  using Kind = systems::TreeRow::Kind;
  const auto any = [&](std::initializer_list<Kind> kinds) {
    return std::any_of(tree.rows.begin(), tree.rows.end(),
                       [&](const systems::TreeRow& r) { return std::find(kinds.begin(), kinds.end(), r.kind) != kinds.end(); });
  };
  const systems::TreePlan plan = tree.plan();
  const double times = plan.work() / (systems::TreePlan::kWorkOfLink * std::max(1, plan.node_count()));
  if (times < 1.05) return "as cheap as along a chain";
  std::vector<std::string> causes;
  if (any({Kind::close_segment})) causes.emplace_back("loops");
  if (any({Kind::close_joint})) causes.emplace_back("joints where rods meet");
  if (any({Kind::hold_vertex, Kind::hold_frame, Kind::hinge_frame})) causes.emplace_back("supports");
  return fmt::format("with {:.1f} times the work of a chain because of {}", times, fmt::join(causes, ", "));
}

/// By how much sweeps have to be cheaper.
constexpr double kAdvantage = 2;

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.0f} µs", 1e6 * seconds) : fmt::format("{:.3g} ms", 1e3 * seconds);
}

}  // namespace

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (method == Method::direct) return make_direct(model);
  if (method == Method::sweep || sweeps_asked_for) return make_sweeps(model);
  return std::make_unique<LateChoice>(*this);
}

std::unique_ptr<Solver> Settings::make_direct(const Model& model) const {
  systems::Options options{.iterations = iterations(), .precision = number, .threads = thread_count, .simd = instructions};
  if (tolerance) options.tolerance = *tolerance;
  if (max_iterations) options.max_iterations = *max_iterations;
  return direct::make_solver(model, options);
}

Settings Settings::sweeps_of_auto(const Model& m, const Control& c, double h, const MethodChoice& choice) const {
  Settings s = *this;
  if (iterations_given || !choice.costs) return s;
  // Worth a few times what direct solves would take, since the numbers are estimates, but no more.
  constexpr double kPatience = 3;
  const double limit = std::clamp(kPatience * choice.costs->direct_seconds / choice.costs->sweep_seconds, 32.0, 1e6);
  const SweepRatios ratios = sweep_ratios(m, c, h);
  s.number = sweep_precision(*this, m, c, h, ratios);
  s.goal = SweepGoal{.tolerance = tolerance.value_or(systems::Options{}.tolerance),
                     .limit = static_cast<int>(limit),
                     .expected = static_cast<int>(choice.costs->sweeps),
                     .kappa = std::max(ratios.vertex, ratios.frame),
                     .give = ratios.give};
  if (max_iterations) s.goal->limit = std::min(s.goal->limit, *max_iterations);
  s.tolerance.reset();
  return s;
}

MethodChoice Settings::choose(const Model& m, const Control& c, double h) const {
  if (method == Method::sweep) return {"sweep", "asked for", {}};
  if (method == Method::automatic && sweeps_asked_for) return {"sweep", "`order` and `lambda` belong to sweeps", {}};
  if (h == 0)
    return {"direct",
            (systems::TreeSystem::suits(m, c)
                 ? "Newton's method on the recursion along the rods, "
                 : "Newton's method on a sparse factor, which suits this graph better; the recursion: ") +
                shape_of(systems::build_tree(m, c)),
            {}};
  const direct::RestPlan rest = direct::plan_rest(m, c, h, {.precision = number, .simd = instructions});
  const std::string shape =
      rest.plan.loops == systems::Loops::blocks
          ? fmt::format("by conjugate gradients because of loops, some {:.0f} for a solve", rest.plan.iterations)
          : shape_of(systems::build_tree(m, c));
  const MethodCosts costs = method_costs(*this, m, c, h, rest);
  const int sweeps = static_cast<int>(std::lround(costs.sweeps));
  const std::string direct_text =
      fmt::format("about {} a step, {}; {} of {} segments in SIMD lanes", time_text(costs.direct_seconds), shape,
                  direct::segments_in_lanes(m, c, {.precision = number, .simd = instructions}) +
                      (rest.plan.loops == systems::Loops::blocks ? rest.segments : 0),
                  m.segment_count());
  const bool doubled = number == Precision::single_precision &&
                       sweep_precision(*this, m, c, h, sweep_ratios(m, c, h)) == Precision::double_precision;
  const std::string sweep_text =
      fmt::format("about {} sweeps{}, {} a step", sweeps, doubled ? " (in double: float is too coarse)" : "",
                  time_text(costs.sweeps_seconds()));
  if (method == Method::direct) return {"direct", "asked for; " + direct_text, costs};
  if (iterations_given && iteration_count >= sweeps)
    return {"sweep", fmt::format("`iterations` are {}, and {} are expected to converge", iteration_count, sweeps), costs};
  if (iterations_given)
    return {"direct",
            fmt::format("`iterations` are {}, too few for sweeps ({} to converge); direct: {}", iteration_count, sweep_text,
                        direct_text),
            costs};
  if (c.has_torque) return {"direct", "sweeps pass a torque on by one segment at a time; direct: " + direct_text, costs};
  if (max_iterations && *max_iterations < sweeps)
    return {"direct", fmt::format("`max_iterations` are fewer than {}; direct: {}", sweep_text, direct_text), costs};
  // Sweeps stop at the tolerance, direct solves far below it, and the number of sweeps is known to a factor of two or so.
  if (kAdvantage * costs.sweeps_seconds() < costs.direct_seconds)
    return {"sweep", fmt::format("expected to reach the tolerance sooner: {}; direct: {}", sweep_text, direct_text), costs};
  const char* why = costs.direct_seconds < costs.sweeps_seconds()
                        ? "expected to reach the tolerance sooner"
                        : "converges further, and sweeps are not expected to be twice as fast";
  return {"direct", fmt::format("{}: {}; {} to converge", why, direct_text, sweep_text), costs};
}

std::size_t Settings::bytes(const Model& m, const Control& c, double h) const {
  const MethodChoice choice = choose(m, c, h);
  if (choice.method == "direct")
    return direct::bytes(m, c, h, {.precision = number, .threads = thread_count, .simd = instructions});
  return method == Method::automatic && !sweeps_asked_for ? sweeps_of_auto(m, c, h, choice).sweep_bytes(m) : sweep_bytes(m);
}

}  // namespace osier::stable_cosserat
