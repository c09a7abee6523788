// The kernels of one number type; included by the files of the instruction sets only.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/chains/chain_kernels.hpp"

namespace osier::systems {

template <class P>
constexpr ChainKernel<ScalarOf<P>> kChainKernel{
    lanes_of<P>,
    {IsotropicLink<P>::kForces, AnisotropicLink<P>::kForces},
    {&ChainStep<P, IsotropicLink>::scratch_bytes, &ChainStep<P, AnisotropicLink>::scratch_bytes},
    {&ChainStep<P, IsotropicLink>::step, &ChainStep<P, AnisotropicLink>::step}};

template <class T, Simd S>
const ChainKernel<T>& chain_kernel_for() {
  return kChainKernel<NumberOf<T, S>>;
}

}  // namespace osier::systems
