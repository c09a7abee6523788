// What rods can touch that is no rod. An obstacle has a number of features, one for a sphere or a plane and one for every
// triangle of a mesh; a contact is one of a segment with a feature.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "math/mat3.hpp"
#include "osier/types.hpp"

namespace osier {
struct Motion;
struct PlainShape;
}  // namespace osier

namespace osier::contact {

struct Box {
  Vec3d low, high;
};

/// The place of a segment that is nearest to the surface of a feature.
struct ObstaclePoint {
  double distance = 0;         ///< the minimum that was asked for; negative inside the obstacle [m]
  double along = 0.5;          ///< 0 at the segment's first end, 1 at its second
  Vec3d normal;                ///< the gradient of the distance there: of length 1, away from the obstacle
  Vec3d point;                 ///< nearest point of the surface [m]
  Mat3<double> curvature;      ///< Hessian of the distance there [1/m]
  double along_stiffness = 0;  ///< second derivative of the minimised function by s; 0 where s is at an end [m]
};

class Obstacle {
 public:
  /// How the guard can tell that a segment stays outside.
  enum class Kind : std::uint8_t {
    convex,  ///< a feature lies behind the plane through `point` across `normal`
    hollow,  ///< the space that is left to rods is convex, as inside a tube: a segment is in it when its two ends are
  };

  virtual ~Obstacle() = default;
  virtual Kind kind() const = 0;
  /// Its poses are its own.
  virtual std::shared_ptr<Obstacle> clone() const = 0;

  /// The poses at the start and at the end of the next step. Shares of the motion between the two are numbers from 0 to 1.
  virtual void set_step(double start, double end) { (void)start, (void)end; }
  /// The place at a share, for start_from() in the next step: an obstacle that was held back is not where set_step() puts it.
  virtual void save_place(double share, std::vector<double>& place) const { (void)share, (void)place; }
  /// After set_step(): the step starts there instead.
  virtual void start_from(std::span<const double> place) { (void)place; }
  virtual bool is_moving() const { return false; }

  /// Adds the features whose surface may come into the box at any share, in ascending order.
  virtual void features_near(const Box& box, std::vector<Index>& features) const = 0;
  /// The minimum over s in [0, 1] of
  ///   distance(a + s (b - a)) + regular/2 (s - 1/2)^2
  /// With `regular` > 0 [m] a rod that lies on a flat face is pressed at its middle and not now at one end, now at the other; 0:
  /// the plain distance. a may be b. Hollow obstacles are asked for points alone (a = b).
  virtual ObstaclePoint nearest(Index feature, const Vec3d& a, const Vec3d& b, double share, double regular) const = 0;

  // Bounds of the motion between two shares. Along a path between them, each point x of a feature has |x''| <= bend.

  /// No point of the shape's surface moves further than this between two shares [m]. A sheave that turns about its own axis does
  /// not move in this sense.
  virtual double reach(Index feature, double from, double to) const { return (void)feature, (void)from, (void)to, 0; }
  /// Convex obstacles: the largest n.x of a feature at a share [m]; infinity across directions in which it has no end.
  virtual double support(Index feature, const Vec3d& n, double share) const {
    return (void)feature, (void)n, (void)share, std::numeric_limits<double>::infinity();
  }
  virtual double bend(Index feature) const { return (void)feature, 0; }
  /// What all of it moves by in the whole step, but for turning [m].
  virtual Vec3d shift() const { return {}; }

  /// How far the material that is at `point` at a share has moved since the start of the step: what friction rubs against [m].
  virtual Vec3d moved(Index feature, const Vec3d& point, double share) const {
    return (void)feature, (void)point, (void)share, Vec3d{};
  }
  /// Points that were fastened to it before any motion, or, for one that deforms, its own points, where they are at a share.
  virtual void place_points(const std::vector<Vec3d>& rest, double share, std::vector<Vec3d>& points) const {
    (void)share, points = rest;
  }
  /// The point about which moments on it are taken, at a share [m].
  virtual Vec3d center(double share) const { return (void)share, Vec3d{}; }
  /// What leads it, for those who lead it otherwise; null: nothing does.
  virtual Motion* motion() { return nullptr; }
  /// As plain numbers, for kernels. False where it is not a solid shape that stays where it is.
  virtual bool tell_plain(PlainShape& shape) const { return (void)shape, false; }
  /// Whether it has ends, so that it may turn about any axis; a plane may not.
  virtual bool may_tilt() const { return true; }

  std::string name;
  std::string material;  ///< for the friction table; may be empty
  double friction = -1;  ///< with everything; negative: by materials
};

/// The plain distance of a segment from a feature, whatever its kind.
inline double distance_of(const Obstacle& obstacle, Index feature, const Vec3d& a, const Vec3d& b, double share) {
  if (obstacle.kind() == Obstacle::Kind::convex) return obstacle.nearest(feature, a, b, share, 0).distance;
  const double at_a = obstacle.nearest(feature, a, a, share, 0).distance,
               at_b = obstacle.nearest(feature, b, b, share, 0).distance;
  return at_a < at_b ? at_a : at_b;
}

}  // namespace osier::contact
