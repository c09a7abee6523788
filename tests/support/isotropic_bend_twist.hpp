// The paper's joint energy in closed form, k (1 - |c|): what energies/bend_twist.hpp must be when its stiffnesses are equal.
// (c, u) = r = bend_twist::deviation(qa, qb, q0).
#pragma once

#include "energies/bend_twist.hpp"

namespace osier::test::isotropic {

/// Written with |u|^2 = 1 - c^2 so that tiny angles do not drown in 1 - c.
inline double value(double k, const Quatd& r) { return k * norm2(imag(r)) / (1 + std::abs(r.w)); }

/// dE/dwb = (k/2) phi u and dE/dwa = -(k/2) phi u.
inline Vec3d gradient_wb(double k, const Quatd& r) { return (0.5 * k * bend_twist::pole(r.w)) * imag(r); }

/// d2E/dwa2 = d2E/dwb2 = (k/4) |c| I
inline Mat3<double> hessian_same(double k, const Quatd& r) { return identity3(0.25 * k * std::abs(r.w)); }

/// d2E/(dwa dwb) = (k/4) phi (-c I + [u]x)
inline Mat3<double> hessian_cross(double k, const Quatd& r) {
  const double f = 0.25 * k * bend_twist::pole(r.w);
  return identity3(-f * r.w) + skew(f * imag(r));
}

}  // namespace osier::test::isotropic
