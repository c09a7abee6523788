// 16 bytes: SSE2, or NEON.
#include "forces/wind_push.hpp"

namespace osier {

const WindKernel kWindSse2 = &WindPush<Pack<double, 2>>::apply;

}  // namespace osier
