// One vertex at a time.
#include "forces/wind_push.hpp"

namespace osier {

const WindKernel kWindOff = &WindPush<double>::apply;

}  // namespace osier
