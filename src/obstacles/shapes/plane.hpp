// A half space.
#pragma once

#include "obstacles/obstacle_spec.hpp"

namespace osier {

class PlaneObstacle final : public ObstacleSpec {
 public:
  Vec3d point{0, 0, 0}, normal{0, 1, 0};
  double size = 2;
  static const char* kind() { return "obstacle_plane"; }
  static const char* help() { return "Everything behind an endless plane is solid: a floor, a wall, an incline."; }
  template <class F>
  void fields(F& f) {
    f("point", point, "A point of the plane", {.unit = "m"});
    f("normal", normal, "Direction away from the solid side, to where rods are");
    f("size", size, "Edge of the square that is drawn around `point`", {.unit = "m", .min = 0, .above_min = true});
    common_fields(f);
  }
  const char* type() const override { return "plane"; }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return point; }
};

}  // namespace osier
