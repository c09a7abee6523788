// Distance fields of simple bodies, in their own axes about their centre. The third axis is that of cylinders and capsules.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "obstacles/nearest.hpp"

namespace osier {

/// The same wall seen from the other side.
OSIER_FN DistanceField turned_inside_out(const DistanceField& f) { return {-f.distance, -1.0 * f.normal, -1.0 * f.curvature}; }

/// Above the plane through the centre.
OSIER_FN DistanceField plane_field(const Vec3d& x) { return {x.z, {0, 0, 1}, {}}; }

OSIER_FN DistanceField sphere_field(const Vec3d& x, double radius) {
  const double d = norm(x);
  if (!(d > 0)) return {-radius, {0, 0, 1}, {}};
  const Vec3d n = (1 / d) * x;
  return {d - radius, n, (1 / d) * (identity3(1.0) + -1.0 * outer(n, n))};
}

/// All points nearer than a radius to a line of half length `half`.
OSIER_FN DistanceField capsule_field(const Vec3d& x, double half, double radius) {
  const double along = std::clamp(x.z, -half, half);
  DistanceField f = sphere_field({x.x, x.y, x.z - along}, radius);
  if (std::abs(x.z) < half) {  // moving along the line changes nothing
    for (int i = 0; i < 3; ++i) f.curvature.m[i][2] = f.curvature.m[2][i] = 0;
    if (!(x.x * x.x + x.y * x.y > 0)) f.normal = {1, 0, 0};
  }
  return f;
}

/// The wall of an endless cylinder.
OSIER_FN DistanceField side_field(const Vec3d& x, double radius) {
  const double d = std::hypot(x.x, x.y);
  if (!(d > 0)) return {-radius, {1, 0, 0}, {}};
  const Vec3d n{x.x / d, x.y / d, 0}, t{-n.y, n.x, 0};
  return {d - radius, n, (1 / d) * outer(t, t)};
}

/// A cylinder with flat ends at +-half.
OSIER_FN DistanceField cylinder_field(const Vec3d& x, double half, double radius) {
  const DistanceField side = side_field(x, radius);
  const double above = std::abs(x.z) - half, sign = x.z < 0 ? -1 : 1;
  if (side.distance <= 0 && above <= 0) return side.distance > above ? side : DistanceField{above, {0, 0, sign}, {}};
  if (above <= 0) return side;
  if (side.distance <= 0) return {above, {0, 0, sign}, {}};
  const double d = std::hypot(side.distance, above);
  const double c = side.distance / d, s = above / d;
  const Vec3d n = c * side.normal + Vec3d{0, 0, s * sign}, m = -s * side.normal + Vec3d{0, 0, c * sign};
  return {d, n, (1 / d) * outer(m, m) + c * side.curvature};
}

OSIER_FN DistanceField box_field(const Vec3d& x, const Vec3d& half) {
  const std::array<double, 3> p{x.x, x.y, x.z}, h{half.x, half.y, half.z};
  std::array<double, 3> q{}, sign{};
  double outside2 = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    sign[i] = p[i] < 0 ? -1 : 1;
    q[i] = std::abs(p[i]) - h[i];
    if (q[i] > 0) outside2 += q[i] * q[i];
    if (q[i] > q[largest]) largest = i;
  }
  DistanceField f;
  std::array<double, 3> n{};
  if (!(outside2 > 0)) {
    n[largest] = sign[largest];
    f.distance = q[largest];
    f.normal = {n[0], n[1], n[2]};
    return f;
  }
  f.distance = std::sqrt(outside2);
  for (std::size_t i = 0; i < 3; ++i) n[i] = q[i] > 0 ? sign[i] * q[i] / f.distance : 0;
  f.normal = {n[0], n[1], n[2]};
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!(q[k] > 0)) continue;
    for (int j = 0; j < 3; ++j) f.curvature.m[i][j] = ((i == j ? 1 : 0) - n[k] * n[static_cast<std::size_t>(j)]) / f.distance;
  }
  return f;
}

}  // namespace osier
