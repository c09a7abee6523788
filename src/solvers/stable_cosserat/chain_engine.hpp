// Sweeps over the chains of a model, in lanes and on threads.
#pragma once

#include <atomic>

#include "exec/parallel.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

using lanes::ChainExtent, lanes::ChainGroup, lanes::ChainPlan, lanes::constants_per_row, lanes::extent_of_chains,
    lanes::plan_chains;

template <class T>
class ChainEngine {
 public:
  void bind(const Model& model, std::span<const Chain> chains, Simd simd, const Executor& executor) {
    const Kernels<T>& table = kernels<T>(simd);
    const StiffnessLaw law = law_of(model);
    kernel_ = &table.chain[static_cast<int>(law)];
    plan_ = plan_chains<T>(model, chains, table.lanes, law);
    scratch_bytes_ = scratch_bytes(*kernel_, plan_.most_rows, plan_.damped);
    scratch_.resize(plan_.groups.empty() ? 0 : scratch_bytes_ * static_cast<std::size_t>(executor.threads()));
  }

  /// The memory that bind() allocates and keeps.
  static std::size_t bytes(const Model& model, std::span<const Chain> chains, Simd simd, int threads) {
    if (chains.empty()) return 0;
    const Kernels<T>& table = kernels<T>(simd);
    const bool damped = model.has_damping();
    const ChainExtent e = extent_of_chains(chains, table.lanes);
    const StiffnessLaw law = law_of(model);
    const int per_row = table.lanes * constants_per_row(law, damped);
    return e.groups * sizeof(ChainGroup) + e.rows * static_cast<std::size_t>(per_row) * sizeof(T) +
           static_cast<std::size_t>(threads) * scratch_bytes(table.chain[static_cast<int>(law)], e.most_rows, damped);
  }

  /// Does one step. Returns false when a number is not finite.
  bool step(const StepView& view, Lambda lambda, int iterations, const Executor& executor) {
    std::atomic<bool> finite = true;
    executor.for_each_job(plan_.groups.size(), [&](std::size_t i) {
      const ChainGroup& g = plan_.groups[i];
      // Several threads take groups by turns, and another thread may be writing to the prefetched data.
      const ChainGroup* next = executor.threads() == 1 ? plan_.group_after(i) : nullptr;
      std::byte* scratch = scratch_.data() + static_cast<std::size_t>(executor.worker()) * scratch_bytes_;
      if (!kernel_->step(g, next, plan_.constants.data() + g.constants, plan_.damped, view, lambda, iterations, scratch))
        finite.store(false, std::memory_order_relaxed);
    });
    return finite;
  }

 private:
  static std::size_t scratch_bytes(const ChainKernel<T>& kernel, Index rows, bool damped) {
    return (kernel.scratch_bytes(rows, damped) + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

  const ChainKernel<T>* kernel_ = nullptr;
  ChainPlan<T> plan_;
  std::size_t scratch_bytes_ = 0;  ///< per thread
  AlignedArray<std::byte> scratch_;
};

}  // namespace osier::stable_cosserat
