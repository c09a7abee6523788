#include "obstacles/shapes/sphere.hpp"

#include <numbers>

#include "obstacles/shapes/fields.hpp"
#include "obstacles/shapes/tessellate.hpp"

namespace osier {

namespace {

class Ball final : public RigidObstacle {
 public:
  Ball(const Pose& rest, const Motion& motion, double radius, bool hollow)
      : RigidObstacle(rest, Symmetry::ball, motion), radius_(radius), hollow_(hollow) {}
  Kind kind() const override { return hollow_ ? Kind::hollow : Kind::convex; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<Ball>(*this); }

 protected:
  DistanceField field(Index, const Vec3d& x) const override {
    const DistanceField f = sphere_field(x, radius_);
    return hollow_ ? turned_inside_out(f) : f;
  }
  double support_of(const Vec3d&) const override { return radius_; }
  double extent() const override { return radius_; }
  bool tell_form(PlainShape& s) const override { return s.form = PlainShape::Form::sphere, s.radius = radius_, !hollow_; }

 private:
  double radius_;
  bool hollow_;
};

}  // namespace

std::shared_ptr<contact::Obstacle> SphereObstacle::make() const {
  return std::make_shared<Ball>(Pose{middle, {}}, motion, radius, hollow);
}

Surface SphereObstacle::surface() const {
  constexpr int kRings = 24;
  std::vector<std::array<double, 2>> profile;
  for (int i = 0; i <= kRings; ++i) {
    const double a = std::numbers::pi * i / kRings;
    profile.push_back({i == 0 || i == kRings ? 0 : radius * std::sin(a), -radius * std::cos(a)});
  }
  return turned_surface(profile, {middle, {}}, hollow);
}

}  // namespace osier
