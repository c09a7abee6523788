// What probes measure, for probes.csv and for the validation catalogue.
#pragma once

#include <string>
#include <vector>

#include "osier/simulation.hpp"
#include "scene/setup.hpp"

namespace osier {

/// "tip.x", "tip.y", ... in the order of probe_values().
std::vector<std::string> probe_columns(const Setup& setup);
void probe_values(const Setup& setup, const Simulation& simulation, std::vector<double>& values);

}  // namespace osier
