// How much memory this process can still take.
#pragma once

#include <cstdint>

namespace osier {

/// What the machine has free, within the limits that were set for this process and its group [bytes]; a lot where nothing says.
std::uint64_t free_memory();

}  // namespace osier
