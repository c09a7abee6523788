// What a scene asks of its solver.
#pragma once

#include "scene/setup.hpp"
#include "solvers/refusals.hpp"

namespace osier {

std::vector<Need> needs_of(const Setup& setup);

}  // namespace osier
