// 32 bytes: AVX2 and FMA.
#include "forces/wind_push.hpp"

namespace osier {

const WindKernel kWindAvx2 = &WindPush<Pack<double, 4>>::apply;

}  // namespace osier
