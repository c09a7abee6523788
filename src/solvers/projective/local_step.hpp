// The local step of the exact variant: gradients of single elements, in the axes of their frames, by the functions of energies/.
// With them for the paper's projections the fixed point of the sweeps is the minimum of the step's potential.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/strain_since_start.hpp"
#include "energies/stretch_shear.hpp"
#include "math/lane_access.hpp"

namespace osier::projective {

/// Whether strains are measured from the start of the step (energies/strain_since_start.hpp), which float needs: a rounding error
/// of a frame would be a strain of 1e-7, and move a stiff rod at rest.
template <class P>
inline constexpr bool kSinceStart = sizeof(ScalarOf<P>) == 4;

/// p - d3 of a segment, world axes. `start` is RodView::edge, `change` what has been added to p since, `q0` and q the frame at the
/// start of the step and now, `turn` = q conj(q0). Small differences are formed first, so that a rod at rest has none.
template <class P>
OSIER_FN Vec3<P> strain_in_world(const Vec3<P>& start, const Vec3<P>& change, const Quat<P>& q0, const Quat<P>& q,
                                 const Quat<P>* turn) {
  if constexpr (kSinceStart<P>) return (start + change) - strain_since_start::change_by(*turn, director3(q0));
  else return (start - director3(q)) + change;
}

/// A segment at hand: the strain in its spring, R'(p - d3) - offset, and its edge R'p, both in its own axes.
template <class P>
struct SegmentStrain {
  Vec3<P> strain, edge;
};
template <class P>
OSIER_FN SegmentStrain<P> segment_strain(const Vec3<P>& in_world, const Quat<P>& q, const Vec3<P>& offset) {
  const Vec3<P> elastic = rotate(conj(q), in_world);
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

/// K D of a joint, elastic and viscous, and its energy.
template <class P>
struct JointStress {
  Quat<P> r, weighted;
  P energy;
};
/// By its relative rotation r.
template <class P>
OSIER_FN JointStress<P> joint_stress(const Quat<P>& K, const Quat<P>& rest, bool damped, const Quat<P>& K_viscous,
                                     const Quat<P>& previous, const Quat<P>& r) {
  const Quat<P> D = bend_twist::difference(K, r, rest);
  JointStress<P> s{r, bend_twist::times(K, D), bend_twist::value4(K, D)};
  if (!damped) return s;
  const Quat<P> viscous = bend_twist::difference(K_viscous, r, previous);
  s.weighted += bend_twist::times(K_viscous, viscous);
  s.energy += bend_twist::value4(K_viscous, viscous);
  return s;
}

/// The frame after the turn d about its own axes.
template <class P>
OSIER_FN Quat<P> turned_by(const Quat<P>& q, const Vec3<P>& d) {
  const Quat<P> to = q * Quat<P>{P(0.5f) * d.x, P(0.5f) * d.y, P(0.5f) * d.z, P(1)};
  return inverse_sqrt(norm2(to)) * to;
}

}  // namespace osier::projective
