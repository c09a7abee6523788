// What is left of the forces after some sweeps.
#pragma once

#include <algorithm>
#include <span>

#include "solvers/direction_terms.hpp"
#include "solvers/stable_cosserat/general_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

struct Residual {
  double value = 0, scale = 0;
  Index vertex = -1, segment = -1;
};

/// Largest elastic moment or torque, over length: a twisted rod at rest has no other force that a residual could be small
/// against.
template <class T>
double moment_scale(const Model& m, const Control& c, const Workspace<T>& w) {
  double scale = 0;
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Quat<T> K = bend_twist::stiffness4(cast<T>(m.joint_stiffness[j])), r = conj(w.q[a]) * w.q[b];
    const Vec3<T> g = bend_twist::moment(K, r, cast<T>(m.joint_rest_rotation[j]));
    scale = std::max(scale, static_cast<double>(norm(g)) / m.joint_length[j]);
  }
  if (c.has_torque)
    for (Index s = 0; s < m.segment_count(); ++s)
      scale = std::max(scale, static_cast<double>(w.segment[s].inverse_length * norm(w.torque[s])));
  return scale;
}

template <class T>
Residual residual_general(const Model& m, const Control& c, const Workspace<T>& w, std::span<const DirectionTerm> directions) {
  Residual r;
  r.scale = moment_scale(m, c, w);
  for (const DirectionTerm& t : directions) r.scale = std::max(r.scale, t.pull / m.segment_rest_length[t.frame]);
  Mat3<T> hessian;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c.vertex_fixed[v]) continue;
    const double left = static_cast<double>(norm(vertex_gradient(m, w, v, hessian)));
    r.scale = std::max(r.scale, static_cast<double>(norm(w.vertex[v].rhs)));
    if (!(left <= r.value)) r.value = left, r.vertex = v, r.segment = -1;
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const T inverse_length = w.segment[s].inverse_length;
    const Vec3<T> n = general_force(w.general.segment[s], edge(m, w, s));
    r.scale = std::max(r.scale, static_cast<double>(norm(n)));
    if (c.frame_control[s] == FrameControl::fixed) continue;
    Vec3<T> couple = frame_problem(m, w, s, c.has_torque).gradient();
    if (c.frame_control[s] == FrameControl::hinged) {
      const Vec3<T> axis = rotate(conj(w.q[s]), cast<T>(c.frame_hinge_axis[s]));
      couple = dot(couple, axis) * axis;
    }
    const double left = static_cast<double>(inverse_length * norm(couple));
    if (!(left <= r.value)) r.value = left, r.vertex = -1, r.segment = s;
  }
  return r;
}

/// The largest left-over force: what a position update would still move, times its Hessian, and the couple on each frame.
template <class T>
Residual residual(const Model& m, const Control& c, const Workspace<T>& w) {
  Residual r;
  r.scale = moment_scale(m, c, w);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c.vertex_fixed[v]) continue;
    const T hessian = T(1) / w.vertex[v].inverse_hessian;
    const double left = static_cast<double>(hessian * norm(updated_position(m, w, w.u.data(), v) - w.u[v]));
    r.scale = std::max(r.scale, static_cast<double>(norm(w.vertex[v].rhs)));
    if (!(left <= r.value)) r.value = left, r.vertex = v, r.segment = -1;
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const SegmentData<T>& d = w.segment[s];
    const Vec3<T> p = edge_over_length(m, w, s);
    const Vec3<T> image = rotate(w.q[s], d.eta);
    const double section = static_cast<double>(d.inverse_length * norm(stretch_shear::gradient_p(d.k, d.stiffening, p, image)));
    r.scale = std::max(r.scale, section);
    if (c.frame_control[s] == FrameControl::fixed) continue;
    const OrientationProblem<T> o = orientation_problem<T, true>(m, w, s, c.has_torque);
    // Half the imaginary part of (S q + b) conj(q) is the couple in the world frame.
    Vec3<T> couple = T(0.5) * imag((o.v * w.q[s] * o.eta + o.b) * conj(w.q[s]));
    if (c.frame_control[s] == FrameControl::hinged) {
      const Vec3<T> axis = cast<T>(c.frame_hinge_axis[s]);
      couple = dot(couple, axis) * axis;
    }
    const double left = static_cast<double>(d.inverse_length * norm(couple));
    if (!(left <= r.value)) r.value = left, r.vertex = -1, r.segment = s;
  }
  return r;
}

}  // namespace osier::stable_cosserat
