// Ctrl-C: what is under way comes to an orderly end.
#pragma once

#include <atomic>
#include <csignal>

namespace osier::cli {

inline std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // safe to set in a signal handler

inline void on_interrupt(int) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C does not wait
}

inline void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

}  // namespace osier::cli
