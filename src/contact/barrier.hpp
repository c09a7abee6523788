// The contact barrier and its friction, as functions of one number each.
//
//   E(s) = -k (s - 1)^2 ln s for s < 1, otherwise 0                                     [SCR Eq. 30]
//   s    = (D - core)/range                                                             [-]
//   f    = -dE/dD = (k/range) phi(s),   phi = 2 (s - 1) ln s + (s - 1)^2/s
//   E''  = (k/range^2) (-2 ln s - 4 (s - 1)/s + (s - 1)^2/s^2)
//
//   D      distance of two centrelines, or of one and a surface                         [m]
//   core   the distance that is never reached; range: the force begins at core + range  [m]
//   k      stiffness of the contact                                                     [J]
//
// E is twice continuously differentiable at s = 1. Below kLeast the barrier goes on as its quadratic expansion, so that a
// position that should not be there has a large force and not an infinite one; the guard keeps steps away from it.
//
// Friction is an anchored spring with a Coulomb limit F = mu f:
//
//   U(z) = K |z|^2/2 where K |z| <= F, otherwise F (|z| - F/(2 K)),   K = F/slip
//
//   z      displacement of the contact across its normal since it was anchored          [m]
//   slip   the displacement at which it begins to slide                                 [m]
//
// At rest it is elastic and does not creep. In sliding its stiffness along the slip is 0 and across it F/|z|: the exact second
// derivative, without which a Newton iteration that starts at rest would take many steps to find out that the contact slides.
#pragma once

#include <cmath>

#include "exec/unroll.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

/// phi(1/2): resting contacts are given the stiffness that holds them at s = 1/2.
constexpr double kPhiAtHalf = 1.1931471805599453;

struct Barrier {
  double energy = 0;     ///< [J]
  double force = 0;      ///< f [N]
  double stiffness = 0;  ///< E'' [N/m]
};

constexpr double kLeast = 1e-5;

OSIER_CALL inline Barrier barrier(double s, double range, double k) {
  if (!(s < 1)) return {};
  const double c = s < kLeast ? kLeast : s, m = c - 1, l = std::log(c);
  Barrier b{-k * m * m * l, k / range * (2 * m * l + m * m / c), k / (range * range) * (-2 * l - 4 * m / c + m * m / (c * c))};
  if (s < kLeast) {
    const double below = (kLeast - s) * range;
    b.energy += below * (b.force + 0.5 * b.stiffness * below);
    b.force += b.stiffness * below;
  }
  return b;
}

/// The energy alone.
OSIER_CALL inline double barrier_energy(double s, double range, double k) {
  if (!(s < 1)) return 0;
  if (s < kLeast) return barrier(s, range, k).energy;
  return -k * (s - 1) * (s - 1) * std::log(s);
}

/// Friction at a displacement z: the force is -across z; the stiffness is `across` at right angles to z and `along` in its
/// direction.
struct Friction {
  double energy = 0, across = 0, along = 0;
};

OSIER_FN Friction friction(double limit, double slip, double size) {
  if (!(limit > 0)) return {};
  if (size <= slip) return {0.5 * limit / slip * size * size, limit / slip, limit / slip};
  return {limit * (size - 0.5 * slip), limit / size, 0};
}

}  // namespace osier::contact
