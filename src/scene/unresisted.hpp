// Couples that nothing resists.
#pragma once

#include "scene/setup.hpp"

namespace osier {

/// Adds a warning for every straight piece of rod that is free to spin about its own line, has no rotational inertia, and is
/// driven about that line by torques: no motion balances them. In statics the solver finds this out itself.
void warn_of_unresisted_couples(Setup& setup);

}  // namespace osier
