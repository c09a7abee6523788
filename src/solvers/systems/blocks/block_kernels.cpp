#include "solvers/systems/blocks/block_kernels.hpp"

#include "exec/simd_dispatch.hpp"

namespace osier::systems {

template <class T>
const BlockKernel<T>& block_kernel(Simd simd, bool isotropic) {
  return with_simd(simd, [&]<Simd S>() -> const BlockKernel<T>& { return block_kernels_for<T, S>()[isotropic ? 0 : 1]; });
}
template const BlockKernel<float>& block_kernel(Simd simd, bool isotropic);
template const BlockKernel<double>& block_kernel(Simd simd, bool isotropic);

}  // namespace osier::systems
