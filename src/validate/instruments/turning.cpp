#include "validate/instruments/turning.hpp"

#include <cmath>

#include "math/quat.hpp"

namespace osier::validate {

void Turning::prepare(const Scene& scene, Problems& problems) {
  if (const RodInfo* r = find_rod(scene, rod, where + "/rod", problems)) segments_ = r->segments;
  if (norm(axis) == 0) problems.add(where + "/axis", "is zero", "give a direction");
  else axis = normalized(axis);
}

std::vector<double> Turning::finish(const Simulation& simulation) {
  double angle = 0;
  Vec3d last = from;
  for (Index s : segments_) {
    const Vec3d d = director3(simulation.state().frame_rotation[s]);
    const Vec3d a = last - dot(last, axis) * axis, b = d - dot(d, axis) * axis;
    angle += std::atan2(dot(cross(a, b), axis), dot(a, b));
    last = d;
  }
  return {angle};
}

}  // namespace osier::validate
