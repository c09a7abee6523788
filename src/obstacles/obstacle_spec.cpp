#include "obstacles/obstacle_spec.hpp"

#include <fmt/format.h>

#include "osier/error.hpp"

namespace osier {

void ObstacleSpec::check_motion(Problems& problems) const {
  if (motion.rotate && norm2(motion.rotate->axis) == 0)
    problems.add(motion.rotate->where + "/axis", "is the zero vector", "give a direction");
}

void ObstacleSpec::check_tilt(const Vec3d& axis, const char* what, const char* remedy, Problems& problems) const {
  const bool tilts = motion.rotate && norm(cross(normalized(motion.rotate->axis), normalized(axis))) > 1e-9;
  const bool turns_from_file = motion.file && motion.file->turns();
  if (tilts || motion.orientation.given() || turns_from_file)
    problems.add(tilts             ? motion.rotate->where + "/axis"
                 : turns_from_file ? where + "/motion/file"
                                   : where + "/motion/orientation",
                 fmt::format("would tilt {}, which has no end: far away it would move without bound", what), remedy);
}

}  // namespace osier
