#include "obstacles/rigid.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace osier {

RigidObstacle::RigidObstacle(const Pose& rest, Symmetry symmetry, Motion motion)
    : rest_(rest), symmetry_(symmetry), motion_(std::move(motion)) {
  RigidObstacle::set_step(0, 0);
}

Pose RigidObstacle::pose_at(double time) const {
  const Carriage carried = carriage(motion_, rest_.center, time);
  return {carried.center, normalized(carried.turn * rest_.turn)};
}

void RigidObstacle::set_step(double start, double end) {
  from_ = pose_at(start), to_ = pose_at(end);
  // More than half a turn in a step is known only from the angle.
  std::optional<Vec3d> spin;
  if (motion_.rotate && !motion_.orientation.given() && !motion_.led)
    spin = (motion_.angle(end) - motion_.angle(start)) * normalized(motion_.rotate->axis);
  settle(spin);
}

void RigidObstacle::settle(const std::optional<Vec3d>& spin) {
  const Quatd &a = from_.turn, &b = to_.turn;
  const bool same_turn = a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;  // whose logarithm may be a rounding
  shift_ = to_.center - from_.center;
  spin_ = spin ? *spin : same_turn ? Vec3d{} : rotation_log(normalized(to_.turn * conj(from_.turn)));
  if (symmetry_ == Symmetry::none) swing_ = spin_;
  else if (symmetry_ == Symmetry::ball) swing_ = {};
  else swing_ = rotation_log(rotation_between(director3(from_.turn), director3(to_.turn)));
  if (norm(swing_) < 1e-14) swing_ = {};
  moving_ = norm2(shift_) > 0 || norm2(spin_) > 0;
}

Pose RigidObstacle::of_material(double share) const {
  Pose p = at(share);
  if (symmetry_ == Symmetry::none) return p;
  const Quatd turn = rotation_exp(share * spin_) * from_.turn;
  p.turn = symmetry_ == Symmetry::ball ? turn : normalized(rotation_between(director3(turn), director3(p.turn)) * turn);
  return p;
}

void RigidObstacle::place_points(const std::vector<Vec3d>& rest, double share, std::vector<Vec3d>& points) const {
  const Pose p = of_material(share);
  const Quatd turn = p.turn * conj(rest_.turn);
  points.resize(rest.size());
  for (std::size_t i = 0; i < rest.size(); ++i) points[i] = p.center + rotate(turn, rest[i] - rest_.center);
}

void RigidObstacle::save_place(double share, std::vector<double>& place) const {
  const Pose p = of_material(share);
  place.insert(place.end(), {p.center.x, p.center.y, p.center.z, p.turn.x, p.turn.y, p.turn.z, p.turn.w});
}

void RigidObstacle::start_from(std::span<const double> p) {
  from_ = {{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
  settle({});
}

Pose RigidObstacle::at(double share) const {
  if (!moving_) return from_;
  const Pose& near = share < 1 ? from_ : to_;
  return {share < 1 ? from_.center + share * shift_ : to_.center,
          norm2(swing_) > 0 && share < 1 ? normalized(rotation_exp(share * swing_) * from_.turn) : near.turn};
}

void RigidObstacle::features_near(const contact::Box& box, std::vector<Index>& features) const {
  const Pose pose = at(0);
  for (Index f = 0; f < feature_count(); ++f)
    if (comes_near([&](const Vec3d& x) { return field(f, x); }, pose.center, pose.turn, box, reach(f, 0, 1),
                   smallest_at_corners()))
      features.push_back(f);
}

contact::ObstaclePoint RigidObstacle::nearest(Index feature, const Vec3d& a, const Vec3d& b, double share, double regular) const {
  const Pose pose = at(share);
  return nearest_in_pose([&](const Vec3d& x) { return field(feature, x); }, pose.center, pose.turn, a, b, regular);
}

bool RigidObstacle::tell_plain(PlainShape& shape) const {
  if (moving_ || !tell_form(shape)) return false;
  shape.center = from_.center, shape.turn = from_.turn;
  shape.smallest_at_corners = smallest_at_corners();
  return true;
}

double RigidObstacle::reach(Index, double from, double to) const {
  const double turn = norm(swing_);
  return std::abs(to - from) * (norm(shift_) + (turn > 0 ? turn * extent() : 0));
}

double RigidObstacle::support(Index, const Vec3d& n, double share) const {
  const Pose pose = at(share);
  return dot(n, pose.center) + support_of(rotate(conj(pose.turn), n));
}

double RigidObstacle::bend(Index) const {
  const double turn2 = norm2(swing_);
  return turn2 > 0 ? turn2 * extent() : 0;
}

Vec3d RigidObstacle::moved(Index, const Vec3d& point, double share) const {
  const Vec3d now = center(share), arm = point - now;
  return (now - from_.center) + (arm - rotate(conj(rotation_exp(share * spin_)), arm));
}

}  // namespace osier
