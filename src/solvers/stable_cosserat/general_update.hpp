// Updates for the energy with a stiffness per axis, for rotational inertia and for motors, element by element: what the closed
// form of orientation_update.hpp does not cover. Positions stay exact, one 3x3 solve per vertex; frames as in frame_problem.hpp.
#pragma once

#include "solvers/stable_cosserat/frame_problem.hpp"
#include "solvers/stable_cosserat/position_update.hpp"
#include "solvers/stable_cosserat/workspace.hpp"

namespace osier::stable_cosserat {

/// Brings C and R rest up to date with a new frame.
template <class T>
OSIER_FN void refresh(GeneralSegment<T>& g, const Quat<T>& q) {
  g.C = rotated_diagonal(rotation_matrix(q), g.k);
  g.axis = rotate(q, g.rest);
}

/// Edge of the segment at the present displacements [m].
template <class T>
OSIER_FN Vec3<T> edge(const Model& m, const Workspace<T>& w, Index s) {
  return static_cast<T>(m.segment_rest_length[s]) * edge_over_length(m, w, s);
}

/// Section force in the world.
template <class T>
OSIER_FN Vec3<T> general_force(const GeneralSegment<T>& g, const Vec3<T>& edge) {
  return g.C * (edge - g.axis);
}

/// Gradient of the potential at one vertex, and its Hessian.
template <class T>
OSIER_FN Vec3<T> vertex_gradient(const Model& m, const Workspace<T>& w, Index v, Mat3<T>& hessian) {
  hessian = identity3(w.general.weight[v]);
  Vec3<T> g = w.general.weight[v] * w.u[v] - w.vertex[v].rhs;
  for (Index i = m.vertex_segments.start[v], end = m.vertex_segments.start[v + 1]; i < end; ++i) {
    const VertexSide<T>& side = w.vertex_side[i];
    const GeneralSegment<T>& s = w.general.segment[side.segment];
    g += side.sign * general_force(s, edge(m, w, side.segment));
    hessian = hessian + s.C;
  }
  return g;
}

template <class T>
Vec3<T> general_position(const Model& m, const Workspace<T>& w, Index v) {
  Mat3<T> hessian;
  const Vec3<T> g = vertex_gradient(m, w, v, hessian);
  return after_block_step(w.u[v], g, hessian);
}

/// The local problem of one frame, elasticity and damping of its joints one by one.
template <class T>
FrameProblem<T> frame_problem(const Model& m, const Workspace<T>& w, Index s, bool has_torque) {
  const Quat<T>& q = w.q[s];
  const GeneralData<T>& g = w.general;
  FrameProblem<T> problem(q, edge(m, w, s), g.segment[s].k, g.segment[s].rest);
  for (Index i = m.frame_joints.start[s], end = m.frame_joints.start[s + 1]; i < end; ++i) {
    const Index e = m.frame_joints.entry[i];
    const GeneralJoint<T>& j = g.joint[e / 2];
    const Quat<T>& other = w.q[w.joint_side[i].other];
    const auto seen = [&](const Quat<T>& r) { return e % 2 == 1 ? r : conj(r); };
    problem.add_joint(q, {other, j.K, seen(j.rest)});
    if (norm2(j.K_viscous) > T(0)) problem.add_joint(q, {other, j.K_viscous, seen(j.previous)});
  }
  for (Index i = g.direction_start[s]; i < g.direction_start[s + 1]; ++i) problem.add_direction(q, g.direction[i]);
  if (has_torque) problem.add_torque(q, torque_pull(w.torque[s], w.torque_material[s], q));
  return problem;
}

}  // namespace osier::stable_cosserat
