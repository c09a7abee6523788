// Hessian blocks of the incremental potential; included by potential.hpp.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "solvers/potential.hpp"

namespace osier {

/// Of a segment, over d = (x_b - x_a) and the turn w of its frame: 1/2 d.xx d + d.xw w + 1/2 w.ww w.
struct SegmentHessian {
  Mat3<double> xx, xw, ww;
  void operator+=(const SegmentHessian& h) { xx = xx + h.xx, xw = xw + h.xw, ww = ww + h.ww; }
};

/// Of a joint: `same` for either frame with itself, -same + [gradient]x/2 for the first with the second.
struct JointHessian {
  Mat3<double> same;
  Vec3d gradient;  ///< in the turn of the second frame
  void operator+=(const JointHessian& h) { same = same + h.same, gradient += h.gradient; }
  Mat3<double> first_second() const { return -1.0 * same + skew(0.5 * gradient); }
};

/// `rest` is the strain-free R' p: e3, or e3 + Gamma_prev for damping.
inline SegmentHessian segment_hessian(const PerAxis& k, double l, const Vec3d& p, const Quatd& q, const Vec3d& rest) {
  const Mat3<double> C = rotated_diagonal(rotation_matrix(q), cast<double>(k));
  const Vec3d n = stretch_shear::section_force(cast<double>(k), stretch_shear::strain(p, q, rest), q);
  return {(1 / (l * l)) * C, (1 / l) * stretch_shear::hessian_pw(C, p, n), stretch_shear::hessian_ww(C, p, n)};
}

inline JointHessian joint_hessian(const Quatd& K, const Quatd& qa, const Quatd& qb, const Quatd& rest) {
  const Quatd r = conj(qa) * qb, D = bend_twist::difference(K, r, rest);
  const Mat3<double> R = rotation_matrix(qa);
  return {R * bend_twist::hessian_material(K, r, D) * transposed(R), rotate(qa, bend_twist::gradient_material(K, r, D))};
}

inline SegmentHessian IncrementalPotential::segment_hessian(const std::vector<Vec3d>& u, const std::vector<Quatd>& q,
                                                            Index s) const {
  const Model& m = *model_;
  const double l = m.segment_rest_length[s];
  const Vec3d p = edge_over_length(u, s), axis{0, 0, 1};
  SegmentHessian h = osier::segment_hessian(m.segment_stiffness[s], l, p, q[s], axis);
  if (h_ > 0 && m.segment_tau[s].any())
    h += osier::segment_hessian((1 / h_) * (m.segment_stiffness[s] * m.segment_tau[s]), l, p, q[s], axis + strain_prev_[s]);
  return h;
}

inline JointHessian IncrementalPotential::joint_hessian(const std::vector<Quatd>& q, Index j) const {
  const Model& m = *model_;
  const auto [a, b] = m.joint_frames[j];
  JointHessian h =
      osier::joint_hessian(bend_twist::stiffness4(cast<double>(m.joint_stiffness[j])), q[a], q[b], m.joint_rest_rotation[j]);
  if (h_ > 0 && m.joint_tau[j].any()) h += osier::joint_hessian(viscous_stiffness(j), q[a], q[b], rotation_prev_[j]);
  return h;
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
    const Index frame = first_frame + s;
    const SegmentHessian h = segment_hessian(u, q, s);
    sink(a, a, h.xx), sink(b, b, h.xx);
    sink(a, b, -1.0 * h.xx), sink(b, a, -1.0 * h.xx);
    sink(b, frame, h.xw), sink(frame, b, transposed(h.xw));
    sink(a, frame, -1.0 * h.xw), sink(frame, a, -1.0 * transposed(h.xw));
    sink(frame, frame, h.ww);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const Index a = first_frame + m.joint_frames[j][0], b = first_frame + m.joint_frames[j][1];
    const JointHessian h = joint_hessian(q, j);
    const Mat3<double> cross_ab = h.first_second();
    sink(a, a, h.same), sink(b, b, h.same);
    sink(a, b, cross_ab), sink(b, a, transposed(cross_ab));
  }
  for (const DirectionTerm& t : directions_)
    sink(first_frame + t.frame, first_frame + t.frame, stretch_shear::hessian_ww(t.k, t.y, rotate(q[t.frame], t.a)));
}

}  // namespace osier
