// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

const Kernels<float> kFloatSse2 = kKernels<Pack<float, 4>>;
const Kernels<double> kDoubleSse2 = kKernels<Pack<double, 2>>;

}  // namespace osier::stable_cosserat
