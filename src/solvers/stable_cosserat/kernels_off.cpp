// Kernels of one number at a time.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

template const Kernels<float>& kernels_for<float, Simd::off>();
template const Kernels<double>& kernels_for<double, Simd::off>();

}  // namespace osier::stable_cosserat
