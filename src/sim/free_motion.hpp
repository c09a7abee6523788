// Pieces that nothing holds.
#pragma once

#include <string>

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

/// A sentence about a piece that is free to move where its loads push it, so that it has no equilibrium; empty when there is
/// none.
std::string free_motion(const Model& model, const Control& control);

}  // namespace osier
