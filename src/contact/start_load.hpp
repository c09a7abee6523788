// What contacts may have to carry at the start of a run.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"

namespace osier::contact {

/// For each segment the largest external force on a vertex of what it belongs to, over all segments that are joined at vertices
/// [N]: the pull at the end of a rope presses all of it against the bar that it is wound around.
std::vector<double> loads_at_start(const Model& model, std::span<const Vec3d> vertex_force);

}  // namespace osier::contact
