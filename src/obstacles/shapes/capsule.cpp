#include "obstacles/shapes/capsule.hpp"

#include <numbers>

#include "obstacles/shapes/fields.hpp"
#include "obstacles/shapes/tessellate.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

class Bar final : public RigidObstacle {
 public:
  Bar(const Pose& rest, const Motion& motion, double half, double radius)
      : RigidObstacle(rest, Symmetry::axis, motion), half_(half), radius_(radius) {}
  Kind kind() const override { return Kind::convex; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<Bar>(*this); }

 protected:
  DistanceField field(Index, const Vec3d& x) const override { return capsule_field(x, half_, radius_); }
  double support_of(const Vec3d& n) const override { return half_ * std::abs(n.z) + radius_; }
  double extent() const override { return half_ + radius_; }
  bool tell_form(PlainShape& s) const override {
    s.form = PlainShape::Form::capsule, s.half.z = half_, s.radius = radius_;
    return true;
  }

 private:
  double half_, radius_;
};

}  // namespace

void CapsuleObstacle::prepare(const std::string&, Problems& problems) {
  check_motion(problems);
  if (norm2(to - from) == 0) problems.add(where + "/to", "is where `from` is", "use a sphere, or move one of the two");
}

std::shared_ptr<contact::Obstacle> CapsuleObstacle::make() const {
  return std::make_shared<Bar>(pose_between(from, to), motion, 0.5 * norm(to - from), radius);
}

Surface CapsuleObstacle::surface() const {
  constexpr int kRings = 12;
  const double half = 0.5 * norm(to - from);
  std::vector<std::array<double, 2>> profile;
  for (const double sign : {-1.0, 1.0})
    for (int i = 0; i <= kRings; ++i) {
      const double a = 0.5 * std::numbers::pi * (sign < 0 ? i : kRings - i) / kRings;
      profile.push_back({a == 0 ? 0 : radius * std::sin(a), sign * (half + radius * std::cos(a))});
    }
  return turned_surface(profile, pose_between(from, to), false);
}

}  // namespace osier
