// The sweeps' kernels by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "solvers/stable_cosserat/step_view.hpp"

namespace osier::stable_cosserat {

/// See ChainSweep.
template <class T>
struct ChainKernel {
  int lanes;
  std::size_t (*scratch_bytes)(Index rows, bool damped);
  bool (*step)(const ChainGroup& group, const T* constants, bool damped, const StepView& view, Lambda lambda, int iterations,
               void* scratch);
};

/// `simd` must be available on this machine.
template <class T>
const ChainKernel<T>& chain_kernel(Simd simd);

// One definition in each file of its instruction set.
extern const ChainKernel<float> kChainFloatOff, kChainFloatSse2, kChainFloatAvx2, kChainFloatAvx512;
extern const ChainKernel<double> kChainDoubleOff, kChainDoubleSse2, kChainDoubleAvx2, kChainDoubleAvx512;

}  // namespace osier::stable_cosserat
