// The direct solver for the chains of a model, in lanes and on threads.
#pragma once

#include <algorithm>

#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/systems/chains/chain_kernels.hpp"

namespace osier::systems {

/// Whether lanes can take the chain as it is held now: pins and fixed frames at its ends only, no hinge.
inline bool fits_lanes(const Chain& c, const Control& control) {
  if (c.segments() < 3 || c.first_joint < 0) return false;
  for (Index i = 1; i + 1 < c.vertices; ++i)
    if (control.vertex_fixed[c.first_vertex + i]) return false;
  for (Index i = 0; i < c.segments(); ++i) {
    const FrameControl f = control.frame_control[c.first_segment + i];
    if (f == FrameControl::hinged) return false;
    if (f == FrameControl::fixed && i > 0 && i + 1 < c.segments()) return false;
  }
  return true;
}

template <class T>
class ChainDirect {
 public:
  void bind(const Model& model, std::span<const Chain> chains, StiffnessLaw law, Simd simd, const Executor& executor) {
    // No wider than there are chains, unless some will be cut.
    const auto long_one = [](const Chain& c) { return c.vertices >= lanes::kShortestCut; };
    kernel_ = &chain_kernel<T>(simd);
    if (std::none_of(chains.begin(), chains.end(), long_one))
      for (Simd narrow : {Simd::avx2, Simd::sse2, Simd::off})
        if (const ChainKernel<T>& k = chain_kernel<T>(narrow);
            simd_available(narrow) && k.lanes < kernel_->lanes && static_cast<std::size_t>(k.lanes) >= chains.size())
          kernel_ = &k;
    plan_ = lanes::plan_chains<T>(model, chains, kernel_->lanes, law, lanes::ChainUse::direct);
    force_.assign(plan_.constants.size() / static_cast<std::size_t>(plan_.constants_per_row()) *
                      static_cast<std::size_t>(kernel_->forces(law)),
                  T(0));
    outcome_.resize(plan_.groups.size());
    outlook_.assign(plan_.groups.size(), {});
    threads_ = executor.threads();
    scratch_bytes_ = (kernel_->scratch_bytes(law)(plan_.most_rows) + kCacheLine - 1) / kCacheLine * kCacheLine;
    scratch_.resize(scratch_bytes_ * static_cast<std::size_t>(threads_));
  }

  std::size_t bytes() const {
    return plan_.constants.size() * sizeof(T) + force_.size() * sizeof(T) + plan_.groups.size() * sizeof(ChainGroup) +
           outcome_.size() * (sizeof(ChainOutcome) + sizeof(ChainOutlook)) + scratch_bytes_ * static_cast<std::size_t>(threads_);
  }

  ChainOutcome step(const StepView& view, const ChainOptions& options, const Executor& executor) {
    executor.for_each(
        plan_.groups.size(),
        [&](std::size_t i) {
          const ChainGroup& g = plan_.groups[i];
          std::byte* scratch = scratch_.data() + static_cast<std::size_t>(executor.worker()) * scratch_bytes_;
          T* force = force_.data() + g.constants / static_cast<std::size_t>(plan_.constants_per_row()) *
                                         static_cast<std::size_t>(kernel_->forces(plan_.law));
          outcome_[i] = kernel_->step(plan_.law)(g, plan_.group_after(i), plan_.constants.data() + g.constants, plan_.damped,
                                                 view, options, force, outlook_[i], scratch);
        },
        kGroupWeight);
    ChainOutcome all;
    for (const ChainOutcome& o : outcome_) all += o;
    return all;
  }

  /// f(first segment, count) for everything whose energy rose in the last step.
  template <class F>
  void each_that_rose(const F& f) const {
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const ChainGroup& g = plan_.groups[i];
      if (outcome_[i].energy_rose == 0) continue;
      for (int k = 0; k < plan_.lanes; ++k)
        if (g.segments[k] > 0 && (g.cut || (outcome_[i].energy_rose >> k & 1u))) f(g.first_segment[k], g.segments[k]);
    }
  }

 private:
  static constexpr std::size_t kGroupWeight = 128;  ///< a group is worth a thread's while; one alone is not
  const ChainKernel<T>* kernel_ = nullptr;
  lanes::ChainPlan<T> plan_;
  std::vector<T> force_;
  std::vector<ChainOutcome> outcome_;
  std::vector<ChainOutlook> outlook_;
  int threads_ = 1;
  std::size_t scratch_bytes_ = 0;  ///< per thread
  AlignedArray<std::byte> scratch_;
};

}  // namespace osier::systems
