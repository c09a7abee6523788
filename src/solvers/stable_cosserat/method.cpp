// Sweeps or direct solves: which of the two a scene gets.
#include <algorithm>
#include <fmt/format.h>

#include "solvers/direct/split_solver.hpp"
#include "solvers/direct/tree.hpp"
#include "solvers/direct/tree_system.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

namespace {

/// Sees the first step before it decides: what is held and how long a step is say which method is cheaper.
class LateChoice final : public Solver {
 public:
  explicit LateChoice(const Settings& settings) : settings_(settings) {}
  StepReport step(const Model& m, const Control& c, State& state, double h) override {
    return chosen(m, c, h).step(m, c, state, h);
  }
  StepReport solve_static(const Model& m, const Control& c, State& state, const StaticOptions& options) override {
    return chosen(m, c, 0).solve_static(m, c, state, options);
  }
  void rebind(const Model& m) override {
    if (solver_) solver_->rebind(m);
  }

 private:
  Solver& chosen(const Model& m, const Control& c, double h) {
    if (!solver_) solver_ = settings_.choose(m, c, h).method == "direct" ? settings_.make_direct(m) : settings_.make_sweeps(m);
    return *solver_;
  }
  Settings settings_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (method == Method::direct) return make_direct(model);
  if (method == Method::sweep || sweeps_asked_for) return make_sweeps(model);
  return std::make_unique<LateChoice>(*this);
}

std::unique_ptr<Solver> Settings::make_direct(const Model& model) const {
  direct::Options options{.iterations = iterations(), .precision = number, .threads = thread_count, .simd = instructions};
  if (tolerance) options.tolerance = *tolerance;
  if (max_iterations) options.max_iterations = *max_iterations;
  return direct::make_solver(model, options);
}

MethodChoice Settings::choose(const Model& m, const Control& c, double h) const {
  if (method == Method::sweep) return {"sweep", "asked for"};
  if (method == Method::automatic && sweeps_asked_for) return {"sweep", "`order` and `lambda` belong to sweeps"};
  const direct::Tree tree = h > 0 ? direct::build_step_tree(m, c, h) : direct::build_tree(m, c);
  const direct::TreePlan plan = tree.plan();
  const double nodes = std::max(1, plan.node_count()), ratio = h > 0 ? m.stiffness_ratio(h) : 0;
  const double columns = plan.column_count() / nodes, work = direct::step_work(tree, plan, ratio) / nodes;
  const auto loop = [](const direct::TreeRow& r) {
    return r.kind == direct::TreeRow::Kind::close_segment || r.kind == direct::TreeRow::Kind::close_joint;
  };
  const bool loops = std::any_of(tree.rows.begin(), tree.rows.end(), loop);
  const std::string open =
      tree.rows.empty() ? "no loops"
                        : fmt::format("{} keep {:.1f} columns open per segment, at most {}{}: {:.1f} times the work of a chain",
                                      loops ? "loops" : "no loops; supports", columns, plan.most_columns(),
                                      tree.iterates() ? ", and long ones are closed by conjugate gradients" : "",
                                      work / direct::TreePlan::kWorkOfLink);
  const std::string numbers = h > 0 ? fmt::format("R = {:.3g}, {}", ratio, open) : open;
  if (h == 0)
    return {"direct", (direct::TreeSystem::suits(m, c) ? "Newton's method on the recursion along the rods; "
                                                       : "Newton's method on a sparse factor, which suits this graph better; ") +
                          numbers};
  const std::string in_lanes = fmt::format("; {} of {} segments in lanes", direct::segments_in_lanes(m, c), m.segment_count());
  if (method == Method::direct) return {"direct", "asked for; " + numbers + in_lanes};
  // Sweeps need some 10 (1 + R) passes of a fifth of a link's work for what three direct solves do. They are not offered below
  // twenty times the work of a chain: their users would rather have the step converged.
  const double sweeps = direct::TreePlan::kWorkOfLink * std::max(20.0, 0.7 * (1 + ratio));
  if (work > sweeps) return {"sweep", numbers + ", more than sweeps take"};
  return {"direct", numbers + in_lanes};
}

std::size_t Settings::bytes(const Model& m, const Control& c, double h) const {
  if (choose(m, c, h).method != "direct") return sweep_bytes(m);
  return direct::bytes(m, c, h, {.precision = number, .threads = thread_count, .simd = instructions});
}

}  // namespace osier::stable_cosserat
