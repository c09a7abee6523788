// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/systems/chains/chain_kernels.hpp"

#include "exec/simd_target.hpp"

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
template const ChainKernel<float>& chain_kernel_for<float, kSimdTarget>();
template const ChainKernel<double>& chain_kernel_for<double, kSimdTarget>();

}  // namespace osier::systems
