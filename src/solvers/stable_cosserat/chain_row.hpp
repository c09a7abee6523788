// One row of a chain as sweeps see it, vertex i, segment i and the joint between segments i - 1 and i, for a number or a pack:
// what belongs to the start of a step, and the update of the vertex. The rows of a chain lie in the cache of a processor
// (chain_sweep.hpp) or in the registers of a graphics card (strand_sweep.hpp).
#pragma once

#include "energies/kelvin_voigt.hpp"
#include "solvers/stable_cosserat/sweep_laws.hpp"

namespace osier::stable_cosserat {

/// One row of all lanes: vertex i, segment i and the joint between segments i - 1 and i.
template <class P, class Law>
struct ChainRow {
  Vec3<P> u, rhs;  ///< rhs: m v_t/h + f
  P vertex;        ///< number for Law::Vertex: m/h^2 + c/h
  Quat<P> q;
  Vec3<P> edge;  ///< edge at u = 0
  typename Law::Spring spring;
  typename Law::Joint joint;
};
/// In closed form the edge is part of v, and its share of the force at u = 0 is part of rhs.
template <class P>
struct ChainRow<P, ClosedFormLaw<P>> {
  Vec3<P> u, rhs;
  P vertex;  ///< 1/H
  Quat<P> q;
  typename ClosedFormLaw<P>::Spring spring;
  typename ClosedFormLaw<P>::Joint joint;
  Vec3<P> v0;       ///< v of the local problem at u = 0
  P k_over_length;  ///< k/l
};
/// Additional numbers of a row with damping.
template <class P>
struct ChainDamping {
  Vec3<P> axis;  ///< eta in closed form, otherwise the rest vector
  P bound2;      ///< bound of c^2 below which elastic and viscous poles of the joint may differ
};

/// The segment of a row at the start of a step: `edge` is that of u = 0, alpha the Kelvin-Voigt time over the step. Its force is
/// so far that of the edge alone. Returns eta.
template <bool kDamped, class P>
OSIER_FN Vec3<P> start_segment(ChainRow<P, ClosedFormLaw<P>>& r, const Vec3<P>& edge, P inverse_length, P k_stretch,
                               [[maybe_unused]] P alpha) {
  const Vec3<P> p0 = inverse_length * edge;
  P stiffening(1);
  Vec3<P> eta{P(0), P(0), P(1)};
  r.k_over_length = k_stretch * inverse_length;
  r.v0 = stretch_shear::local_v(k_stretch, p0);
  if constexpr (kDamped) {
    stiffening = P(1) + alpha;
    const Vec3<P> strain_prev = rotate(conj(r.q), p0 - director3(r.q));
    eta = stretch_shear::generalised_axis(alpha, strain_prev);
  }
  r.spring.stiffness = stiffening * r.k_over_length * inverse_length;
  r.spring.force = edge_force(r.k_over_length, stiffening, p0);
  return eta;
}

/// Completes a row by the row before, whose frame is that of the start of the step: the Hessian of the vertex, the constant part
/// of the springs' forces on it, and the joint with damping folded in (`viscous`: its Kelvin-Voigt time over the step). Returns
/// the bound of ChainDamping.
template <bool kDamped, class P>
OSIER_FN P complete_row(ChainRow<P, ClosedFormLaw<P>>& r, const typename ClosedFormLaw<P>::Spring& spring_before,
                        [[maybe_unused]] const Quat<P>& q_before, [[maybe_unused]] P viscous) {
  r.vertex = inverse(r.vertex + spring_before.stiffness + r.spring.stiffness);
  r.rhs += spring_before.force - r.spring.force;
  P bound2(-1);
  if constexpr (kDamped) {
    const Quat<P> elastic = r.joint.target;
    const P stiffness = viscous * root(norm2(elastic));
    P margin2;
    r.joint.target = kelvin_voigt::fold_joint(elastic, stiffness, conj(q_before) * r.q, margin2);
    bound2 = margin2 * norm2(r.joint.target);
  }
  return bound2;
}

/// The force of a segment by its present frame; that of its edge is part of the rows' rhs.
template <bool kDamped, class P>
OSIER_FN void put_axis_force(ChainRow<P, ClosedFormLaw<P>>& r, const Vec3<P>& eta) {
  r.spring.force = image_force(r.k_over_length, axis_image_of<P, kDamped>(r.q, eta));
}

/// `stretch`: the displacement of the far vertex less that of the near one.
template <class P>
OSIER_FN ClosedFormSegment<P> segment_of(const ChainRow<P, ClosedFormLaw<P>>& r, const Vec3<P>& stretch, const Vec3<P>& eta) {
  return {r.v0 + stretch_shear::local_v(r.k_over_length, stretch), eta};
}

/// The displacement of the row's vertex after its update, between those of the rows before and after.
template <class Law, class P>
OSIER_FN Vec3<P> moved_vertex(const ChainRow<P, Law>& r, const typename Law::Spring& spring_before, const Vec3<P>& u_before,
                              const Vec3<P>& u_after) {
  typename Law::Vertex vertex(r.u, r.vertex, r.rhs);
  vertex.add(spring_before, P(1), u_before);
  vertex.add(r.spring, P(-1), u_after);
  return vertex.updated(r.vertex);
}

}  // namespace osier::stable_cosserat
