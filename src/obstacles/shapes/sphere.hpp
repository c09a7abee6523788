// A ball, or the room inside of one.
#pragma once

#include "obstacles/obstacle_spec.hpp"

namespace osier {

class SphereObstacle final : public ObstacleSpec {
 public:
  Vec3d middle{0, 0, 0};
  double radius = 0;
  bool hollow = false;
  static const char* kind() { return "sphere"; }
  static const char* help() { return "A ball; `hollow`: the wall of a room of that shape, with the rods inside."; }
  template <class F>
  void fields(F& f) {
    f("center", middle, "Centre", {.unit = "m"});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("hollow", hollow, "Whether rods are inside of it");
    common_fields(f);
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string&, Problems& problems) override { check_motion(problems); }
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return middle; }
};

}  // namespace osier
