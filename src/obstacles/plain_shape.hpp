// A solid shape that stays where it is, as plain numbers: what kernels know of obstacles.
#pragma once

#include "obstacles/shapes/fields.hpp"

namespace osier {

struct PlainShape {
  enum class Form : std::uint8_t { plane, sphere, capsule, cylinder, box };
  Form form = Form::plane;
  bool smallest_at_corners = false;  ///< the distance is linear
  Vec3d center;
  Quatd turn;
  Vec3d half;         ///< of a box; its third one is also half the length of a capsule or a cylinder [m]
  double radius = 0;  ///< [m]

  OSIER_CALL DistanceField field(const Vec3d& x) const {
    switch (form) {
      case Form::plane:
        return plane_field(x);
      case Form::sphere:
        return sphere_field(x, radius);
      case Form::capsule:
        return capsule_field(x, half.z, radius);
      case Form::cylinder:
        return cylinder_field(x, half.z, radius);
      case Form::box:
        break;
    }
    return box_field(x, half);
  }
  /// As contact::Obstacle::nearest().
  OSIER_CALL contact::ObstaclePoint nearest(const Vec3d& a, const Vec3d& b, double regular) const {
    return nearest_in_pose([&](const Vec3d& x) { return field(x); }, center, turn, a, b, regular);
  }
  /// As contact::Obstacle::features_near().
  OSIER_CALL bool is_near(const contact::Box& box) const {
    return comes_near([&](const Vec3d& x) { return field(x); }, center, turn, box, 0, smallest_at_corners);
  }
};

}  // namespace osier
