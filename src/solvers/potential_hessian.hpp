// Hessian blocks of the incremental potential; included by potential.hpp.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "solvers/potential.hpp"

namespace osier {

template <class Sink>
void add_segment_hessian(double k, double l, const Vec3d& p, const Vec3d& d, Index a, Index b, Index frame, Sink&& sink) {
  const Mat3<double> pp = identity3(k / (l * l));
  const Mat3<double> pw = (1 / l) * stretch_shear::hessian_pw(k, d);
  sink(a, a, pp), sink(b, b, pp);
  sink(a, b, -1.0 * pp), sink(b, a, -1.0 * pp);
  sink(b, frame, pw), sink(frame, b, transposed(pw));
  sink(a, frame, -1.0 * pw), sink(frame, a, -1.0 * transposed(pw));
  sink(frame, frame, stretch_shear::hessian_ww(k, p, d));
}

template <class Sink>
void add_joint_hessian(double k, const Quatd& r, Index a, Index b, Sink&& sink) {
  const Mat3<double> same = bend_twist::hessian_same(k, r);
  const Mat3<double> cross_ab = bend_twist::hessian_cross(k, r);
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
    const double l = m.segment_rest_length[s], k = m.segment_stretch_stiffness[s];
    const Vec3d p = edge_over_length(u, s);
    add_segment_hessian(k, l, p, director3(q[s]), a, b, first_frame + s, sink);
    if (h_ > 0 && m.segment_tau_stretch[s] > 0) {
      const Vec3d r = Vec3d{0, 0, 1} + strain_prev_[s];
      add_segment_hessian(k * m.segment_tau_stretch[s] / h_, l, p, rotate(q[s], r), a, b, first_frame + s, sink);
    }
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const double k = m.joint_stiffness[j];
    add_joint_hessian(k, bend_twist::deviation(q[a], q[b], m.joint_rest_rotation[j]), first_frame + a, first_frame + b, sink);
    if (h_ > 0 && m.joint_tau_bend[j] > 0)
      add_joint_hessian(k * m.joint_tau_bend[j] / h_, bend_twist::deviation(q[a], q[b], rotation_prev_[j]), first_frame + a,
                        first_frame + b, sink);
  }
}

}  // namespace osier
