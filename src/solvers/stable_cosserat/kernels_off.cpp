// Kernels of one number at a time.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

const Kernels<float> kFloatOff = kKernels<float>;
const Kernels<double> kDoubleOff = kKernels<double>;

}  // namespace osier::stable_cosserat
