#include "scene/generators/knot_shape.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "math/quat.hpp"

namespace osier {

namespace {

constexpr int kPieces = 1500;  ///< of the fine polyline that is sampled

/// The middle of an overhand knot: Shastri's polynomial trefoil (t^3 - 3t, t^4 - 4t^2, t^5 - 10t) up to where its ends are free
/// of each other, flattened, and moved to its middle. Its loop is one unit wide.
Vec3d shastri(double t) {
  const double t2 = t * t;
  return {0.25 * (t2 * t - 3 * t), 0.25 * (t2 * t2 - 4 * t2 + 2), 0.09 * (t2 * t2 * t - 10 * t)};
}
constexpr double kEnd = 2;         ///< of its parameter
constexpr double kShortest = 9.2;  ///< length of an overhand knot over its size: its middle and two arcs into the ends
constexpr double kLengthByDefault = 10;

Vec3d shastri_tangent(double t) {
  const double t2 = t * t;
  return {0.25 * (3 * t2 - 3), 0.25 * (4 * t2 * t - 8 * t), 0.09 * (5 * t2 * t2 - 10)};
}

/// The end of an overhand knot: from p in direction d (unit) an arc that turns into the direction of x, then straight on.
void add_tail(std::vector<Vec3d>& points, Vec3d p, const Vec3d& d, const Vec3d& along, double length) {
  constexpr double kRadius = 0.5;
  const Vec3d axis = normalized(cross(d, along));
  const double angle = std::acos(std::clamp(dot(d, along), -1.0, 1.0)), arc = kRadius * angle;
  const int pieces = 60;
  for (int i = 0; i < pieces; ++i) {
    const Vec3d heading = rotate(rotation_exp((angle * (i + 0.5) / pieces) * axis), d);
    p += (arc / pieces) * heading;
    points.push_back(p);
  }
  points.push_back(p + std::max(length - arc, 1e-6) * along);
}

}  // namespace

/// In units of `size`; x along, y up.
std::vector<Vec3d> KnotShape::unit_curve() const {
  std::vector<Vec3d> points;
  if (knot != KnotKind::overhand) {
    for (int i = 0; i < kPieces; ++i) {
      const double t = 2 * std::numbers::pi * i / kPieces;
      if (knot == KnotKind::trefoil) {
        const double r = (2 + std::cos(3 * t)) / 6;
        points.push_back({r * std::cos(2 * t), r * std::sin(2 * t), -std::sin(3 * t) / 6});
      } else {
        const double r = (2 + std::cos(2 * t)) / 6;
        points.push_back({r * std::cos(3 * t), r * std::sin(3 * t), std::sin(4 * t) / 6});
      }
    }
    return points;
  }
  std::vector<Vec3d> middle;
  double inner = 0;
  for (int i = 0; i <= kPieces; ++i) {
    middle.push_back(shastri(kEnd * (2.0 * i / kPieces - 1)));
    if (i > 0) inner += norm(middle[static_cast<std::size_t>(i)] - middle[static_cast<std::size_t>(i) - 1]);
  }
  const double tail = 0.5 * (length_given.value_or(kLengthByDefault * size) / size - inner);
  std::vector<Vec3d> first;
  add_tail(first, middle.front(), -normalized(shastri_tangent(-kEnd)), {-1, 0, 0}, tail);
  points.assign(first.rbegin(), first.rend());
  points.insert(points.end(), middle.begin(), middle.end());
  add_tail(points, middle.back(), normalized(shastri_tangent(kEnd)), {1, 0, 0}, tail);
  return points;
}

std::vector<Vec3d> KnotShape::curve() const {
  const Vec3d ex = normalized(along), ey = normalized(up - dot(up, ex) * ex), ez = cross(ex, ey);
  std::vector<Vec3d> points = unit_curve();
  for (Vec3d& p : points) p = center + size * (p.x * ex + p.y * ey + p.z * ez);
  return points;
}

void KnotShape::prepare(const std::string&, Problems& problems) {
  if (norm2(along) == 0) problems.add(where + "/along", "is a zero vector", "give a direction");
  else if (norm(cross(normalized(along), up)) <= 1e-9 * norm(up))
    problems.add(where + "/up", "is zero or parallel to `along`", "choose another direction");
  if (length_given && closed()) problems.add(where + "/length", "has no effect on a closed knot", "leave it out, or use `size`");
  if (length_given && !closed() && *length_given < kShortest * size)
    problems.add(where + "/length", fmt::format("is too short for a knot of size {:.3g} m", size),
                 fmt::format("use at least {:.3g} m", kShortest * size));
}

double KnotShape::length() const { return polyline_length(curve(), closed()); }
std::vector<Vec3d> KnotShape::sample(int segments) const { return resample(curve(), closed(), segments); }

}  // namespace osier
