#include "obstacles/shapes/plane.hpp"

#include "obstacles/shapes/fields.hpp"
#include "obstacles/shapes/tessellate.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

class HalfSpace final : public RigidObstacle {
 public:
  using RigidObstacle::RigidObstacle;
  Kind kind() const override { return Kind::convex; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<HalfSpace>(*this); }

 protected:
  DistanceField field(Index, const Vec3d& x) const override { return plane_field(x); }
  double support_of(const Vec3d& n) const override {
    constexpr double kRounding = 1e-10;
    return n.z > 0 && std::abs(n.x) + std::abs(n.y) < kRounding ? 0 : std::numeric_limits<double>::infinity();
  }
  double extent() const override { return std::numeric_limits<double>::infinity(); }
  bool smallest_at_corners() const override { return true; }
  bool tell_form(PlainShape& s) const override { return s.form = PlainShape::Form::plane, true; }
};

Pose pose_of(const PlaneObstacle& plane) { return {plane.point, rotation_between(Vec3d{0, 0, 1}, normalized(plane.normal))}; }

}  // namespace

void PlaneObstacle::prepare(const std::string&, Problems& problems) {
  check_motion(problems);
  if (norm2(normal) == 0) problems.add(where + "/normal", "is the zero vector", "give a direction");
  else check_tilt(normal, "a plane", "use a box", problems);
}

std::shared_ptr<contact::Obstacle> PlaneObstacle::make() const {
  return std::make_shared<HalfSpace>(pose_of(*this), RigidObstacle::Symmetry::axis, motion);
}

Surface PlaneObstacle::surface() const {
  const Pose pose = pose_of(*this);
  Surface s;
  for (int i = 0; i < 4; ++i)
    s.points.push_back(pose.center + rotate(pose.turn, 0.5 * size * Vec3d{i == 1 || i == 2 ? 1.0 : -1.0, i > 1 ? 1.0 : -1.0, 0}));
  s.triangles = {{0, 1, 2}, {0, 2, 3}};
  return s;
}

}  // namespace osier
