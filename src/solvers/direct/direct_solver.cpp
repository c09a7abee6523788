#include "solvers/direct/direct_solver.hpp"

#include "solvers/direct/step_plan.hpp"
#include "solvers/newton_driver.hpp"
#include "solvers/systems/blocks/block_iteration.hpp"
#include "solvers/systems/tree/link_assembly.hpp"
#include "solvers/systems/tree/tree_system.hpp"

namespace osier::direct {

DirectSolver::DirectSolver(const Model&, const Options& options) : options_(options) {}
DirectSolver::~DirectSolver() = default;
void DirectSolver::rebind(const Model&, State&) {
  planned_ = false;
  if (engine_) engine_->rebind();
  statics_.reset();
}

namespace {

/// f(index, how) for whatever is held, vertices before frames.
template <class F>
void each_held(const Control& c, const F& f) {
  for (std::size_t v = 0; v < c.vertex_fixed.size(); ++v)
    if (c.vertex_fixed[v]) f(static_cast<Index>(v), FrameControl::free);
  for (std::size_t i = 0; i < c.frame_control.size(); ++i)
    if (c.frame_control[i] != FrameControl::free) f(static_cast<Index>(i), c.frame_control[i]);
}

}  // namespace

/// The tree depends on what is held.
void DirectSolver::settle_plan(const Model& m, const Control& c, double h) {
  std::size_t count = 0;
  bool same = planned_;
  each_held(c, [&](Index i, FrameControl how) {
    same = same && count < held_.size() && held_[count] == std::pair(i, how);
    ++count;
  });
  const bool other_step = h > 2 * planned_h_ || h < 0.5 * planned_h_;  // what is cheaper depends on it
  if (same && count == held_.size() && !other_step) return;
  const bool same_model = planned_;
  planned_ = true, planned_h_ = h;
  held_.clear();
  held_.reserve(count);
  each_held(c, [&](Index i, FrameControl how) { held_.emplace_back(i, how); });
  StepPlan plan = plan_step(m, c, h, options_);
  const bool same_engine = engine_ && plan.loops == loops_;
  if (!same_engine) engine_ = plan.loops == Loops::blocks ? make_block_engine(options_) : make_tree_engine(options_);
  loops_ = plan.loops;
  if (plan.loops == Loops::blocks && same_engine && same_model) return;  // blocks do not depend on what is held
  engine_->arrange(m, std::move(plan.tree));
}

StepReport DirectSolver::step(const StepInput& input, State& state) {
  settle_plan(input.model, input.end, input.h);
  const StepReport report = engine_->step(input.model, input.end, state, input.h);
  if (!engine_->has_given_up()) return report;
  // Far from where it should be a net, say, has compliances that float cannot add up.
  Options options = options_;
  options.precision = Precision::double_precision;
  return DirectSolver(input.model, options).step(input, state);
}
StepReport DirectSolver::solve_static(const StepInput& input, State& state, const StaticOptions& options) {
  if (!statics_) statics_ = make_statics(input.model, input.end);
  return statics_->solve_static(input, state, options);
}
std::size_t DirectSolver::bytes() const { return (engine_ ? engine_->bytes() : 0) + held_.capacity() * sizeof(held_[0]); }

std::size_t DirectSolver::bytes(const Model& m, const Control& c, double h, const Options& options) {
  const StepPlan plan = plan_step(m, c, h, options);
  std::size_t axes = 0;
  for (const TreeNode& n : plan.tree.nodes) axes += static_cast<std::size_t>(axis_sets(m, n));
  const auto linear = [&]<class T>(T) {
    if (plan.loops == Loops::blocks) return BlockIteration<T>::bytes(m, options.simd);
    return plan.tree.bytes() + TreeFactor<T>::bytes(plan.tree.plan(), plan.tree.rows.size(), axes) +
           plan.tree.roots.size() * sizeof(RootVertex<T>) + static_cast<std::size_t>(m.segment_count()) * sizeof(Vec3<T>);
  };
  std::size_t held = 0;
  each_held(c, [&](Index, FrameControl) { ++held; });
  return StepModel::bytes(m) + held * sizeof(std::pair<Index, FrameControl>) +
         (options.precision == Precision::single_precision ? linear(float{}) : linear(double{}));
}

}  // namespace osier::direct
