// A joint as a Gauss-Newton iteration sees it: the exact gradient, and springs along the axes halfway between its frames.
#pragma once

#include "energies/bend_twist.hpp"
#include "math/quat.hpp"
#include "solvers/systems/tree/link_algebra.hpp"

namespace osier::systems {

struct JointSpring {
  Vec3d k, alpha;        ///< 4 (EI1, EI2, GJ)/l and Kelvin-Voigt times over the step, 0 without damping
  Quatd rest, previous;  ///< conj(qa) qb at rest, and at the start of the step
  OSIER_FN bool damped() const { return alpha.x > 0 || alpha.y > 0 || alpha.z > 0; }
  OSIER_FN bool isotropic() const { return k.x == k.y && k.y == k.z && alpha.x == alpha.y && alpha.y == alpha.z; }
};

struct JointModel {
  Vec3d gradient;  ///< in the turn of the second frame, world axes; in that of the first its negative
  Mat3<double> axes;
  Vec3d compliance;
  bool isotropic;
};

OSIER_FN JointModel joint_model(const JointSpring& j, const Quatd& qa, const Quatd& qb) {
  const Quatd r = conj(qa) * qb;
  JointModel model;
  Vec3d gradient = bend_twist::moment(bend_twist::stiffness4(j.k), r, j.rest), stiff = j.k;
  if (j.damped()) {
    gradient += bend_twist::moment(bend_twist::viscous4(j.k, j.alpha), r, j.previous);
    stiff += times(j.k, j.alpha);
  }
  model.gradient = rotate(qa, gradient);
  model.isotropic = j.isotropic();
  model.axes = model.isotropic ? identity3(1.0) : rotation_matrix(normalized(qa * half_rotation(r)));
  model.compliance.x = stiff.x > 0 ? 4 / stiff.x : kLoose<double>;
  model.compliance.y = stiff.y > 0 ? 4 / stiff.y : kLoose<double>;
  model.compliance.z = stiff.z > 0 ? 4 / stiff.z : kLoose<double>;
  return model;
}

/// Elastic and viscous.
OSIER_FN double joint_energy(const JointSpring& j, const Quatd& qa, const Quatd& qb) {
  const Quatd r = conj(qa) * qb;
  const Quatd K = bend_twist::stiffness4(j.k);
  const double elastic = bend_twist::value4(K, bend_twist::difference(K, r, j.rest));
  if (!j.damped()) return elastic;
  const Quatd viscous = bend_twist::viscous4(j.k, j.alpha);
  return elastic + bend_twist::value4(viscous, bend_twist::difference(viscous, r, j.previous));
}

}  // namespace osier::systems
