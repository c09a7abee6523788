// Sweeps over the chains of a model, in lanes and on threads.
#pragma once

#include <atomic>
#include <memory>

#include "exec/parallel.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class T>
class ChainEngine {
 public:
  void bind(const Model& model, std::span<const Chain> chains, Simd simd, const Executor& executor) {
    kernel_ = &chain_kernel<T>(simd);
    plan_ = plan_chains<T>(model, chains, kernel_->lanes);
    scratch_bytes_ = (kernel_->scratch_bytes(plan_.most_rows, plan_.damped) + kLine - 1) / kLine * kLine;
    scratch_.reset(static_cast<std::byte*>(
        ::operator new (scratch_bytes_* static_cast<std::size_t>(executor.threads()), std::align_val_t{kLine})));
  }

  /// False when something is no longer finite.
  bool step(const StepView& view, Lambda lambda, int iterations, const Executor& executor) {
    std::atomic<bool> finite = true;
    executor.for_each(
        plan_.groups.size(),
        [&](std::size_t i) {
          const ChainGroup& g = plan_.groups[i];
          std::byte* scratch = scratch_.get() + static_cast<std::size_t>(executor.worker()) * scratch_bytes_;
          if (!kernel_->step(g, plan_.constants.data() + g.constants, plan_.damped, view, lambda, iterations, scratch))
            finite.store(false, std::memory_order_relaxed);
        },
        kGroupWeight);
    return finite;
  }

 private:
  static constexpr std::size_t kLine = 64;          ///< bytes: the widest pack and a cache line
  static constexpr std::size_t kGroupWeight = 128;  ///< a group is worth a thread's while; one alone is not
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{kLine}); }
  };
  const ChainKernel<T>* kernel_ = nullptr;
  ChainPlan<T> plan_;
  std::size_t scratch_bytes_ = 0;  ///< per thread
  std::unique_ptr<std::byte, Free> scratch_;
};

}  // namespace osier::stable_cosserat
