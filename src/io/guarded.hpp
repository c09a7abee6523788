// Tries something that may crash the process, in a copy of it.
#pragma once

#include <functional>

namespace osier {

/// Carries `trial` out in a child process, which sees everything this one has and leaves no trace in it. False when a signal ends
/// the child, as a crash in a library does; true when the trial returns or throws, and where no child can be made.
bool survives(const std::function<void()>& trial);

}  // namespace osier
