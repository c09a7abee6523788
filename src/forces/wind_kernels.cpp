// Compiled once per instruction set, see exec/simd_target.hpp.
#include "forces/wind_kernels.hpp"

#include "exec/simd_target.hpp"
#include "forces/wind_push.hpp"

namespace osier {

template <Simd S>
WindKernel wind_kernel_for() {
  return &WindPush<NumberOf<double, S>>::apply;
}
template WindKernel wind_kernel_for<kSimdTarget>();

}  // namespace osier
