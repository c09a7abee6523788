// A joint as a Gauss-Newton iteration sees it: the exact gradient, and three springs along axes of their own.
//
// The springs are J'KJ with J = dr/dw at the relative rotation at hand. Along the axes halfway between the two frames
//
//   (J'KJ)_ij = (h e_i h/2).(K h e_j h/2),   h h = r
//
// which is K/4 but for terms of second order in the angle of the joint. These terms matter where the angle is large and one
// stiffness is much smaller than another: a flat bar that is welded on at a right angle is several times stiffer about its soft
// axis than K/4 says. Corrections that are several times too long make energy out of nothing; then the springs are those of the
// eigenvectors of J'KJ.
#pragma once

#include "energies/joint_spring.hpp"
#include "linalg/link_algebra.hpp"
#include "math/eigen3.hpp"

namespace osier::systems {

using osier::JointSpring;

struct JointModel {
  Vec3d gradient;  ///< with respect to the turn of the second frame, world axes; the gradient for the first frame is its negative
  Mat3<double> axes;
  Vec3d compliance;
  bool isotropic;
};

/// An estimate of the ratio, less 1, of the softest stiffness of J'KJ to that of K/4; h as above.
OSIER_FN double angle_stiffening(const Vec3d& k, const Quatd& h) {
  const double least = smaller(smaller(k.x, k.y), k.z), most = larger(larger(k.x, k.y), k.z);
  const double sine2 = norm2(imag(h));
  return (least > 0 ? most / least : 1e20) * sine2 * sine2;
}
constexpr double kAngleStiffening = 0.02;  ///< for smaller values springs along the halfway axes are used

OSIER_FN JointModel joint_model(const JointSpring& j, const Quatd& qa, const Quatd& qb) {
  const Quatd r = conj(qa) * qb;
  JointModel model;
  Vec3d stiff = j.k;
  if (j.damped()) stiff += times(j.k, j.alpha);
  model.gradient = rotate(qa, moment(j, r));
  model.isotropic = j.isotropic();
  model.axes = identity3(1.0);
  if (!model.isotropic) {
    const Quatd half = half_rotation(r);
    if (angle_stiffening(stiff, half) < kAngleStiffening) {
      model.axes = rotation_matrix(normalized(qa * half));
    } else {
      const Eigen3<double> own = eigen3(gauss_newton(j, r));
      model.axes = rotation_matrix(qa) * own.vector;
      stiff = 4.0 * own.value;
    }
  }
  const double least = 1e-13 * larger(larger(stiff.x, stiff.y), stiff.z);
  model.compliance.x = stiff.x > least ? 4 / stiff.x : kLoose<double>;
  model.compliance.y = stiff.y > least ? 4 / stiff.y : kLoose<double>;
  model.compliance.z = stiff.z > least ? 4 / stiff.z : kLoose<double>;
  return model;
}

/// The joint model of an elastic spring and a viscous one.
OSIER_FN double joint_energy(const JointSpring& j, const Quatd& qa, const Quatd& qb) {
  const Quatd r = conj(qa) * qb;
  return elastic_energy(j, r) + viscous_energy(j, r);
}

}  // namespace osier::systems
