// Obstacles that move as rigid bodies. A shape says what its distance field is in its own axes; the poses and the bounds of their
// motion are the same for all.
#pragma once

#include <cmath>

#include "forces/attachment.hpp"
#include "obstacles/plain_shape.hpp"

namespace osier {

/// Where a motion takes points that were fastened to an obstacle around a centre at the start.
struct Carriage {
  Vec3d rest, center;
  Quatd turn;
  Vec3d operator()(const Vec3d& x) const { return center + rotate(turn, x - rest); }
};
inline Carriage carriage(const Motion& motion, const Vec3d& center, double time) {
  return {center, motion.placement(time)(center), motion.turning(time)()};
}

class RigidObstacle : public contact::Obstacle {
 public:
  enum class Symmetry : std::uint8_t { none, axis, ball };  ///< about the third axis, or about every one

  RigidObstacle(const Pose& rest, Symmetry symmetry, Motion motion);

  void set_step(double start, double end) override;
  void save_place(double share, std::vector<double>& place) const override;
  void start_from(std::span<const double> place) override;
  bool is_moving() const override { return moving_; }
  void features_near(const contact::Box& box, std::vector<Index>& features) const override;
  contact::ObstaclePoint nearest(Index feature, const Vec3d& a, const Vec3d& b, double share, double regular) const override;
  double reach(Index feature, double from, double to) const override;
  double support(Index feature, const Vec3d& n, double share) const override;
  double bend(Index feature) const override;
  Vec3d shift() const override { return shift_; }
  Vec3d moved(Index feature, const Vec3d& point, double share) const override;
  void place_points(const std::vector<Vec3d>& rest, double share, std::vector<Vec3d>& points) const override;
  Vec3d center(double share) const override { return from_.center + share * shift_; }
  Motion* motion() override { return &motion_; }
  bool tell_plain(PlainShape& shape) const override;
  bool may_tilt() const override { return std::isfinite(extent()); }

 protected:
  // In the shape's own axes, about its centre.
  virtual Index feature_count() const { return 1; }
  virtual DistanceField field(Index feature, const Vec3d& x) const = 0;
  /// The largest n.x of the shape; infinity where it has no end.
  virtual double support_of(const Vec3d& n) const = 0;
  /// No point of the surface that turning moves is further from the centre [m].
  virtual double extent() const = 0;
  /// Whether the distance is linear or concave, so that in a box it is smallest at a corner.
  virtual bool smallest_at_corners() const { return kind() == Kind::hollow; }

  /// Form, size and radius, of solid shapes that kernels know.
  virtual bool tell_form(PlainShape&) const { return false; }

 private:
  Pose pose_at(double time) const;
  Pose at(double share) const;  ///< of the shape; of the material it may differ by a turn about the axis of symmetry
  Pose of_material(double share) const;
  void settle(const std::optional<Vec3d>& spin);

  Pose rest_, from_, to_;
  Symmetry symmetry_;
  Motion motion_;
  Vec3d shift_, spin_, swing_;  ///< in the step: of the centre, of the material, of the shape
  bool moving_ = false;
};

}  // namespace osier
