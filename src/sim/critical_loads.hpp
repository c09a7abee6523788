// The loads and prescribed motions of a static analysis at one of its pseudo-times, each in its own unit.
#pragma once

#include <string>
#include <vector>

#include "scene/setup.hpp"

namespace osier {

/// One line, "/forces/0: 0.5 N", for each load or motion that has changed since pseudo-time 0.
std::vector<std::string> loads_at(const Setup& setup, double time);

}  // namespace osier
