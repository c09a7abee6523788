#include "solvers/stable_cosserat/kernels.hpp"

#include "exec/simd_dispatch.hpp"

namespace osier::stable_cosserat {

template <class T>
const Kernels<T>& kernels(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const Kernels<T>& { return kernels_for<T, S>(); });
}
template const Kernels<float>& kernels(Simd simd);
template const Kernels<double>& kernels(Simd simd);

}  // namespace osier::stable_cosserat
