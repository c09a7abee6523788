#include "obstacles/shapes/cylinder.hpp"

#include "obstacles/shapes/fields.hpp"
#include "obstacles/shapes/tessellate.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

class Drum final : public RigidObstacle {
 public:
  Drum(const Pose& rest, const Motion& motion, double half, double radius)
      : RigidObstacle(rest, Symmetry::axis, motion), half_(half), radius_(radius) {}
  Kind kind() const override { return Kind::convex; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<Drum>(*this); }

 protected:
  DistanceField field(Index, const Vec3d& x) const override { return cylinder_field(x, half_, radius_); }
  double support_of(const Vec3d& n) const override { return half_ * std::abs(n.z) + radius_ * std::hypot(n.x, n.y); }
  double extent() const override { return std::hypot(half_, radius_); }
  bool tell_form(PlainShape& s) const override {
    s.form = PlainShape::Form::cylinder, s.half.z = half_, s.radius = radius_;
    return true;
  }

 private:
  double half_, radius_;
};

/// The wall is feature 0, the ends are 1 and 2.
class Bore final : public RigidObstacle {
 public:
  Bore(const Pose& rest, const Motion& motion, double half, double radius, bool closed)
      : RigidObstacle(rest, Symmetry::axis, motion), half_(half), radius_(radius), closed_(closed) {}
  Kind kind() const override { return Kind::hollow; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<Bore>(*this); }

 protected:
  Index feature_count() const override { return closed_ ? 3 : 1; }
  DistanceField field(Index feature, const Vec3d& x) const override {
    if (feature == 0) return turned_inside_out(side_field(x, radius_));
    const double sign = feature == 1 ? -1 : 1;
    return {half_ - sign * x.z, {0, 0, -sign}, {}};
  }
  double support_of(const Vec3d&) const override { return std::numeric_limits<double>::infinity(); }
  double extent() const override { return closed_ ? std::hypot(half_, radius_) : std::numeric_limits<double>::infinity(); }

 private:
  double half_, radius_;
  bool closed_;
};

}  // namespace

void CylinderObstacle::prepare(const std::string&, Problems& problems) {
  check_motion(problems);
  if (norm2(to - from) == 0) problems.add(where + "/to", "is where `from` is", "move one of the two");
  else if (hollow && !closed) check_tilt(to - from, "an open bore", "use a tube, or close it", problems);
}

std::shared_ptr<contact::Obstacle> CylinderObstacle::make() const {
  const double half = 0.5 * norm(to - from);
  if (hollow) return std::make_shared<Bore>(pose_between(from, to), motion, half, radius, closed);
  return std::make_shared<Drum>(pose_between(from, to), motion, half, radius);
}

Surface CylinderObstacle::surface() const {
  const double half = 0.5 * norm(to - from);
  std::vector<std::array<double, 2>> profile{{radius, -half}, {radius, half}};
  if (!hollow || closed) profile = {{0, -half}, {radius, -half}, {radius, half}, {0, half}};
  return turned_surface(profile, pose_between(from, to), hollow);
}

}  // namespace osier
