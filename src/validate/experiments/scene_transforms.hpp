// The same scene somewhere else, or counted from the other end.
#pragma once

#include "core/json.hpp"
#include "osier/types.hpp"

namespace osier::validate {

/// Turned about the origin, then shifted. Throws RunError for what has a place but does not say it (a default direction, a
/// structure, a file).
Json moved_scene(Json scene, const Quatd& turn, const Vec3d& shift);

/// Rods along points or lines, with their vertices in reverse order; "rod:start" becomes "rod:end". Throws RunError for
/// everything else that counts along a rod.
Json reversed_scene(Json scene);

}  // namespace osier::validate
