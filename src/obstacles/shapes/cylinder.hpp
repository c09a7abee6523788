// A cylinder with flat ends, or the bore of one.
#pragma once

#include "obstacles/obstacle_spec.hpp"

namespace osier {

class CylinderObstacle final : public ObstacleSpec {
 public:
  Vec3d from{0, 0, 0}, to{0, 0, 0};
  double radius = 0;
  bool hollow = false, closed = false;
  static const char* kind() { return "cylinder"; }
  static const char* help() {
    return "A cylinder with flat ends: a bar, a sheave, a capstan. `hollow`: a bore with the rods inside, which goes on beyond "
           "its "
           "ends unless it is `closed`. For a pipe with ends that rods can come out of, use a `tube`.";
  }
  template <class F>
  void fields(F& f) {
    f("from", from, "Middle of one end", {.unit = "m", .required = true});
    f("to", to, "Middle of the other end", {.unit = "m", .required = true});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("hollow", hollow, "Whether rods are inside of it");
    f("closed", closed, "With `hollow`: whether it has walls at its ends");
    common_fields(f);
    if (f.has("closed") && !hollow) f.problem("`closed` has no effect on a solid cylinder", "leave it out, or set `hollow`");
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return 0.5 * (from + to); }
};

}  // namespace osier
