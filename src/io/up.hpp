// Which way is up in a recorded scene: against its gravity.
#pragma once

#include <string>

#include "osier/types.hpp"

namespace osier {

/// Unit. Against the first gravity that is not zero, of a keyframed one against its first key that is not; y without gravity.
Vec3d up_direction(const std::string& scene_json);

}  // namespace osier
