// Which way is up in a recorded scene: against its gravity.
#pragma once

#include <optional>
#include <string>

#include "osier/surface.hpp"

namespace osier {

/// Unit. Against the first gravity that is not zero, of a keyframed one against its first key that is not; y without gravity.
Vec3d up_direction(const std::string& scene_json);

/// The height along `up` of a square that stands still, level, with its front upwards: a floor.
std::optional<double> level_of(const Surface& surface, const Vec3d& up);

}  // namespace osier
