// Obstacles for tests, without a scene around them.
#pragma once

#include "obstacles/shapes/box.hpp"
#include "obstacles/shapes/capsule.hpp"
#include "obstacles/shapes/cylinder.hpp"
#include "obstacles/shapes/plane.hpp"
#include "obstacles/shapes/sphere.hpp"
#include "obstacles/shapes/tube.hpp"

namespace osier::test {

inline PlaneObstacle plane_of(const Vec3d& point, const Vec3d& normal) {
  PlaneObstacle plane;
  plane.point = point, plane.normal = normal;
  return plane;
}
inline SphereObstacle sphere_of(const Vec3d& center, double radius, bool hollow = false) {
  SphereObstacle ball;
  ball.middle = center, ball.radius = radius, ball.hollow = hollow;
  return ball;
}
inline CapsuleObstacle capsule_of(const Vec3d& from, const Vec3d& to, double radius) {
  CapsuleObstacle bar;
  bar.from = from, bar.to = to, bar.radius = radius;
  return bar;
}
inline BoxObstacle box_of(const Vec3d& center, const Vec3d& size, const Quatd& orientation = {}, bool hollow = false) {
  BoxObstacle box;
  box.middle = center, box.size = size, box.orientation = orientation, box.hollow = hollow;
  return box;
}
inline CylinderObstacle cylinder_of(const Vec3d& from, const Vec3d& to, double radius, bool hollow = false, bool closed = false) {
  CylinderObstacle drum;
  drum.from = from, drum.to = to, drum.radius = radius, drum.hollow = hollow, drum.closed = closed;
  return drum;
}

/// Along a line from time 0 to a second, by `way` [m], and on after it.
inline Motion moving(const Vec3d& way, double seconds = 1) {
  Motion motion;
  motion.translate.keys = {{0, {}}, {seconds, way}};
  return motion;
}
inline Motion turning(const Vec3d& axis, const Vec3d& center, double speed) {
  Motion motion;
  motion.rotate.emplace();
  motion.rotate->axis = axis, motion.rotate->center = center, motion.rotate->speed = Track<double>(speed);
  return motion;
}
template <class Spec>
std::shared_ptr<contact::Obstacle> made(Spec spec, const Motion& motion = {}, double friction = -1) {
  spec.motion = motion;
  auto obstacle = spec.make();
  obstacle->friction = friction;
  return obstacle;
}

}  // namespace osier::test
