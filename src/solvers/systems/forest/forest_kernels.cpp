// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/systems/forest/forest_kernels.hpp"

#include "exec/simd_target.hpp"

namespace osier::systems {

template <class Step>
constexpr ForestKernel<typename Step::T> kForestKernel{Step::W,
                                                       sizeof(typename Step::Row),
                                                       sizeof(typename Step::Tie),
                                                       &Step::load,
                                                       &Step::load_ties,
                                                       &Step::store,
                                                       &Step::bend_ties,
                                                       &Step::up,
                                                       &Step::down,
                                                       &Step::free_motion2};

template <class P>
constexpr ForestKernel<ScalarOf<P>> kForestKernels[2] = {kForestKernel<ForestStep<P, IsotropicLink>>,
                                                         kForestKernel<ForestStep<P, AnisotropicLink>>};

template <class T, Simd S>
const ForestKernel<T>* forest_kernels_for() {
  return kForestKernels<NumberOf<T, S>>;
}
template const ForestKernel<float>* forest_kernels_for<float, kSimdTarget>();
template const ForestKernel<double>* forest_kernels_for<double, kSimdTarget>();

}  // namespace osier::systems
