// The local step of the exact variant: gradients of single elements, in the axes of their frames, by the functions of energies/.
// With them for the paper's projections the fixed point of the sweeps is the minimum of the step's potential.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "math/lane_access.hpp"

namespace osier::projective {

/// A segment at hand: the strain in its spring, R'(p - d3) - offset, and its edge R'p, both in its own axes.
template <class P>
struct SegmentStrain {
  Vec3<P> strain, edge;
};
/// p = start + change, the edge at the start of the step and what the step has added. Small differences are formed first, in the
/// world, so that a rod at rest has none and float keeps the digits of the step (stretch_shear::strain, without branch).
template <class P>
OSIER_FN SegmentStrain<P> segment_strain(const Vec3<P>& start, const Vec3<P>& change, const Quat<P>& q, const Vec3<P>& offset) {
  const Vec3<P> elastic = rotate(conj(q), (start - director3(q)) + change);
  return {elastic - offset, elastic + Vec3<P>{P(0), P(0), P(1)}};
}

/// dE/dw of a joint for its two frames, each in its own axes.
template <class P>
struct JointGradient {
  Vec3<P> first, second;
};
/// `weighted` = K D, elastic and viscous; r = conj(qa) qb. The second is the first seen from b: conj(r) stands for r.
template <class P>
OSIER_FN JointGradient<P> joint_gradient(const Quat<P>& weighted, const Quat<P>& r) {
  return {-bend_twist::gradient_of_weighted(weighted, r), -bend_twist::gradient_of_weighted(conj(weighted), conj(r))};
}

/// The frame after the turn d about its own axes.
template <class P>
OSIER_FN Quat<P> turned_by(const Quat<P>& q, const Vec3<P>& d) {
  const Quat<P> to = q * Quat<P>{P(0.5f) * d.x, P(0.5f) * d.y, P(0.5f) * d.z, P(1)};
  return inverse_sqrt(norm2(to)) * to;
}

}  // namespace osier::projective
