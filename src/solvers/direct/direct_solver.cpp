#include "solvers/direct/direct_solver.hpp"

#include "core/archive.hpp"
#include "solvers/direct/step_plan.hpp"
#include "solvers/minimiser.hpp"
#include "solvers/systems/blocks/block_system.hpp"
#include "solvers/systems/coupled/coupled_system.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "solvers/systems/tree/compliance_tree.hpp"
#include "solvers/systems/tree/tree_system.hpp"

namespace osier::direct {

using systems::BlockSystem;
using systems::ComplianceTree;
using systems::LinearSystem;

namespace {

/// Calls f(index, how) for every hold, vertices before frames.
template <class F>
void each_held(const Control& c, const Subset& subset, const F& f) {
  for (std::size_t i = 0; i < subset.vertices.size(); ++i)
    if (const Index v = subset.vertices[i]; c.vertex_fixed[v]) f(v, FrameControl::free);
  for (std::size_t i = 0; i < subset.frames.size(); ++i)
    if (const Index s = subset.frames[i]; c.frame_control[s] != FrameControl::free) f(s, c.frame_control[s]);
}

/// Calls f(T{}) with the number type of a precision.
template <class F>
auto with_number(Precision precision, const F& f) {
  return precision == Precision::single_precision ? f(float{}) : f(double{});
}

/// With many open columns float loses their small compliances in rounding; the recursion is then done in double.
Precision precision_of(const StepPlan& plan, const Options& options) {
  constexpr int kMostColumnsInFloat = 64;
  const bool wide = plan.loops == Loops::columns && plan.tree.plan().most_columns() > kMostColumnsInFloat;
  return wide ? Precision::double_precision : options.precision;
}

std::unique_ptr<LinearSystem> make_system(StepPlan plan, const Options& options) {
  if (plan.loops == Loops::sparse)
    return std::make_unique<systems::CoupledSystem>(std::make_unique<systems::SparseSystem>(), options.threads);
  return with_number(precision_of(plan, options), [&]<class T>(T) -> std::unique_ptr<LinearSystem> {
    if (plan.loops == Loops::blocks) return std::make_unique<BlockSystem<T>>(options.simd, options.threads);
    auto tree = std::make_unique<ComplianceTree<T>>(options.threads);
    tree->adopt(std::move(plan.tree));
    return tree;
  });
}

}  // namespace

void hold_anchors(const Model& m, const Control& c, State& state) {
  for (Index f = m.segment_count(); f < m.frame_count(); ++f)
    if (c.frame_control[f] == FrameControl::fixed) state.frame_rotation[f] = c.frame_target[f];
}

DirectSolver::DirectSolver(const Model& m, const Options& options) : DirectSolver(whole_of(m), options) {}
DirectSolver::DirectSolver(Subset subset, const Options& options)
    : options_(options), subset_(std::move(subset)), driver_(options) {}

void DirectSolver::rebind(const Model& m, State&) {
  if (subset_.is_whole()) subset_ = whole_of(m);
  set_subset(std::move(subset_));
  statics_.reset();
}

void DirectSolver::set_subset(Subset subset) {
  subset_ = std::move(subset);
  planned_ = false;
  driver_.rebind();
  if (driver_.system()) driver_.system()->forget();
  if (fallback_) fallback_->set_subset(subset_);
  kept_system_.reset();
}

/// The linear system and the solver of statics depend on what is held, which is known in the next step only: what they remember
/// is kept until then.
void DirectSolver::carry(const Model& m, Archive& archive) {
  archive(held_, planned_, planned_h_, loops_, had_terms_, in_double_);
  driver_.carry(archive);
  const auto keep = [&](std::optional<std::string>& kept, auto* object, const auto& carry_it) {
    if (!archive.reads() && object && !kept) kept = carried(carry_it);
    archive(kept);
    if (!archive.reads() && object) kept.reset();
  };
  keep(kept_system_, planned_ ? driver_.system() : nullptr, [&](Archive& a) { driver_.system()->carry(a); });
  keep(kept_statics_, statics_.get(), [&](Archive& a) { statics_->carry(m, a); });
  bool has_fallback = fallback_ != nullptr;
  archive(has_fallback);
  if (!has_fallback) return;
  make_fallback();
  fallback_->carry(m, archive);
}

/// The tree depends on the holds, and the choice of tree or blocks on the length of the step.
void DirectSolver::settle_plan(const Model& m, const Control& c, double h) {
  std::size_t count = 0;
  bool same = planned_;
  each_held(c, subset_, [&](Index i, FrameControl how) {
    same = same && count < held_.size() && held_[count] == std::pair(i, how);
    ++count;
  });
  const bool other_step = h > 2 * planned_h_ || h < 0.5 * planned_h_;
  const bool has_terms = c.has_vertex_terms();
  if (same && count == held_.size() && !other_step && has_terms == had_terms_) {
    if (kept_system_) {
      Archive kept(*std::exchange(kept_system_, {}));
      plan(m, c, planned_h_);
      driver_.system()->carry(kept);
    }
    if (has_terms) driver_.system()->bind(m, c, subset_, h);  // single directions may have turned
    return;
  }
  had_terms_ = has_terms;
  planned_ = true;
  planned_h_ = h;
  held_.clear();
  held_.reserve(count);
  each_held(c, subset_, [&](Index i, FrameControl how) { held_.emplace_back(i, how); });
  kept_system_.reset();
  plan(m, c, h);
}

void DirectSolver::plan(const Model& m, const Control& c, double h) {
  StepPlan plan = plan_step(m, c, subset_, h, options_);
  const bool same_blocks = plan.loops == loops_ && (plan.loops == Loops::blocks || plan.loops == Loops::sparse);
  loops_ = plan.loops;
  if (!same_blocks || !driver_.system()) driver_.arrange(make_system(std::move(plan), options_));
  driver_.system()->bind(m, c, subset_, h);
}

void DirectSolver::make_fallback() {
  if (fallback_) return;
  Options options = options_;
  options.precision = Precision::double_precision;
  fallback_ = std::make_unique<DirectSolver>(subset_, options);
}

StepReport DirectSolver::solve(const StepInput& input, const State& state) {
  settle_plan(input.model, input.end, input.h);
  const StepReport report = driver_.solve(input.model, input.end, state, input.h, subset_);
  in_double_ = driver_.has_given_up();
  if (!in_double_) return report;
  // Far from equilibrium a net, for example, has compliances that float cannot add up.
  make_fallback();
  return fallback_->solve(input, state);
}

void DirectSolver::store(State& state, StepReport& report) {
  if (in_double_) fallback_->store(state, report);
  else driver_.store(state, report);
}

StepReport DirectSolver::step(const StepInput& input, State& state) {
  StepReport report = solve(input, state);
  store(state, report);
  hold_anchors(input.model, input.end, state);
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  return report;
}

/// The solver of statics that suits what is held.
Solver& DirectSolver::statics(const Model& m, const Control& c) {
  const bool has_terms = c.has_vertex_terms();
  if (!statics_ || has_terms != had_terms_) {
    statics_ = systems::make_minimiser(systems::make_exact_system(m, c));
    if (kept_statics_ && has_terms == had_terms_) {
      Archive kept(*kept_statics_);
      statics_->carry(m, kept);
    }
    kept_statics_.reset();
  }
  had_terms_ = has_terms;
  return *statics_;
}

StaticReport DirectSolver::solve_static(const StepInput& input, State& state, const StaticOptions& options) {
  return statics(input.model, input.end).solve_static(input, state, options);
}

PathReport DirectSolver::follow_path(const Model& m, LoadPath& path, State& state, const StaticOptions& options,
                                     const PathStep& step) {
  return statics(m, path.at(step.load)).follow_path(m, path, state, options, step);
}

std::size_t DirectSolver::bytes() const {
  return driver_.bytes() + subset_.bytes() + held_.capacity() * sizeof(held_[0]) + (fallback_ ? fallback_->bytes() : 0);
}

std::size_t DirectSolver::bytes(const Model& m, const Subset& subset, const Control& c, double h, const Options& options) {
  const StepPlan plan = plan_step(m, c, subset, h, options);
  const std::size_t linear = with_number(precision_of(plan, options), [&]<class T>(T) {
    if (plan.loops == Loops::sparse) return systems::SparseSystem::bytes_of(subset);
    return plan.loops == Loops::blocks ? BlockSystem<T>::bytes(m, subset, options.simd) : ComplianceTree<T>::bytes(m, plan.tree);
  });
  std::size_t held = 0;
  each_held(c, subset, [&](Index, FrameControl) { ++held; });
  return systems::NewtonDriver::bytes(m) + subset.bytes() + held * sizeof(std::pair<Index, FrameControl>) + linear;
}

}  // namespace osier::direct
