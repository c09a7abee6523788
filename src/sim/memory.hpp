// How much memory a run of a scene takes, before it runs.
#pragma once

#include <cstddef>
#include <optional>

#include "osier/simulation.hpp"

namespace osier {

/// Bytes, by who holds them. Counted from the arrays themselves, so that a new field cannot be forgotten in one place only.
struct MemoryEstimate {
  std::size_t scene = 0;  ///< the compiled model, its names, its initial state
  std::size_t simulation =
      0;  ///< states (now, the last good one, where a measured step began), loads and targets, the residual's arrays
  std::size_t output = 0;             ///< the trajectory's file, and checkpoints
  std::optional<std::size_t> solver;  ///< working memory of the solver, where it can tell
  std::size_t total() const { return scene + simulation + output + solver.value_or(0); }
};

MemoryEstimate estimate_memory(const Scene& scene, const Simulation& simulation);

}  // namespace osier
