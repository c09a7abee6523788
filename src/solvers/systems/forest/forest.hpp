// The direct solver for the trees of a model, in lanes and on threads.
#pragma once

#include "core/archive.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/systems/chains/chain_newton.hpp"
#include "solvers/systems/forest/forest_kernels.hpp"

namespace osier::systems {

template <class T>
class Forest {
 public:
  Forest() = default;
  Forest(Forest&&) noexcept = default;  // view_ stays valid, because moving a vector does not move its memory
  Forest& operator=(Forest&&) noexcept = default;

  /// Plans the nodes of `tree` that are `wanted`: at least one, and all of one law.
  void bind(const Model& model, const Control& control, const Tree& tree, const std::vector<std::uint8_t>& wanted,
            StiffnessLaw law, Simd simd);
  /// One step. The whole forest is one lane of the outcome.
  ChainOutcome step(const StepView& view, const ChainOptions& options, const Executor& executor);
  /// Whether there are enough nodes for lanes to pay.
  bool fills_lanes() const {
    return plan_.nodes >= 3 * static_cast<int>(plan_.rows.size()) || 2 * plan_.nodes >= plan_.node_slots();
  }
  Index segments() const { return plan_.nodes; }
  template <class F>
  void each_segment(const F& f) const {
    for (const ForestSlot& slot : plan_.slots)
      if (slot.direction != 0) f(slot.segment);
  }
  /// What a step leaves behind for the next.
  void carry(Archive& archive) { archive(rows_, ties_, record_, column_, tie_record_, bent_, outlook_, before_); }
  int lane_slots() const { return plan_.node_slots(); }
  StiffnessLaw law() const { return law_; }
  std::size_t bytes() const;

 private:
  void load_heads(const StepView& view);
  void load(const StepView& view, const Executor& executor);
  ForestTotals up(const StepView& view, const Executor& executor);
  ForestTotals down(const StepView& view, const Executor& executor);
  void store(const StepView& view, const Executor& executor);
  bool is_settled(const ForestTotals& moved, const ChainOptions& options);
  /// Calls f(job, number) for every branch, on all threads.
  template <class F>
  void each_branch(const Executor& executor, const F& f) const;
  static constexpr int kTieRowsOfJob = 16;
  std::size_t tie_jobs() const { return static_cast<std::size_t>((tie_rows() + kTieRowsOfJob - 1) / kTieRowsOfJob); }
  int tie_rows() const { return (static_cast<int>(plan_.ties.size()) + plan_.lanes - 1) / plan_.lanes; }

  const ForestKernel<T>* kernel_ = nullptr;
  StiffnessLaw law_ = StiffnessLaw::isotropic;
  ForestPlan plan_;
  ForestView<T> view_{};
  AlignedArray<std::byte> rows_, ties_;
  AlignedArray<T> record_, column_, tie_record_;
  std::vector<std::uint8_t> bent_;
  std::vector<ForestTotals> totals_;  ///< per branch, or per job of ties
  Outlook outlook_;
  double before_ = 0;  ///< largest change by the last correction [m]
};

}  // namespace osier::systems
