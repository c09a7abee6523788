// Kernels of one number at a time.
#include "solvers/direct/forest_kernels_by_type.hpp"

namespace osier::direct {

template const ForestKernel<float>* forest_kernels_for<float, Simd::off>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::off>();

}  // namespace osier::direct
