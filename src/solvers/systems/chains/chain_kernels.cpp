#include "solvers/systems/chains/chain_kernels.hpp"

#include "exec/simd_dispatch.hpp"

namespace osier::systems {

template <class T>
const ChainKernel<T>& chain_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const ChainKernel<T>& { return chain_kernel_for<T, S>(); });
}
template const ChainKernel<float>& chain_kernel(Simd simd);
template const ChainKernel<double>& chain_kernel(Simd simd);

}  // namespace osier::systems
