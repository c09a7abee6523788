// A joint in one implicit Euler step: bending and twisting (bend_twist.hpp) with Kelvin-Voigt damping, which is the same energy
// with the relative rotation at the start of the step for its rest rotation.
//
//   E = 1/2 D.(K D) + 1/2 D_v.(K_v D_v),   D = r - phi q0,   D_v = r - psi r_t,   r = conj(qa) qb
//
//   K    four stiffnesses of the joint (bend_twist::stiffness4)       [N m]
//   K_v  the same times tau/h                                         [N m]
#pragma once

#include "energies/bend_twist.hpp"

namespace osier {

struct JointSpring {
  Vec3d k, alpha;        ///< 4 (EI1, EI2, GJ)/l and Kelvin-Voigt times over the step, 0 without damping
  Quatd rest, previous;  ///< conj(qa) qb at rest, and at the start of the step
  OSIER_FN bool damped() const { return alpha.x > 0 || alpha.y > 0 || alpha.z > 0; }
  OSIER_FN bool isotropic() const { return k.x == k.y && k.y == k.z && alpha.x == alpha.y && alpha.y == alpha.z; }
  OSIER_FN Quatd elastic() const { return bend_twist::stiffness4(k); }
  OSIER_FN Quatd viscous() const { return bend_twist::viscous4(k, alpha); }
};

OSIER_FN double elastic_energy(const JointSpring& j, const Quatd& r) {
  const Quatd K = j.elastic();
  return bend_twist::value4(K, bend_twist::difference(K, r, j.rest));
}
OSIER_FN double viscous_energy(const JointSpring& j, const Quatd& r) {
  if (!j.damped()) return 0;
  const Quatd K = j.viscous();
  return bend_twist::value4(K, bend_twist::difference(K, r, j.previous));
}

/// Gradient in the turn of the second frame, in the axes of the first; that in the turn of the first is its negative.
OSIER_FN Vec3d moment(const JointSpring& j, const Quatd& r) {
  const Vec3d elastic = bend_twist::moment(j.elastic(), r, j.rest);
  if (!j.damped()) return elastic;
  return elastic + bend_twist::moment(j.viscous(), r, j.previous);
}

/// Second derivative in the turn of either frame, in the axes of the first (bend_twist::hessian_material).
OSIER_FN Mat3<double> hessian(const JointSpring& j, const Quatd& r) {
  const Quatd K = j.elastic();
  const Mat3<double> elastic = bend_twist::hessian_material(K, r, bend_twist::difference(K, r, j.rest));
  if (!j.damped()) return elastic;
  const Quatd V = j.viscous();
  return elastic + bend_twist::hessian_material(V, r, bend_twist::difference(V, r, j.previous));
}

/// The part of it that is positive semidefinite by construction: J'(K + K_v) J with J = dr/dw. What is left out vanishes with the
/// strain. In the axes of the first frame.
OSIER_FN Mat3<double> gauss_newton(const JointSpring& j, const Quatd& r) {
  const Quatd K = j.elastic(), V = j.damped() ? j.viscous() : Quatd{0, 0, 0, 0}, none{0, 0, 0, 0};
  return bend_twist::hessian_material(Quatd{K.x + V.x, K.y + V.y, K.z + V.z, K.w + V.w}, r, none);
}

}  // namespace osier
