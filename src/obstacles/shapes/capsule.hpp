// All points that are nearer than a radius to a line.
#pragma once

#include "obstacles/obstacle_spec.hpp"

namespace osier {

class CapsuleObstacle final : public ObstacleSpec {
 public:
  Vec3d from{0, 0, 0}, to{0, 0, 0};
  double radius = 0;
  static const char* kind() { return "capsule"; }
  static const char* help() { return "A round bar with round ends."; }
  template <class F>
  void fields(F& f) {
    f("from", from, "Middle of the ball at one end", {.unit = "m", .required = true});
    f("to", to, "Middle of the ball at the other end", {.unit = "m", .required = true});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    common_fields(f);
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return 0.5 * (from + to); }
};

}  // namespace osier
