// Error against time, one point for each number of iterations: who is below is better at equal time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "osier/bench.hpp"

namespace osier::bench {

/// File names and SVG pictures that need nothing else: one per scene, and `error_over_time.svg` with all of them. Readable on
/// light and dark pages. Nothing when there are no such rows.
std::vector<std::pair<std::string, std::string>> error_plots(const Bench& bench);

}  // namespace osier::bench
