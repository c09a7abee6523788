// The kernels of one number type; included by the files of the instruction sets only.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/systems/forest/forest_kernels.hpp"

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

}  // namespace osier::systems
