// The arrays that a time step sweeps over, in the number type T of the sweeps.
//
// Symbols (SCR = the paper, VSCR = the addendum)
//   u      displacement of a vertex since the start of the step, x = x_t + u                [m]
//   p0     edge at the start of the step over rest length, (x_b - x_a)/l                     [-]
//   alpha  tau/h: damping over elasticity                                                    [-]
//   eta    generalised material axis, (1 + alpha) e3 + alpha Gamma_prev   (VSCR Eq. 20)      [-]
//   c      (1 + alpha) k/l^2: a segment's share of the position Hessian  (SCR Eq. 29, VSCR Eq. 34)   [N/m]
//   pull   (k/l)(q eta q' - (1 + alpha) p0): its force on b at u = 0      (SCR Eq. 28, VSCR Eq. 33)  [N]
//
// Deviation 1: the sweeps never see absolute positions. Edges are formed once per step in double and everything after is
// small against them, so that float keeps its 7 digits of strain and not of world coordinates.
#pragma once

#include <vector>

#include "math/mat3.hpp"
#include "math/quat.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier::stable_cosserat {

template <class T>
struct VertexData {
  Vec3<T> rhs;  ///< m v_t/h + f: the pull of inertia and loads at u = 0 [N]
  T inverse_hessian;
};

template <class T>
struct SegmentData {
  Vec3<T> p0;
  T inverse_length;
  T k;           ///< k^ss
  T stiffening;  ///< 1 + alpha
  T c;
  Vec3<T> eta;  ///< used in damped sweeps only; otherwise e3
};

/// One segment as seen from one of its two vertices.
template <class T>
struct VertexSide {
  Index other, segment;
  T c;
  T sign;  ///< +1 seen from b, -1 from a
};

/// One joint as seen from one of its two frames, elasticity and damping in one. With rest = q0 seen from the second frame and
/// conj(q0) from the first, the two cases of SCR Eq. 17 are the same expression; with previous likewise from conj(qa) qb at
/// the start of the step, so are those of VSCR Eq. 22:
///
///   b += k phi q_other rest + alpha k psi q_other previous = phi q_other target,   target = k (rest + alpha sigma previous)
///
/// where sigma = sign(rest.previous) and psi = phi sigma. The two poles can only differ from that when q lies so close to the
/// equator that |q.(q_other target)| <= bound = (1 + alpha) k sin(angle between rest and sigma previous); then JointTerms are
/// taken one by one. Exact, at the price of the elastic term alone.
template <class T>
struct JointSide {
  Quat<T> target;
  T bound;
  Index other;
};

template <class T>
struct JointTerms {
  Quat<T> elastic;  ///< k rest
  Quat<T> viscous;  ///< alpha k previous
};

// What the sweeps need beyond that when stiffness differs between axes, frames have inertia or a motor damps one
// (general_update.hpp). Empty otherwise.

/// Elasticity and damping of a segment in one: 1/2 G.(k G), G = R' (x_b - x_a) - rest, with k = (1 + alpha) k^ss/l^2 [N/m] and
/// rest = l (e3 + alpha/(1 + alpha) Gamma_prev) [m], axis by axis.
template <class T>
struct GeneralSegment {
  Vec3<T> k, rest;
  Mat3<T> C;     ///< R k R' at the present frame
  Vec3<T> axis;  ///< R rest
};

/// A joint, elastic and viscous (see bend_twist.hpp); K_viscous is 0 without damping.
template <class T>
struct GeneralJoint {
  Quat<T> K, rest, K_viscous, previous;
};

/// DirectionTerm in T.
template <class T>
struct GeneralDirection {
  T k;
  Vec3<T> y, a;
};

template <class T>
struct GeneralData {
  std::vector<GeneralSegment<T>> segment;
  std::vector<GeneralJoint<T>> joint;
  std::vector<GeneralDirection<T>> direction;
  std::vector<Index> direction_start;  ///< per segment, size n + 1
  std::vector<T> weight;               ///< m/h^2 + c/h per vertex
};

/// Which of the arrays below a solver needs.
struct WorkspaceNeeds {
  bool general = false;  ///< general_update.hpp
  bool jacobi = false;
  bool bending = false;  ///< some joint is damped
};

template <class T>
struct Workspace {
  GeneralData<T> general;
  std::vector<VertexData<T>> vertex;
  std::vector<Vec3<T>> u, u_next;
  std::vector<SegmentData<T>> segment;
  std::vector<Vec3<T>> pull;
  std::vector<Quat<T>> q, q_next;
  std::vector<Vec3<T>> torque, torque_material;
  std::vector<T> gamma;
  std::vector<VertexSide<T>> vertex_side;        ///< rows of Model::vertex_segments
  std::vector<JointSide<T>> joint_side;          ///< rows of Model::frame_joints
  std::vector<JointTerms<T>> joint_terms;        ///< same rows; empty without bending damping
  std::vector<std::array<Index, 2>> joint_rows;  ///< per joint, its row as seen from a and from b; likewise

  /// visit(array, size) for every array that is in use.
  template <class Visit>
  void each_array(const Model& m, const WorkspaceNeeds& needs, const Visit& visit) {
    const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count());
    const auto nf = static_cast<std::size_t>(m.frame_count()), nj = static_cast<std::size_t>(m.joint_count());
    visit(vertex, nv), visit(u, nv);
    visit(segment, ns), visit(pull, ns), visit(gamma, ns);
    visit(q, nf), visit(torque, nf), visit(torque_material, nf);
    visit(vertex_side, m.vertex_segments.entry.size()), visit(joint_side, m.frame_joints.entry.size());
    if (needs.jacobi) visit(u_next, nv), visit(q_next, nf);
    if (needs.bending) visit(joint_terms, m.frame_joints.entry.size()), visit(joint_rows, nj);
    if (!needs.general) return;
    visit(general.segment, ns), visit(general.joint, nj), visit(general.direction_start, ns + 1), visit(general.weight, nv);
  }
};

}  // namespace osier::stable_cosserat
