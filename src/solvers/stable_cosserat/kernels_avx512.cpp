// Kernels of 64 bytes: AVX-512.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

const Kernels<float> kFloatAvx512 = kKernels<Pack<float, 16>>;
const Kernels<double> kDoubleAvx512 = kKernels<Pack<double, 8>>;

}  // namespace osier::stable_cosserat
