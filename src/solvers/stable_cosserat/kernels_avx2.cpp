// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

const Kernels<float> kFloatAvx2 = kKernels<Pack<float, 8>>;
const Kernels<double> kDoubleAvx2 = kKernels<Pack<double, 4>>;

}  // namespace osier::stable_cosserat
