#include "solvers/systems/forest/forest_kernels.hpp"

#include "exec/simd_dispatch.hpp"

namespace osier::systems {

template <class T>
const ForestKernel<T>& forest_kernel(Simd simd, StiffnessLaw law) {
  return with_simd(simd, [&]<Simd S>() -> const ForestKernel<T>& { return forest_kernels_for<T, S>()[static_cast<int>(law)]; });
}
template const ForestKernel<float>& forest_kernel(Simd simd, StiffnessLaw law);
template const ForestKernel<double>& forest_kernel(Simd simd, StiffnessLaw law);

}  // namespace osier::systems
