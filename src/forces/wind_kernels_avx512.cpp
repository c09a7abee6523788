// 64 bytes: AVX-512.
#include "forces/wind_push.hpp"

namespace osier {

const WindKernel kWindAvx512 = &WindPush<Pack<double, 8>>::apply;

}  // namespace osier
