#include "obstacles/shapes/box.hpp"

#include <fmt/format.h>

#include "obstacles/shapes/fields.hpp"
#include "obstacles/shapes/tessellate.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

/// One feature when solid; hollow, one for each wall.
class Block final : public RigidObstacle {
 public:
  Block(const Pose& rest, const Motion& motion, const Vec3d& half, bool hollow)
      : RigidObstacle(rest, Symmetry::none, motion), half_(half), hollow_(hollow) {}
  Kind kind() const override { return hollow_ ? Kind::hollow : Kind::convex; }
  std::shared_ptr<contact::Obstacle> clone() const override { return std::make_shared<Block>(*this); }

 protected:
  Index feature_count() const override { return hollow_ ? 6 : 1; }
  DistanceField field(Index feature, const Vec3d& x) const override {
    if (!hollow_) return box_field(x, half_);
    const double sign = feature % 2 == 0 ? 1 : -1;
    const Vec3d out = sign * Vec3d{feature / 2 == 0 ? 1.0 : 0.0, feature / 2 == 1 ? 1.0 : 0.0, feature / 2 == 2 ? 1.0 : 0.0};
    const double half = feature / 2 == 0 ? half_.x : feature / 2 == 1 ? half_.y : half_.z;
    return {half - dot(out, x), -1.0 * out, {}};
  }
  double support_of(const Vec3d& n) const override {
    return half_.x * std::abs(n.x) + half_.y * std::abs(n.y) + half_.z * std::abs(n.z);
  }
  double extent() const override { return norm(half_); }
  bool tell_form(PlainShape& s) const override { return s.form = PlainShape::Form::box, s.half = half_, !hollow_; }

 private:
  Vec3d half_;
  bool hollow_;
};

Pose pose_of(const BoxObstacle& box) { return {box.middle, normalized(box.orientation)}; }

}  // namespace

void BoxObstacle::prepare(const std::string&, Problems& problems) {
  check_motion(problems);
  if (!(size.x > 0 && size.y > 0 && size.z > 0))
    problems.add(where + "/size", fmt::format("[{:g}, {:g}, {:g}] m has no volume", size.x, size.y, size.z),
                 "give three positive lengths");
}

std::shared_ptr<contact::Obstacle> BoxObstacle::make() const {
  return std::make_shared<Block>(pose_of(*this), motion, 0.5 * size, hollow);
}

Surface BoxObstacle::surface() const { return box_surface(0.5 * size, pose_of(*this), hollow); }

}  // namespace osier
