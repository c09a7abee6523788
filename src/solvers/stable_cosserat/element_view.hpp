// The update of one element, for any graph and every feature of a model, on bare arrays: what the sweeps of element_sweep.hpp do
// on the processor in any order and those of device_sweep.hpp on a graphics card.
//
// One spring per segment and one or two per joint, with a stiffness per axis. Where stiffnesses are equal and nothing else acts
// on frames, the closed form is a shortcut for the update of a frame; otherwise it is that of frame_problem.hpp.
//
// Deviation 6: with all elements at once, every element moves to the minimum of a separable upper bound of the energy: a spring
// or joint between two elements that both move counts twice for either, since 1/2 k (a - b)^2 <= k a^2 + k b^2. So the energy
// cannot rise. Without the bound a ring at rest blows up: turns that alternate from segment to segment are thrown back and forth.
// The printed lambdas have no minimum but a fixed point, which the bound would shift: there a frame goes half the way.
//
// Deviation 1: sweeps never see absolute positions, here and in lanes, but displacements u since the start of the step. Edges are
// formed once per step in double, and everything after is small against them, so that float has 7 digits of strain and
// not of world coordinates.
#pragma once

#include "exec/unroll.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/stable_cosserat/order.hpp"
#include "solvers/stable_cosserat/safeguarded_frame.hpp"

namespace osier::stable_cosserat {

/// Elasticity and damping of a segment in one: 1/2 G.(k G), G = R' (x_b - x_a) - rest, with k = (1 + alpha) k^ss/l^2 [N/m] and
/// rest = l (e3 + alpha/(1 + alpha) Gamma_prev) [m], axis by axis.
template <class T>
struct ElementSegment {
  Vec3<T> edge;  ///< x_b - x_a at u = 0
  Vec3<T> k, rest;
  typename AxesLaw<T>::Spring spring;  ///< force and stiffness at the present frame
};
/// A joint, elastic and viscous (see bend_twist.hpp); K_viscous is 0 without damping.
template <class T>
struct ElementJoint {
  Quat<T> K, rest, K_viscous, previous;
};

/// Contact at a vertex, linearised at a displacement: gradient + block (u - at), with a block large enough for all vertices to
/// move at once (SCR section 4.4).
template <class T>
struct VertexContact {
  Vec3<T> gradient, at;
  Sym3<T> block;
  bool touches = false;
};

/// The numbers of one step, in memory of the backend.
template <class T>
struct ElementView {
  lanes::StepView step;  ///< the model, the control and the state
  const std::array<Index, 2>* segment_vertices;
  const Index *vertex_segment_start, *vertex_segment;  ///< Model::vertex_segments
  const std::uint8_t *vertex_alive, *segment_alive;
  bool closed_form;  ///< the step uses the closed form

  Vec3<T>* u;
  Vec3<T>* rhs;  ///< m v_t/h + f [N]
  T* weight;     ///< m/h^2 + c/h [N/m]
  ElementSegment<T>* segment;
  Quat<T>* q;
  ElementJoint<T>* joint;
  const DirectionTerm* direction;   ///< rotational inertia and motors
  const Index* direction_start;     ///< per segment, size n + 1; null: there are none
  const VertexContact<T>* contact;  ///< per vertex; null: none

  // -------------------------------------------------------------------------------------------- the start of a step

  /// `guess`: the frame that a free one starts from.
  OSIER_CALL void load_frame(Index f, Quatd guess) const {
    if (step.frame_control[f] == FrameControl::fixed) guess = step.frame_target[f];
    if (step.frame_control[f] == FrameControl::hinged) guess = nearest_on_hinge(guess, step.frame_target[f], step.hinge_axis[f]);
    q[f] = cast<T>(guess);
  }
  OSIER_CALL void load_segment(Index s) const {
    const double l = step.rest_length[s];
    const Vec3d p = (1 / l) * (step.position[far_vertex(s)] - step.position[near_vertex(s)]);
    const auto spring =
        stretch_shear::folded(cast<double>(step.segment_stiffness[s]), cast<double>((1 / step.h) * step.segment_tau[s]),
                              stretch_shear::local_strain(p, step.rotation[s]));
    segment[s].edge = cast<T>(l * p);
    segment[s].k = cast<T>((1 / (l * l)) * spring.k);
    segment[s].rest = cast<T>(l * spring.rest);
    put_spring(s);
  }
  OSIER_CALL void load_joint(Index j) const {
    const Index a = step.joint_frames[j][0], b = step.joint_frames[j][1];
    const Vec3d stiffness = cast<double>(step.joint_stiffness[j]), tau = cast<double>(step.joint_tau[j]);
    joint[j].K = cast<T>(bend_twist::stiffness4(stiffness));
    joint[j].rest = cast<T>(step.joint_rest[j]);
    joint[j].K_viscous = cast<T>((1 / step.h) * bend_twist::viscous4(stiffness, tau));
    joint[j].previous = cast<T>(conj(step.rotation[a]) * step.rotation[b]);
  }
  /// x <- x_t + h v_t + h^2 a~ with VBD's adaptive a~ (Chen et al. 2024): a rod at rest under gravity starts at rest.
  OSIER_CALL void load_vertex(Index v) const {
    const VertexStart<double> start =
        vertex_start(step.mass[v], step.damping[v], step.velocity[v], step.velocity_previous[v], step.force[v], step.h);
    rhs[v] = cast<T>(start.rhs);
    weight[v] = static_cast<T>(start.weight);
    u[v] = cast<T>(step.vertex_fixed[v] ? step.vertex_target[v] - step.position[v] : start.u);
  }

  // ---------------------------------------------------------------------------------------------------- the updates

  /// The force and stiffness of a segment at its present frame.
  OSIER_CALL void put_spring(Index s) const {
    ElementSegment<T>& d = segment[s];
    AxesLaw<T>::put_spring(q[s], d.k, d.rest, d.edge, d.spring);
    if (!closed_form) return;
    d.spring.stiffness = {d.k.z, T(0), d.k.z, T(0), T(0), d.k.z};  // exactly
  }
  /// The displacement of a vertex after its update.
  template <class Law>
  OSIER_CALL Vec3<T> moved(Index v) const;
  /// The same with all vertices at once (deviation 6).
  OSIER_CALL Vec3<T> moved_at_once(Index v) const;
  /// The frame of a segment after its update.
  template <class Law, Lambda kLambda, bool kAtOnce = false>
  OSIER_CALL Quat<T> turned(Index s) const;
  template <class Law, Lambda kLambda>
  OSIER_CALL Quat<T> turned_at_once(Index s) const;

  // ------------------------------------------------------------------------------------------------------ residuals

  /// Gradient of the step's potential at one vertex.
  OSIER_CALL Vec3<T> vertex_residual(Index v) const;
  /// The couple on a frame, in its own axes; for a hinged frame the couple about its hinge.
  OSIER_CALL Vec3<T> frame_residual(Index s) const;

  // -------------------------------------------------------------------------------------------------- the neighbours

  OSIER_FN Index near_vertex(Index s) const { return segment_vertices[s][0]; }
  OSIER_FN Index far_vertex(Index s) const { return segment_vertices[s][1]; }
  /// Edge at the present displacements [m].
  OSIER_FN Vec3<T> edge(Index s) const { return segment[s].edge + (u[far_vertex(s)] - u[near_vertex(s)]); }
  OSIER_FN bool is_held(Index v) const { return step.vertex_fixed[v] || !vertex_alive[v]; }
  OSIER_FN bool is_held_frame(Index s) const { return step.frame_control[s] == FrameControl::fixed || !segment_alive[s]; }
  OSIER_FN bool touches(Index v) const { return contact != nullptr && contact[v].touches; }

 private:
  /// Calls add(spring, sign, u of the other vertex) for every segment of a vertex.
  template <class Add>
  OSIER_FN void each_segment(Index v, const Add& add) const {
    for (Index i = vertex_segment_start[v]; i < vertex_segment_start[v + 1]; ++i) {
      const Index s = vertex_segment[i] / 2, side = vertex_segment[i] % 2;
      add(segment[s].spring, side == 1 ? T(1) : T(-1), u[segment_vertices[s][static_cast<std::size_t>(1 - side)]]);
    }
  }
  template <class Add>
  OSIER_FN void each_joint(Index s, const Add& add) const {
    for (Index i = step.frame_joint_start[s]; i < step.frame_joint_start[s + 1]; ++i) {
      const Index entry = step.frame_joint[i], side = entry % 2;
      const ElementJoint<T>& j = joint[entry / 2];
      const Quat<T>& other = q[step.joint_frames[entry / 2][static_cast<std::size_t>(1 - side)]];
      const auto seen = [&](const Quat<T>& r) { return side == 1 ? r : conj(r); };
      add(other, j.K, seen(j.rest));
      if (norm2(j.K_viscous) > T(0)) add(other, j.K_viscous, seen(j.previous));
    }
  }
  /// As each_joint(), with the joints of the upper bound (deviation 6): twice the stiffness, and a rest halfway between the
  /// present relative rotation r and the joint's own: 2 K (r - (r + rest)/2) is the same couple.
  template <class Add>
  OSIER_FN void each_joint_at_once(Index s, const Add& add) const {
    each_joint(s, [&](const Quat<T>& other, const Quat<T>& K, const Quat<T>& rest) {
      const Quat<T> r = conj(other) * q[s];
      const T pole = bend_twist::pole(dot(bend_twist::times(K, rest), r));
      add(other, T(2) * K, T(0.5) * (pole * rest + r));
    });
  }
  OSIER_FN void add_directions(FrameProblem<T>& problem, Index s, const Quat<T>& at) const {
    if (direction_start == nullptr) return;
    for (Index i = direction_start[s]; i < direction_start[s + 1]; ++i) {
      const DirectionTerm& t = direction[i];
      problem.add_direction(at, {static_cast<T>(t.k), cast<T>(t.y), cast<T>(t.a)});
    }
  }
  OSIER_FN AxesSegment<T> axes_segment(Index s) const { return {edge(s), segment[s].k, segment[s].rest}; }
  OSIER_CALL Vec3<T> moved_in_contact(Index v) const;
};

template <class T>
template <class Law>
OSIER_CALL Vec3<T> ElementView<T>::moved(Index v) const {
  if (is_held(v)) return u[v];
  if (touches(v)) return moved_in_contact(v);
  typename Law::Vertex vertex(u[v], weight[v], rhs[v]);
  if constexpr (Law::kClosedForm) {
    T hessian = weight[v];
    each_segment(v, [&](const auto& spring, T sign, const Vec3<T>& other) {
      vertex.add({spring.force, spring.stiffness.zz}, sign, other);
      hessian += spring.stiffness.zz;
    });
    return vertex.updated(T(1) / hessian);
  } else {
    each_segment(v, [&](const auto& spring, T sign, const Vec3<T>& other) { vertex.add(spring, sign, other); });
    return vertex.updated(weight[v]);
  }
}

/// The block of a vertex with its contacts is a matrix, whatever the law.
template <class T>
OSIER_CALL Vec3<T> ElementView<T>::moved_in_contact(Index v) const {
  const T w = weight[v];
  Sym3<T> k = contact[v].block + Sym3<T>{w, T(0), w, T(0), T(0), w};
  each_segment(v, [&](const auto& spring, T, const Vec3<T>&) { k = k + spring.stiffness; });
  const Mat3<T> hessian{{{k.xx, k.yx, k.zx}, {k.yx, k.yy, k.zy}, {k.zx, k.zy, k.zz}}};
  return after_block_step(u[v], vertex_residual(v), hessian);
}

/// To the minimum of the upper bound (deviation 6); the blocks of contacts are one already.
template <class T>
OSIER_CALL Vec3<T> ElementView<T>::moved_at_once(Index v) const {
  if (is_held(v)) return u[v];
  const T w = weight[v];
  Sym3<T> k{w, T(0), w, T(0), T(0), w};
  if (touches(v)) k = k + contact[v].block;
  each_segment(v, [&](const auto& spring, T, const Vec3<T>&) { k = k + spring.stiffness + spring.stiffness; });
  return after_block_step(u[v], vertex_residual(v), full(k));
}

template <class T>
template <class Law, Lambda kLambda, bool kAtOnce>
OSIER_CALL Quat<T> ElementView<T>::turned(Index s) const {
  if (is_held_frame(s)) return q[s];
  const auto joints = [&](const auto& add) {
    if constexpr (kAtOnce) each_joint_at_once(s, add);
    else each_joint(s, add);
  };
  if constexpr (Law::kClosedForm) {
    const ElementSegment<T>& d = segment[s];
    T gamma = kLambda == Lambda::exact ? static_cast<T>(step.gamma[s]) : T(0);
    const ClosedFormSegment<T> local{stretch_shear::local_v(d.k.z, edge(s)), d.rest};
    const Quat<T> next = safeguarded_frame_of<true, kLambda>(step, s, q[s], local, gamma, joints);
    if (kLambda == Lambda::exact) step.gamma[s] = static_cast<double>(gamma);
    return next;
  } else {
    return safeguarded_frame_of(step, s, q[s], axes_segment(s), joints,
                                [&](FrameProblem<T>& problem, const Quat<T>& at) { add_directions(problem, s, at); });
  }
}

template <class T>
template <class Law, Lambda kLambda>
OSIER_CALL Quat<T> ElementView<T>::turned_at_once(Index s) const {
  if constexpr (!Law::kClosedForm || kLambda == Lambda::secular) {
    return turned<Law, kLambda, true>(s);
  } else {
    const Quat<T> next = turned<Law, kLambda>(s);
    return normalized(dot(next, q[s]) < T(0) ? q[s] - next : q[s] + next);
  }
}

template <class T>
OSIER_CALL Vec3<T> ElementView<T>::vertex_residual(Index v) const {
  Vec3<T> g = weight[v] * u[v] - rhs[v];
  each_segment(
      v, [&](const auto& spring, T sign, const Vec3<T>& other) { g += spring.stiffness * (u[v] - other) - sign * spring.force; });
  if (touches(v)) g += contact[v].gradient + contact[v].block * (u[v] - contact[v].at);
  return g;
}

template <class T>
OSIER_CALL Vec3<T> ElementView<T>::frame_residual(Index s) const {
  FrameProblem<T> problem = frame_problem_of(step, s, q[s], axes_segment(s), [&](const auto& add) { each_joint(s, add); });
  add_directions(problem, s, q[s]);
  const Vec3<T> couple = problem.gradient();
  if (step.frame_control[s] != FrameControl::hinged) return couple;
  const Vec3<T> axis = rotate(conj(q[s]), cast<T>(step.hinge_axis[s]));
  return dot(couple, axis) * axis;
}

}  // namespace osier::stable_cosserat
