#include "solvers/direct/split_solver.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "solvers/direct/step_plan.hpp"
#include "solvers/systems/chains/chain_direct.hpp"
#include "solvers/systems/forest/forest.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::direct {

namespace {

/// The model with nothing but some of its segments.
Model reduced(const Model& m, const std::vector<std::uint8_t>& wanted) {
  Model part = m;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (!wanted[static_cast<std::size_t>(s)]) part.segment_alive[s] = 0;
  update_topology(part);
  return part;
}

/// Where many columns are open at once their small compliances drown in float; the recursion is then done in double.
Options suited(Options options, const Model& m, const Control& c, double h) {
  constexpr int kMostColumnsInFloat = 64;
  if (options.precision == Precision::double_precision) return options;
  const StepPlan plan = plan_step(m, c, h, options);
  if (plan.loops == Loops::columns && plan.tree.plan().most_columns() > kMostColumnsInFloat)
    options.precision = Precision::double_precision;
  return options;
}

/// Some of a model's segments, with whatever belongs to them, stepped apart from the rest.
class Part {
 public:
  /// `wanted` per segment.
  Part(const Model& m, const Control& c, double h, const std::vector<std::uint8_t>& wanted, const Options& options)
      : model_(reduced(m, wanted)) {
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (model_.vertex_alive[v]) vertices_.push_back(v);
    for (Index s = 0; s < m.segment_count(); ++s)
      if (model_.segment_alive[s]) frames_.push_back(s);
    for (Index f = m.segment_count(); f < m.frame_count(); ++f) frames_.push_back(f);
    solver_ = std::make_unique<DirectSolver>(model_, suited(options, model_, c, h));
  }

  StepReport step(const StepInput& input, const State& from) {
    // Elsewhere nothing moves.
    state_.vertex_position.resize(from.vertex_position.size());
    state_.vertex_velocity.resize(from.vertex_velocity.size());
    state_.vertex_velocity_previous.resize(from.vertex_velocity.size());
    state_.frame_rotation.resize(from.frame_rotation.size());
    state_.frame_velocity.resize(from.frame_velocity.size());
    for (Index v : vertices_) {
      state_.vertex_position[v] = from.vertex_position[v];
      state_.vertex_velocity[v] = from.vertex_velocity[v];
    }
    for (Index f : frames_) {
      state_.frame_rotation[f] = from.frame_rotation[f];
      if (!from.frame_velocity.empty()) state_.frame_velocity[f] = from.frame_velocity[f];
    }
    return solver_->step({model_, input.start, input.end, input.contacts, input.h}, state_);
  }
  /// The new velocities go where those of the step before were: the caller swaps.
  void store(State& to) const {
    for (Index v : vertices_) {
      to.vertex_position[v] = state_.vertex_position[v];
      to.vertex_velocity_previous[v] = state_.vertex_velocity[v];
    }
    for (Index f : frames_) {
      to.frame_rotation[f] = state_.frame_rotation[f];
      if (!to.frame_velocity.empty()) to.frame_velocity[f] = state_.frame_velocity[f];
    }
  }
  bool empty() const { return vertices_.empty(); }

 private:
  Model model_;
  State state_;
  std::vector<Index> vertices_, frames_;
  std::unique_ptr<DirectSolver> solver_;
};

/// What lanes are made for: frames without inertia, and stiffness along every axis of every joint.
bool is_plain(const Model& m, const Chain& c) {
  const auto plain = [&](Index j) { return j < 0 || m.joint_stiffness[j].smallest() > 0; };
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (!(m.segment_stiffness[s].smallest() > 0) || m.segment_inertia[s].any()) return false;
  if (!plain(c.head_joint) || !plain(c.tail_joint)) return false;
  for (Index i = 0; c.first_joint >= 0 && i + 1 < c.segments(); ++i)
    if (!plain(c.first_joint + i)) return false;
  return true;
}

bool is_driven(const Control& control, const Chain& c) {
  if (!control.has_torque) return false;
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (norm2(control.frame_torque[s]) + norm2(control.frame_torque_material[s]) > 0) return true;
  return false;
}

/// Of a plain chain. The anisotropic law also knows torques.
StiffnessLaw law_of(const Model& m, const Control& control, const Chain& c) {
  if (is_driven(control, c)) return StiffnessLaw::anisotropic;
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (!is_isotropic_segment(m, s)) return StiffnessLaw::anisotropic;
  bool all = is_isotropic_joint(m, c.head_joint) && is_isotropic_joint(m, c.tail_joint);
  for (Index i = 0; c.first_joint >= 0 && i + 1 < c.segments(); ++i) all = all && is_isotropic_joint(m, c.first_joint + i);
  return all ? StiffnessLaw::isotropic : StiffnessLaw::anisotropic;
}

/// Chains in lanes, those of each law by themselves.
template <class T>
class Lanes {
 public:
  void bind(const Model& m, const Control& c, std::span<const Chain> chains, Simd simd, const Executor& executor) {
    for (StiffnessLaw law : {StiffnessLaw::isotropic, StiffnessLaw::anisotropic}) {
      std::vector<Chain> own;
      for (const Chain& chain : chains)
        if (law_of(m, c, chain) == law) own.push_back(chain);
      std::optional<ChainDirect<T>>& lanes = by_law_[static_cast<std::size_t>(law)];
      lanes.reset();
      if (!own.empty()) lanes.emplace().bind(m, own, law, simd, executor);
    }
  }
  ChainOutcome step(const StepView& view, const ChainOptions& options, const Executor& executor) {
    ChainOutcome all;
    for (auto& lanes : by_law_)
      if (lanes) all += lanes->step(view, options, executor);
    return all;
  }
  template <class F>
  void each_risen(const F& f) const {
    for (const auto& lanes : by_law_)
      if (lanes) lanes->each_risen(f);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& lanes : by_law_) sum += lanes ? lanes->bytes() : 0;
    return sum;
  }

 private:
  std::array<std::optional<ChainDirect<T>>, 2> by_law_;
};

/// The chains that lanes take as they are held now.
std::vector<Chain> chains_for_lanes(const Model& m, const Control& c) {
  std::vector<Chain> chains = find_chains(m);
  std::erase_if(chains, [&](const Chain& chain) { return !is_plain(m, chain) || !fits_lanes(chain, c); });
  return chains;
}

/// Living segments that are not in these chains.
std::vector<std::uint8_t> segments_but(const Model& m, std::span<const Chain> chains) {
  std::vector<std::uint8_t> rest(m.segment_alive.begin(), m.segment_alive.end());
  for (const Chain& chain : chains)
    for (Index s = 0; s < chain.segments(); ++s) rest[static_cast<std::size_t>(chain.first_segment + s)] = 0;
  return rest;
}
bool any_of_them(const std::vector<std::uint8_t>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [](std::uint8_t w) { return w != 0; });
}

/// The trees that lanes take of the segments in `rest`, which are taken from it; or none.
template <class T>
std::optional<Forest<T>> forest_of(const Model& m, const Control& c, std::vector<std::uint8_t>& rest, Simd simd) {
  if (!any_of_them(rest) || m.joint_count() == 0) return {};
  const Tree tree = first_tree(reduced(m, rest), c);  // trees that close loops are not for lanes
  const std::vector<std::uint8_t> wanted = nodes_for_lanes(m, c, tree);
  if (!any_of_them(wanted)) return {};
  bool isotropic = !c.has_torque;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (wanted[i])
      isotropic = isotropic && is_isotropic_segment(m, tree.nodes[i].segment) && is_isotropic_joint(m, tree.nodes[i].joint);
  for (const TreeRow& row : tree.rows)
    if (wanted[static_cast<std::size_t>(row.node)]) isotropic = isotropic && is_isotropic_joint(m, row.joint);
  std::optional<Forest<T>> forest(std::in_place);
  forest->bind(m, c, tree, wanted, isotropic ? StiffnessLaw::isotropic : StiffnessLaw::anisotropic, simd);
  if (!forest->fills_lanes()) return {};
  forest->each_segment([&](Index s) { rest[static_cast<std::size_t>(s)] = 0; });
  return forest;
}

template <class T>
class SplitSolver final : public Solver {
 public:
  SplitSolver(const Model& m, const Options& options) : options_(options), executor_(options.threads) { arrange(m); }

  void rebind(const Model& m, State&) override { arrange(m); }

  StepReport step(const StepInput& input, State& state) override {
    const Model& m = input.model;
    const Control& c = input.end;
    const double h = input.h;
    settle_split(m, c, h);
    if (!has_lanes_ && !forest_) return whole(m, c, h).step(input, state);
    StepReport report;
    if (rest_) {
      report = rest_->step(input, state);
      rest_->store(state);
    }
    const ChainOptions options{
        .iterations = options_.iterations, .max_iterations = options_.max_iterations, .tolerance = options_.tolerance};
    const StepView view = lanes::view_of(m, c, state, h);
    ChainOutcome outcome = lanes_.step(view, options, executor_);
    trees_rose_ = false;
    if (forest_) {
      const ChainOutcome trees = forest_->step(view, options, executor_);
      trees_rose_ = trees.risen != 0;
      outcome += trees;
    }
    report.iterations = std::max(report.iterations, outcome.iterations);
    report.not_converged = report.not_converged || outcome.unsettled != 0;
    if (outcome.risen != 0) rescue(input, state, report);
    state.vertex_velocity.swap(state.vertex_velocity_previous);
    for (Index f = m.segment_count(); f < m.frame_count(); ++f)
      if (c.frame_control[f] == FrameControl::fixed) state.frame_rotation[f] = c.frame_target[f];
    return report;
  }

  StepReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    return whole(input.model, input.end, 0).solve_static(input, state, options);
  }

 private:
  void arrange(const Model& m) {
    chains_ = find_chains(m);
    std::erase_if(chains_, [&](const Chain& c) { return !is_plain(m, c); });
    chains_.shrink_to_fit();
    whole_.reset(), statics_.reset();
    split_ = false;
  }

  /// h = 0: for statics.
  DirectSolver& whole(const Model& m, const Control& c, double h) {
    std::unique_ptr<DirectSolver>& solver = h > 0 ? whole_ : statics_;
    if (!solver) solver = std::make_unique<DirectSolver>(m, suited(options_, m, c, h));
    return *solver;
  }

  void settle_split(const Model& m, const Control& c, double h) {
    std::vector<std::uint8_t>& fits = fits_now_;
    const bool same_holds = split_ && c.vertex_fixed == vertex_fixed_ && c.frame_control == frame_control_;
    const bool same_torque = c.has_torque == had_torque_;
    if (same_holds && same_torque && !c.has_torque) return;
    had_torque_ = c.has_torque;
    vertex_fixed_ = c.vertex_fixed, frame_control_ = c.frame_control;
    fits.clear();
    for (const Chain& chain : chains_)
      fits.push_back(fits_lanes(chain, c) ? static_cast<std::uint8_t>(1 + static_cast<int>(law_of(m, c, chain))) : 0);
    if (same_holds && same_torque && fits == fits_) return;
    fits_ = fits;
    split_ = true;
    std::vector<Chain> in_lanes;
    for (std::size_t i = 0; i < chains_.size(); ++i)
      if (fits_[i]) in_lanes.push_back(chains_[i]);
    has_lanes_ = !in_lanes.empty();
    lanes_.bind(m, c, in_lanes, options_.simd, executor_);
    std::vector<std::uint8_t> rest = segments_but(m, in_lanes);
    forest_ = forest_of<T>(m, c, rest, options_.simd);
    rest_.reset();
    if ((has_lanes_ || forest_) && any_of_them(rest)) rest_ = std::make_unique<Part>(m, c, h, rest, options_);
  }

  /// Lanes whose energy rose, again with a search that makes sure it falls.
  void rescue(const StepInput& input, State& state, StepReport& report) {
    const Model& m = input.model;
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(m.segment_count()), 0);
    lanes_.each_risen([&](Index first_segment, Index count) {
      for (Index s = first_segment; s < first_segment + count; ++s) wanted[static_cast<std::size_t>(s)] = 1;
    });
    if (trees_rose_) forest_->each_segment([&](Index s) { wanted[static_cast<std::size_t>(s)] = 1; });
    Part part(m, input.end, input.h, wanted, options_);
    const StepReport again = part.step(input, state);
    part.store(state);
    report.iterations = std::max(report.iterations, again.iterations);
    report.not_converged = report.not_converged || again.not_converged;
    if (again.non_finite)
      report.non_finite = true, report.worst_vertex = again.worst_vertex, report.worst_segment = again.worst_segment;
  }

  Options options_;
  Executor executor_;
  std::vector<Chain> chains_;
  bool split_ = false, had_torque_ = false, has_lanes_ = false;
  std::vector<std::uint8_t> fits_, fits_now_, vertex_fixed_;  ///< fits: 0, or 1 + the law
  std::vector<FrameControl> frame_control_;
  Lanes<T> lanes_;
  std::optional<Forest<T>> forest_;
  bool trees_rose_ = false;
  std::unique_ptr<Part> rest_;
  std::unique_ptr<DirectSolver> whole_, statics_;
};

template <class T>
std::size_t bytes_of(const Model& m, const Control& c, double h, const Options& options) {
  const std::vector<Chain> chains = chains_for_lanes(m, c);
  std::vector<std::uint8_t> rest = segments_but(m, chains);
  const std::optional<Forest<T>> forest = forest_of<T>(m, c, rest, options.simd);
  if (chains.empty() && !forest) return DirectSolver::bytes(m, c, h, suited(options, m, c, h));
  Lanes<T> lanes;
  lanes.bind(m, c, chains, options.simd, Executor(options.threads));
  // And what tells whether they are still the same: chains, whether each fits now and did before, what is held.
  const std::size_t known =
      chains.size() * (sizeof(Chain) + 2) + c.vertex_fixed.size() + c.frame_control.size() * sizeof(FrameControl);
  const std::size_t in_lanes = known + lanes.bytes() + (forest ? forest->bytes() : 0);
  if (!any_of_them(rest)) return in_lanes;
  const Model others = reduced(m, rest);
  return in_lanes + DirectSolver::bytes(others, c, h, suited(options, others, c, h));
}

template <class T>
RestPlan plan_rest_of(const Model& m, const Control& c, double h, const Options& options) {
  std::vector<std::uint8_t> rest = segments_but(m, chains_for_lanes(m, c));
  forest_of<T>(m, c, rest, options.simd);
  RestPlan plan{.segments = static_cast<Index>(std::count(rest.begin(), rest.end(), std::uint8_t{1})), .plan = {}};
  if (plan.segments > 0) plan.plan = plan_step(reduced(m, rest), c, h, options);
  return plan;
}

template <class T>
LaneTrees lane_trees_of(const Model& m, const Control& c, Simd simd) {
  std::vector<std::uint8_t> rest = segments_but(m, chains_for_lanes(m, c));
  const std::optional<Forest<T>> forest = forest_of<T>(m, c, rest, simd);
  return forest ? LaneTrees{forest->segments(), forest->lane_slots(), forest->law()} : LaneTrees{};
}

}  // namespace

LaneTrees lane_trees(const Model& m, const Control& c, const Options& options) {
  return options.precision == Precision::single_precision ? lane_trees_of<float>(m, c, options.simd)
                                                          : lane_trees_of<double>(m, c, options.simd);
}

RestPlan plan_rest(const Model& m, const Control& c, double h, const Options& options) {
  return options.precision == Precision::single_precision ? plan_rest_of<float>(m, c, h, options)
                                                          : plan_rest_of<double>(m, c, h, options);
}

Index segments_in_lanes(const Model& m, const Control& c, const Options& options) {
  Index sum = lane_trees(m, c, options).segments;
  for (const Chain& chain : chains_for_lanes(m, c)) sum += chain.segments();
  return sum;
}

std::vector<LaneChain> lane_chains(const Model& m, const Control& c) {
  std::vector<LaneChain> chains;
  for (const Chain& chain : chains_for_lanes(m, c)) chains.push_back({chain, law_of(m, c, chain)});
  return chains;
}

std::size_t bytes(const Model& m, const Control& c, double h, const Options& options) {
  return options.precision == Precision::single_precision ? bytes_of<float>(m, c, h, options)
                                                          : bytes_of<double>(m, c, h, options);
}

std::unique_ptr<Solver> make_solver(const Model& m, const Options& options) {
  if (options.precision == Precision::single_precision) return std::make_unique<SplitSolver<float>>(m, options);
  return std::make_unique<SplitSolver<double>>(m, options);
}

}  // namespace osier::direct
