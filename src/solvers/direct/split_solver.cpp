#include "solvers/direct/split_solver.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/archive.hpp"
#include "model/parts.hpp"
#include "solvers/direct/step_plan.hpp"
#include "solvers/direct/touching.hpp"
#include "solvers/systems/chains/chain_direct.hpp"
#include "solvers/systems/forest/forest.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::direct {

using lanes::StepView;
using systems::ChainDirect;
using systems::ChainOptions;
using systems::ChainOutcome;
using systems::fits_lanes;
using systems::Forest;
using systems::is_isotropic_joint;
using systems::is_isotropic_segment;
using systems::is_plain;
using systems::law_of;
using systems::Tree;
using systems::TreeRow;

namespace {

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
  void carry(Archive& archive) {
    for (auto& lanes : by_law_)
      if (lanes) lanes->carry(archive);
  }
  template <class F>
  void each_that_rose(const F& f) const {
    for (const auto& lanes : by_law_)
      if (lanes) lanes->each_that_rose(f);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& lanes : by_law_) sum += lanes ? lanes->bytes() : 0;
    return sum;
  }

 private:
  std::array<std::optional<ChainDirect<T>>, 2> by_law_;
};

/// The chains that lanes can take with the present holds.
std::vector<Chain> chains_for_lanes(const Model& m, const Control& c) {
  std::vector<Chain> chains = find_chains(m);
  const std::vector<std::uint8_t> terms = segments_with_vertex_terms(m, c);
  std::erase_if(chains, [&](const Chain& chain) {
    return !is_plain(m, chain) || !fits_lanes(chain, c) || terms[static_cast<std::size_t>(chain.first_segment)];
  });
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

/// `segments` without those of `others`.
std::vector<std::uint8_t> without(std::vector<std::uint8_t> segments, const std::vector<std::uint8_t>& others) {
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (others[s]) segments[s] = 0;
  return segments;
}

/// The trees in `rest` that lanes can take, or none; their segments are removed from `rest`. `terms`: segments of parts with
/// springs or with vertices held along single directions, which lanes do not know.
template <class T>
std::optional<Forest<T>> forest_of(const Model& m, const Control& c, const std::vector<std::uint8_t>& terms,
                                   std::vector<std::uint8_t>& rest, Simd simd) {
  const std::vector<std::uint8_t> simple = without(rest, terms);
  if (!any_of_them(simple) || m.joint_count() == 0) return {};
  const Tree tree = systems::first_tree(m, c, subset_of(m, simple));  // trees that close loops are not for lanes
  const std::vector<std::uint8_t> wanted = systems::nodes_for_lanes(m, c, tree);
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

/// What a step changes.
class KeptMotion {
 public:
  /// `spins`: frames have velocities.
  void keep(const State& state, bool spins) {
    position_ = state.vertex_position;
    rotation_ = state.frame_rotation;
    spins_ = spins;
    if (spins) frame_velocity_ = state.frame_velocity;
  }
  void put_back(State& state) const {
    state.vertex_position = position_;
    state.frame_rotation = rotation_;
    if (spins_) state.frame_velocity = frame_velocity_;
  }
  const std::vector<Vec3d>& position() const { return position_; }

 private:
  std::vector<Vec3d> position_, frame_velocity_;
  std::vector<Quatd> rotation_;
  bool spins_ = false;
};

template <class T>
class SplitSolver final : public Solver {
 public:
  SplitSolver(const Model& m, const Options& options) : options_(options), executor_(options.threads), touching_(options) {
    arrange(m);
  }

  void rebind(const Model& m, State&) override {
    arrange(m);
    touching_.rebind();
  }

  /// Lanes and other parts depend on what is held, which is known in the next step only: what they remember is kept until then.
  void carry(const Model& m, Archive& archive) override {
    archive(split_, had_torque_, fits_, vertex_fixed_, frame_control_, terms_known_, terms_key_, terms_, elsewhere_);
    if (!archive.reads() && split_ && !kept_) kept_ = parts(m);
    archive(kept_);
    if (!archive.reads()) {
      if (has_arranged_parts_) kept_.reset();
    } else {
      has_arranged_parts_ = false;
    }
    touching_.carry(archive);
    bool has_whole = whole_ != nullptr;
    archive(has_whole);
    if (has_whole) whole(m).carry(m, archive);
  }

  void arrange(const Model& m) {
    chains_ = find_chains(m);
    std::erase_if(chains_, [&](const Chain& c) { return !is_plain(m, c); });
    chains_.shrink_to_fit();
    whole_.reset();
    rescue_.reset();
    has_inertia_ = m.has_inertia();
    split_ = false;
    terms_known_ = false;
    kept_.reset();
  }

  StepReport step(const StepInput& input, State& state) override {
    StepReport report;
    if (input.contacts.active()) {
      report = step_with_contact(input, state);
    } else {
      step_freely(input, state, nullptr, report);
    }
    hold_anchors(input.model, input.end, state);
    state.vertex_velocity.swap(state.vertex_velocity_previous);
    return report;
  }

  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    return whole(input.model).solve_static(input, state, options);
  }
  PathReport follow_path(const Model& m, LoadPath& path, State& state, const StaticOptions& options,
                         const PathStep& step) override {
    return whole(m).follow_path(m, path, state, options, step);
  }

 private:
  /// Steps everything but the segments that touch something; null: everything. New velocities go into vertex_velocity_previous.
  void step_freely(const StepInput& input, State& state, const std::vector<std::uint8_t>* touching, StepReport& report) {
    const Model& m = input.model;
    const Control& c = input.end;
    const double h = input.h;
    settle_split(m, c, touching);
    if (!has_lanes_ && !forest_ && !rest_ && !with_terms_ && !touching) {
      StepReport own = whole(m).solve(input, state);
      whole(m).store(state, own);
      merge(own, report);
      return;
    }
    StepReport rest, with_terms;
    if (rest_) rest = rest_->solve(input, state);
    if (with_terms_) with_terms = with_terms_->solve(input, state);
    const ChainOptions options{
        .iterations = options_.iterations, .max_iterations = options_.max_iterations, .tolerance = options_.tolerance};
    const StepView view = lanes::view_of(m, c, state, h);
    ChainOutcome outcome = lanes_.step(view, options, executor_);
    trees_rose_ = false;
    if (forest_) {
      const ChainOutcome trees = forest_->step(view, options, executor_);
      trees_rose_ = trees.energy_rose != 0;
      outcome += trees;
    }
    report.iterations = std::max(report.iterations, outcome.iterations);
    report.not_converged = report.not_converged || outcome.unsettled != 0;
    if (rest_) rest_->store(state, rest);
    merge(rest, report);
    if (with_terms_) with_terms_->store(state, with_terms);
    merge(with_terms, report);
    if (outcome.energy_rose != 0) rescue(input, state, report);
  }

  /// Parts that may touch something are stepped together, the others as if there were no contact: whether they really touched
  /// nothing is seen afterwards.
  StepReport step_with_contact(const StepInput& input, State& state) {
    constexpr int kMostAttempts = 4;
    touching_.begin(input, state);
    for (int attempt = 0;; ++attempt) {
      StepReport report;
      if (touching_.any()) report = touching_.solve(input, state);
      touching_.finish(state);
      if (input.record) touching_.tell(*input.record);
      if (touching_.is_whole()) {
        touching_.store(state, report);
        return report;
      }
      before_.keep(state, has_inertia_ || input.end.has_rotary_damping);
      step_freely(input, state, touching_.any() ? &touching_.segments() : nullptr, report);
      if (touching_.any()) touching_.store(state, report);
      if (report.non_finite || touching_.rest_moves_freely(before_.position(), state.vertex_position)) return report;
      after_ = state.vertex_position;
      before_.put_back(state);
      if (attempt < kMostAttempts) touching_.take_what_meets(input.model, before_.position(), after_);
      else touching_.take_all(input.model);
    }
  }

  DirectSolver& whole(const Model& m) {
    if (!whole_) whole_ = std::make_unique<DirectSolver>(m, options_);
    return *whole_;
  }

  /// `touching`: segments that are stepped elsewhere, or null.
  void settle_split(const Model& m, const Control& c, const std::vector<std::uint8_t>* touching) {
    std::vector<std::uint8_t>& fits = fits_now_;
    if (find_terms(m, c)) split_ = false;
    const auto stays = [&](Index s) { return !touching || !(*touching)[static_cast<std::size_t>(s)]; };
    const bool same_parts = touching ? *touching == elsewhere_ : elsewhere_.empty();
    if (!same_parts) split_ = false;
    if (touching) elsewhere_ = *touching;
    else elsewhere_.clear();
    const bool same_holds = split_ && c.vertex_fixed == vertex_fixed_ && c.frame_control == frame_control_;
    const bool same_torque = c.has_torque == had_torque_;
    if (same_holds && same_torque && !c.has_torque && has_arranged_parts_) return;
    had_torque_ = c.has_torque;
    vertex_fixed_ = c.vertex_fixed;
    frame_control_ = c.frame_control;
    fits.clear();
    for (const Chain& chain : chains_)
      fits.push_back(stays(chain.first_segment) && !terms_[static_cast<std::size_t>(chain.first_segment)] && fits_lanes(chain, c)
                         ? static_cast<std::uint8_t>(1 + static_cast<int>(law_of(m, c, chain)))
                         : 0);
    const bool same = same_holds && same_torque && fits == fits_;
    if (same && has_arranged_parts_) return;
    fits_ = fits;
    split_ = true;
    has_arranged_parts_ = true;
    std::vector<Chain> in_lanes;
    for (std::size_t i = 0; i < chains_.size(); ++i)
      if (fits_[i]) in_lanes.push_back(chains_[i]);
    has_lanes_ = !in_lanes.empty();
    lanes_.bind(m, c, in_lanes, options_.simd, executor_);
    std::vector<std::uint8_t> rest = segments_but(m, in_lanes);
    for (Index s = 0; s < m.segment_count(); ++s)
      if (!stays(s)) rest[static_cast<std::size_t>(s)] = 0;
    forest_ = forest_of<T>(m, c, terms_, rest, options_.simd);
    rest_.reset();
    with_terms_.reset();
    std::vector<std::uint8_t> simple = without(rest, terms_), others = without(rest, simple);
    // One solver for everything has the whole model for its part.
    const bool divided = has_lanes_ || forest_ || touching || (any_of_them(simple) && any_of_them(others));
    if (divided && any_of_them(simple)) rest_ = std::make_unique<DirectSolver>(subset_of(m, std::move(simple)), options_);
    if (divided && any_of_them(others)) with_terms_ = std::make_unique<DirectSolver>(subset_of(m, std::move(others)), options_);
    if (same && kept_) restore_parts(m);
    kept_.reset();
  }

  /// What the parts that settle_split() makes leave behind for the next step.
  void carry_parts(const Model& m, Archive& archive) {
    lanes_.carry(archive);
    if (forest_) forest_->carry(archive);
    if (rest_) rest_->carry(m, archive);
    if (with_terms_) with_terms_->carry(m, archive);
  }
  std::string parts(const Model& m) {
    return carried([&](Archive& a) { carry_parts(m, a); });
  }
  void restore_parts(const Model& m) {
    Archive kept(*kept_);
    carry_parts(m, kept);
  }

  /// Finds the parts that springs or single directions act on. Returns whether there may be others than before.
  bool find_terms(const Model& m, const Control& c) {
    std::vector<Index> key;  // stays empty, without an allocation, where there is nothing
    for (const HeldAxes& h : c.held_axes) key.push_back(h.vertex);
    for (const Spring& s : c.springs) key.push_back(-1), key.push_back(s.a), key.push_back(s.b);
    if (terms_known_ && key == terms_key_) return false;
    terms_known_ = true;
    terms_key_ = std::move(key);
    terms_ = segments_with_vertex_terms(m, c);
    return true;
  }

  /// Does the step of lanes whose energy rose again, with a line search.
  void rescue(const StepInput& input, State& state, StepReport& report) {
    const Model& m = input.model;
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(m.segment_count()), 0);
    lanes_.each_that_rose([&](Index first_segment, Index count) {
      for (Index s = first_segment; s < first_segment + count; ++s) wanted[static_cast<std::size_t>(s)] = 1;
    });
    if (trees_rose_) forest_->each_segment([&](Index s) { wanted[static_cast<std::size_t>(s)] = 1; });
    if (!rescue_) rescue_ = std::make_unique<DirectSolver>(Subset{}, options_);
    rescue_->set_subset(subset_of(m, std::move(wanted)));
    StepReport again = rescue_->solve(input, state);
    rescue_->store(state, again);
    merge(again, report);
  }

  /// What there is to say of a part, for the whole.
  static void merge(const StepReport& part, StepReport& report) {
    report.iterations = std::max(report.iterations, part.iterations);
    report.not_converged = report.not_converged || part.not_converged;
    report.held_back = report.held_back || part.held_back;
    if (!part.non_finite || report.non_finite) return;
    report.non_finite = true;
    report.worst_vertex = part.worst_vertex;
    report.worst_segment = part.worst_segment;
  }

  Options options_;
  Executor executor_;
  std::vector<Chain> chains_;
  bool split_ = false, had_torque_ = false, has_lanes_ = false, has_inertia_ = false;
  bool has_arranged_parts_ = true;                            ///< false after a checkpoint was read, until the next step
  std::optional<std::string> kept_;                           ///< of that checkpoint
  std::vector<std::uint8_t> fits_, fits_now_, vertex_fixed_;  ///< per chain: 0, or 1 + its law
  std::vector<FrameControl> frame_control_;
  Lanes<T> lanes_;
  std::optional<Forest<T>> forest_;
  bool trees_rose_ = false;
  std::unique_ptr<DirectSolver> rest_;        ///< solver of the segments that lanes do not take
  std::unique_ptr<DirectSolver> with_terms_;  ///< solver of the parts with springs or with single directions
  bool terms_known_ = false;
  std::vector<Index> terms_key_;          ///< the vertices of the springs and single directions at hand
  std::vector<std::uint8_t> terms_;       ///< per segment
  std::unique_ptr<DirectSolver> rescue_;  ///< solver of lanes whose energy rose, for one step
  std::unique_ptr<DirectSolver> whole_;
  Touching touching_;
  std::vector<std::uint8_t> elsewhere_;  ///< segments of touching_ at the time of the split
  KeptMotion before_;
  std::vector<Vec3d> after_;
};

template <class T>
std::size_t bytes_of(const Model& m, const Control& c, double h, const Options& options) {
  const std::vector<Chain> chains = chains_for_lanes(m, c);
  std::vector<std::uint8_t> rest = segments_but(m, chains);
  const std::optional<Forest<T>> forest = forest_of<T>(m, c, segments_with_vertex_terms(m, c), rest, options.simd);
  if (chains.empty() && !forest) return DirectSolver::bytes(m, whole_of(m), c, h, options);
  Lanes<T> lanes;
  lanes.bind(m, c, chains, options.simd, Executor(options.threads));
  // The memory that tells whether the split is still valid: chains, which of them fit now and fitted before, and the holds.
  const std::size_t known =
      chains.size() * (sizeof(Chain) + 2) + c.vertex_fixed.size() + c.frame_control.size() * sizeof(FrameControl);
  const std::size_t in_lanes = known + lanes.bytes() + (forest ? forest->bytes() : 0);
  if (!any_of_them(rest)) return in_lanes;
  return in_lanes + DirectSolver::bytes(m, subset_of(m, std::move(rest)), c, h, options);
}

/// Living segments that lanes do not take.
std::vector<std::uint8_t> rest_of(const Model& m, const Control& c, const Options& options) {
  std::vector<std::uint8_t> rest = segments_but(m, chains_for_lanes(m, c));
  const std::vector<std::uint8_t> terms = segments_with_vertex_terms(m, c);
  if (options.precision == Precision::single_precision) forest_of<float>(m, c, terms, rest, options.simd);
  else forest_of<double>(m, c, terms, rest, options.simd);
  return rest;
}
Index count(const std::vector<std::uint8_t>& wanted) {
  return static_cast<Index>(std::count_if(wanted.begin(), wanted.end(), [](std::uint8_t w) { return w != 0; }));
}

}  // namespace

RestPlan plan_rest(const Model& m, const Control& c, double h, const Options& options) {
  std::vector<std::uint8_t> rest = rest_of(m, c, options);
  RestPlan plan{.segments = count(rest), .plan = {}};
  if (plan.segments > 0) plan.plan = plan_step(m, c, subset_of(m, std::move(rest)), h, options);
  return plan;
}

Index segments_in_lanes(const Model& m, const Control& c, const Options& options) {
  return count(m.segment_alive) - count(rest_of(m, c, options));
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
