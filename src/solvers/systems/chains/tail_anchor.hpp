// An anchor beyond the last segment of a chain: its joint acts on that segment's frame alone.
#pragma once

#include "linalg/small_ldl.hpp"
#include "solvers/joint_model.hpp"

namespace osier::systems {

struct TailAnchor {
  JointSpring joint;  ///< from the last segment to the anchor; without stiffness where there is none
  Quatd frame;        ///< of the anchor
  OSIER_FN bool is_there() const { return joint.k.x > 0; }
};

/// What it adds to the stiffness (lower triangle, row by row) against turns of the last frame, to the couple, and to the energy.
struct TailAnchorTerms {
  double stiffness[6];
  Vec3d couple;
  double energy;
};
OSIER_FN TailAnchorTerms terms_of(const TailAnchor& tail, const Quatd& last_frame) {
  const JointModel joint = joint_model(tail.joint, last_frame, tail.frame);
  const Vec3d& c = joint.compliance;
  const Mat3<double> turning = rotated_diagonal(joint.axes, Vec3d{1 / c.x, 1 / c.y, 1 / c.z});
  TailAnchorTerms terms;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b <= a; ++b) terms.stiffness[triangle(a, b)] = turning.m[a][b];
  terms.couple = joint.gradient;
  terms.energy = joint_energy(tail.joint, last_frame, tail.frame);
  return terms;
}

}  // namespace osier::systems
