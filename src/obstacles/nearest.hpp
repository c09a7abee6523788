// The place of a segment that is nearest to a convex feature: the distance from it is a convex function along the segment, so
// that its slope has one root. Newton's method with a bracket: where the slope bends, at the borders of faces, edges and corners,
// its steps alone can go to and fro for ever between two sides of the root.
#pragma once

#include <cmath>

#include "contact/obstacle.hpp"
#include "exec/unroll.hpp"
#include "math/mat3.hpp"
#include "math/quat.hpp"

namespace osier {

/// The distance from a feature at a point, with its first and second derivative.
struct DistanceField {
  double distance = 0;
  Vec3d normal;
  Mat3<double> curvature;
};

/// `field(x)` gives a DistanceField.
template <class Field>
OSIER_CALL contact::ObstaclePoint nearest_on_segment(const Field& field, const Vec3d& a, const Vec3d& b, double regular) {
  const Vec3d e = b - a;
  const double length = norm(e);
  contact::ObstaclePoint out;
  DistanceField at;
  const auto finish = [&](double s, bool inside) {
    const Vec3d x = a + s * e;
    out.along = s;
    out.distance = at.distance + 0.5 * regular * (s - 0.5) * (s - 0.5);
    out.normal = at.normal;
    out.point = x - at.distance * at.normal;
    out.curvature = at.curvature;
    out.along_stiffness = inside ? dot(e, at.curvature * e) + regular : 0;
    return out;
  };
  if (!(length > 0)) {
    at = field(a);
    return finish(0.5, false);
  }
  // Without a preference for the middle, a segment along a flat face would be nearest nowhere in particular.
  const double k = regular > 0 ? regular : 1e-9 * length;
  const auto slope = [&](double s) {
    at = field(a + s * e);
    return dot(at.normal, e) + k * (s - 0.5);
  };
  if (slope(0) >= 0) return finish(0, false);
  if (slope(1) <= 0) return finish(1, false);
  double low = 0, high = 1, s = 0.5, before = 1;
  for (int i = 0; i < 200; ++i) {
    const double g = slope(s);
    if (g == 0) break;
    (g < 0 ? low : high) = s;
    const double stiffness = dot(e, at.curvature * e) + k;
    double next = s - g / stiffness;
    if (!(next > low && next < high) || std::abs(next - s) > 0.5 * before) next = 0.5 * (low + high);
    const double change = std::abs(next - s);
    before = change;
    s = next;
    if (change <= 1e-15 || high - low <= 1e-15) break;
  }
  at = field(a + s * e);
  return finish(s, true);
}

/// The same for a feature in a pose.
template <class Field>
OSIER_CALL contact::ObstaclePoint nearest_in_pose(const Field& field, const Vec3d& center, const Quatd& turn, const Vec3d& a,
                                                  const Vec3d& b, double regular) {
  const Quatd back = conj(turn);
  contact::ObstaclePoint p = nearest_on_segment(field, rotate(back, a - center), rotate(back, b - center), regular);
  p.normal = rotate(turn, p.normal);
  p.point = center + rotate(turn, p.point);
  const Mat3<double> r = rotation_matrix(turn);
  p.curvature = r * p.curvature * transposed(r);
  return p;
}

/// Whether the surface of a feature may come into a box when no point of it moves further than `room`. `corners`: the distance is
/// linear or concave, so that in a box it is smallest at a corner.
template <class Field>
OSIER_CALL bool comes_near(const Field& field, const Vec3d& center, const Quatd& turn, const contact::Box& box, double room,
                           bool corners) {
  const Quatd back = conj(turn);
  const auto distance = [&](const Vec3d& x) { return field(rotate(back, x - center)).distance; };
  const Vec3d half = 0.5 * (box.high - box.low), middle = box.low + half;
  if (distance(middle) > norm(half) + room) return false;
  if (!corners) return true;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 8; ++i)
    least = smaller(least,
                    distance({i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y, i & 4 ? box.high.z : box.low.z}));
  return !(least > room);
}

}  // namespace osier
