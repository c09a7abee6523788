// What one contact adds to gradient and Hessian, as functions of numbers (segment_gap.hpp has the geometry).
#pragma once

#include <array>
#include <cmath>

#include "contact/barrier.hpp"
#include "contact/obstacle.hpp"
#include "math/mat3.hpp"
#include "math/quat.hpp"

namespace osier::contact {

/// Neighbouring segments of two rods push obliquely: the parts of their forces along the rod cancel and must not add to the
/// Coulomb limit. The share that does count, for a segment of this direction.
OSIER_FN double share_across(const Vec3d& unit, const Vec3d& edge) {
  const double along = dot(unit, normalized(edge));
  return std::sqrt(larger(0.0, 1 - along * along));
}

/// An anchor that was remembered with another normal. The two sides of a neighbour may be the other way round.
OSIER_FN Vec3d turned_anchor(const Vec3d& anchor, const Vec3d& normal, const Vec3d& unit) {
  const double sign = dot(normal, unit) < 0 ? -1 : 1;
  return sign * rotate(rotation_between(sign * normal, unit), anchor);
}

OSIER_FN Vec3d across_normal(const Vec3d& z, const Vec3d& unit) { return z - dot(unit, z) * unit; }

/// What is remembered of a displacement: at most that at which sliding begins.
OSIER_FN Vec3d kept_anchor(const Vec3d& z, double slip) {
  const double size = norm(z);
  return size > slip ? (slip / size) * z : z;
}

/// Hessian of friction over the displacement of the contact.
OSIER_FN Mat3<double> friction_block(const Friction& f, const Vec3d& unit, const Vec3d& z) {
  const double size = norm(z);
  Mat3<double> block = f.across * (identity3(1.0) + -1.0 * outer(unit, unit));
  if (size > 0) block = block + ((f.along - f.across) / (size * size)) * outer(z, z);
  return block;
}

/// The curvature by the place along a segment, which follows the surface: - D_us D_us'/D_ss, of the energy f y y'.
OSIER_FN std::array<Vec3d, 4> sliding_on_surface(const std::array<double, 4>& weight, const ObstaclePoint& p, const Vec3d& edge) {
  const Vec3d bent = p.curvature * edge;
  const double l = 1 / std::sqrt(p.along_stiffness);
  return {l * (weight[0] * bent - p.normal), l * (weight[1] * bent + p.normal), Vec3d{}, Vec3d{}};
}

/// A positive block for vertex j that is large enough for all vertices of the contact to be moved at once:
/// |sum of w_j p_j|^2 <= (sum of |w_j|) (sum of |w_j| |p_j|^2).
OSIER_FN double majorised(const std::array<double, 4>& weight, std::size_t j) {
  double all = 0;
  for (std::size_t i = 0; i < 4; ++i) all += std::abs(weight[i]);
  return all * std::abs(weight[j]);
}

}  // namespace osier::contact
