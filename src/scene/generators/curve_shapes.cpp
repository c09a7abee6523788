#include "scene/generators/curve_shapes.hpp"

#include <numbers>

namespace osier {

double widening(double turn) {
  const double half = 0.5 * std::abs(turn);
  return half == 0 || half > 0.5 * std::numbers::pi ? 1 : half / std::sin(half);
}

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

/// Orthonormal axes of a rotation: `u` towards the first point, `v` a quarter turn later, `a` the axis.
struct TurningFrame {
  Vec3d u, v, a;
  TurningFrame(const Vec3d& axis, const Vec3d& start) : a(normalized(axis)) {
    u = normalized(start - dot(start, a) * a);
    v = cross(a, u);
  }
  Vec3d at(double angle) const { return std::cos(angle) * u + std::sin(angle) * v; }
};

double outward(CurveKeep keep, double turn) { return keep == CurveKeep::points ? 1 : widening(turn); }

void check_turning(const std::string& where, const char* axis_key, const Vec3d& axis, const Vec3d& start, Problems& problems) {
  if (norm2(axis) == 0) problems.add(where + "/" + axis_key, "is a zero vector", "give a direction");
  if (norm2(start) == 0) problems.add(where + "/start", "is a zero vector", "give a direction");
  // Below a microradian the projection is mostly rounding error.
  else if (norm(cross(normalized(axis), normalized(start))) < 1e-6 && norm2(axis) > 0)
    problems.add(where + "/start", std::string("is parallel to `") + axis_key + "`",
                 std::string("choose a direction across `") + axis_key + "`");
}

void check_radius(const std::string& where, double radius, Problems& problems) {
  if (!(radius > 0)) problems.add(where + "/radius", "the radius is not positive", "use a value above 0 m");
}

}  // namespace

void LineShape::prepare(const std::string&, Problems& problems) {
  if (norm2(to - from) == 0) problems.add(where + "/to", "equals `from`: the line has no length", "move one of the two");
}

std::vector<Vec3d> LineShape::sample(int segments) const {
  std::vector<Vec3d> points;
  // Written as a weighted mean so that both end points come out exactly.
  for (int i = 0; i <= segments; ++i) {
    const double s = static_cast<double>(i) / segments;
    points.push_back((1 - s) * from + s * to);
  }
  return points;
}

void ArcShape::prepare(const std::string&, Problems& problems) {
  check_turning(where, "normal", normal, start, problems);
  check_radius(where, radius, problems);
  if (angle == 0) problems.add(where + "/angle", "is zero: the arc has no length", "use another angle");
}

double ArcShape::length() const { return radius * std::abs(angle) * (kTwoPi / 360); }

std::vector<Vec3d> ArcShape::sample(int segments) const {
  const TurningFrame frame(normal, start);
  const double whole = angle * (kTwoPi / 360), r = radius * outward(keep, whole / segments);
  const Vec3d middle = center + (radius - r) * frame.u;  // so that the rod starts on the curve
  std::vector<Vec3d> points;
  for (int i = 0; i <= segments; ++i) points.push_back(middle + r * frame.at(whole * i / segments));
  return points;
}

void CircleShape::prepare(const std::string&, Problems& problems) {
  check_turning(where, "normal", normal, start, problems);
  check_radius(where, radius, problems);
}

double CircleShape::length() const { return kTwoPi * radius; }

std::vector<Vec3d> CircleShape::sample(int segments) const {
  const TurningFrame frame(normal, start);
  const double r = radius * outward(keep, kTwoPi / segments);
  std::vector<Vec3d> points;
  for (int i = 0; i < segments; ++i) points.push_back(center + r * frame.at(kTwoPi * i / segments));
  return points;
}

void HelixShape::prepare(const std::string&, Problems& problems) {
  check_turning(where, "axis", axis, start, problems);
  check_radius(where, radius, problems);
  if (!(turns > 0)) problems.add(where + "/turns", "the number of turns is not positive", "use a value above 0");
}

double HelixShape::length() const { return turns * std::hypot(kTwoPi * radius, pitch); }

std::vector<Vec3d> HelixShape::sample(int segments) const {
  const TurningFrame frame(axis, start);
  const double r = radius * outward(keep, kTwoPi * turns / segments);
  const Vec3d middle = center + (radius - r) * frame.u;  // so that the rod starts on the curve
  std::vector<Vec3d> points;
  for (int i = 0; i <= segments; ++i) {
    const double turn = turns * i / segments;  // speed along a helix is constant: equal turns are equal lengths
    points.push_back(middle + r * frame.at(kTwoPi * turn) + (pitch * turn) * frame.a);
  }
  return points;
}

}  // namespace osier
