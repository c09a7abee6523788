// The direct solver's kernels for chains by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/direct/chain_step.hpp"

namespace osier::direct {

/// See ChainStep.
template <class T>
struct ChainKernel {
  int lanes;
  std::size_t (*scratch_bytes)(Index rows);
  ChainOutcome (*step)(const ChainGroup& group, const T* constants, bool damped, const StepView& view,
                       const ChainOptions& options, T* tension, void* scratch);
};

/// `simd` must be available on this machine.
template <class T>
const ChainKernel<T>& chain_kernel(Simd simd);

// One definition in each file of its instruction set.
extern const ChainKernel<float> kChainFloatOff, kChainFloatSse2, kChainFloatAvx2, kChainFloatAvx512;
extern const ChainKernel<double> kChainDoubleOff, kChainDoubleSse2, kChainDoubleAvx2, kChainDoubleAvx512;

}  // namespace osier::direct
