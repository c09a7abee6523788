// The torque on a frame: a part that keeps its direction in the world and a part that turns with the frame.
#pragma once

#include "math/quat.hpp"

namespace osier::torque {

/// In world axes [N m]; `follower` is given in the material axes of the frame q.
template <class T>
OSIER_FN Vec3<T> total(const Vec3<T>& dead, const Vec3<T>& follower, const Quat<T>& q) {
  return dead + rotate(q, follower);
}

}  // namespace osier::torque
