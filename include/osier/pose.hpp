// Where a body is.
#pragma once

#include "osier/types.hpp"

namespace osier {

/// The place of a body's centre [m] and its turn, world axes.
struct Pose {
  Vec3d center;
  Quatd turn;
};

}  // namespace osier
