// Hessian blocks of the incremental potential; included by potential.hpp.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "solvers/potential.hpp"

namespace osier {

/// `rest` is the strain-free R' p: e3, or e3 + Gamma_prev for damping.
template <class Sink>
void add_segment_hessian(const PerAxis& k, double l, const Vec3d& p, const Quatd& q, const Vec3d& rest, Index a, Index b,
                         Index frame, Sink&& sink) {
  const Mat3<double> C = rotated_diagonal(rotation_matrix(q), cast<double>(k));
  const Vec3d n = stretch_shear::section_force(cast<double>(k), stretch_shear::strain(p, q, rest), q);
  const Mat3<double> pp = (1 / (l * l)) * C;
  const Mat3<double> pw = (1 / l) * stretch_shear::hessian_pw(C, p, n);
  sink(a, a, pp), sink(b, b, pp);
  sink(a, b, -1.0 * pp), sink(b, a, -1.0 * pp);
  sink(b, frame, pw), sink(frame, b, transposed(pw));
  sink(a, frame, -1.0 * pw), sink(frame, a, -1.0 * transposed(pw));
  sink(frame, frame, stretch_shear::hessian_ww(C, p, n));
}

template <class Sink>
void add_joint_hessian(const Quatd& K, const Quatd& qa, const Quatd& qb, const Quatd& rest, Index a, Index b, Sink&& sink) {
  const Quatd r = conj(qa) * qb, D = bend_twist::difference(K, r, rest);
  const Mat3<double> R = rotation_matrix(qa);
  const Mat3<double> same = R * bend_twist::hessian_material(K, r, D) * transposed(R);
  const Mat3<double> cross_ab = -1.0 * same + skew(0.5 * rotate(qa, bend_twist::gradient_material(K, r, D)));
  sink(a, a, same), sink(b, b, same);
  sink(a, b, cross_ab), sink(b, a, transposed(cross_ab));
}

template <class Sink>
void IncrementalPotential::hessian(const std::vector<Vec3d>& u, const std::vector<Quatd>& q, Sink&& sink) const {
  const Model& m = *model_;
  const Index first_frame = m.vertex_count();
  for (Index v = 0; v < m.vertex_count(); ++v) sink(v, v, identity3(weight_[v]));
  for (Index s = 0; s < m.segment_count(); ++s) {
    sink(first_frame + s, first_frame + s, Mat3<double>{});  // keeps the diagonal in the pattern
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const double l = m.segment_rest_length[s];
    const Vec3d p = edge_over_length(u, s), axis{0, 0, 1};
    add_segment_hessian(m.segment_stiffness[s], l, p, q[s], axis, a, b, first_frame + s, sink);
    if (h_ > 0 && m.segment_tau[s].any())
      add_segment_hessian((1 / h_) * (m.segment_stiffness[s] * m.segment_tau[s]), l, p, q[s], axis + strain_prev_[s], a, b,
                          first_frame + s, sink);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    add_joint_hessian(bend_twist::stiffness4(cast<double>(m.joint_stiffness[j])), q[a], q[b], m.joint_rest_rotation[j],
                      first_frame + a, first_frame + b, sink);
    if (h_ > 0 && m.joint_tau[j].any())
      add_joint_hessian(viscous_stiffness(j), q[a], q[b], rotation_prev_[j], first_frame + a, first_frame + b, sink);
  }
  for (const DirectionTerm& t : directions_)
    sink(first_frame + t.frame, first_frame + t.frame, stretch_shear::hessian_ww(t.k, t.y, rotate(q[t.frame], t.a)));
}

}  // namespace osier
