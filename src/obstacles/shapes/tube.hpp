// A pipe: a wall between two radii, open at both ends.
#pragma once

#include "obstacles/mesh/mesh_surface.hpp"
#include "obstacles/obstacle_spec.hpp"

namespace osier {

class TubeObstacle final : public ObstacleSpec {
 public:
  Vec3d from{0, 0, 0}, to{0, 0, 0};
  double inner = 0, outer = 0;
  int sides = 48;
  static const char* kind() { return "tube"; }
  static const char* help() {
    return "A pipe, open at both ends; rods may be in it, around it, or come out of it. Its walls are flat between `sides` "
           "edges; "
           "where rods stay inside, a `hollow` cylinder is round and faster.";
  }
  template <class F>
  void fields(F& f) {
    f("from", from, "Middle of one end", {.unit = "m", .required = true});
    f("to", to, "Middle of the other end", {.unit = "m", .required = true});
    f("inner", inner, "Radius of the bore", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("outer", outer, "Radius outside", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("sides", sides, "Flat sides around; the bore touches its circle from outside", {.min = 3, .max = 1000});
    common_fields(f);
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override;
  Surface surface() const override;
  Vec3d center() const override { return 0.5 * (from + to); }

 private:
  Surface wall() const;
};

}  // namespace osier
