// Kernels of one number at a time.
#include "solvers/systems/forest/forest_kernels_by_type.hpp"

namespace osier::systems {

template const ForestKernel<float>* forest_kernels_for<float, Simd::off>();
template const ForestKernel<double>* forest_kernels_for<double, Simd::off>();

}  // namespace osier::systems
