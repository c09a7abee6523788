// A box, or the room inside of one.
#pragma once

#include "obstacles/obstacle_spec.hpp"

namespace osier {

class BoxObstacle final : public ObstacleSpec {
 public:
  Vec3d middle{0, 0, 0}, size{0, 0, 0};
  Quatd orientation;
  bool hollow = false;
  static const char* kind() { return "box"; }
  static const char* help() { return "A box; `hollow`: the walls of a room of that shape, with the rods inside."; }
  template <class F>
  void fields(F& f) {
    f("center", middle, "Centre", {.unit = "m"});
    f("size", size, "Lengths of its edges", {.unit = "m", .required = true});
    f("orientation", orientation, "Rotation of its edges from the world axes");
    f("hollow", hollow, "Whether rods are inside of it");
    common_fields(f);
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return middle; }
};

}  // namespace osier
