// Links, roots and rows of the recursion (tree_factor.hpp) at given unknowns of a step (step_potential.hpp), in its number type.
#pragma once

#include "linalg/linear_system.hpp"
#include "solvers/joint_model.hpp"
#include "solvers/step_potential.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_factor.hpp"

namespace osier::systems {

template <class T>
Mat3<T> cast3(const Mat3<double>& m) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = static_cast<T>(m.m[i][j]);
  return r;
}

inline bool is_isotropic_segment(const Model& m, Index s) {
  return m.segment_stiffness[s].uniform() && m.segment_tau[s].uniform();
}
/// The joint is -1 where there is none.
inline bool is_isotropic_joint(const Model& m, Index j) {
  return j < 0 || (m.joint_stiffness[j].uniform() && m.joint_tau[j].uniform());
}

/// A frame that nothing but positions holds is solved in its own axes, an anisotropic link in those of the segment and the joint.
inline AxisSets axis_sets(const Model& m, const TreeNode& n) {
  if (n.joint < 0) return AxisSets::one;
  return is_isotropic_segment(m, n.segment) && is_isotropic_joint(m, n.joint) ? AxisSets::none : AxisSets::two;
}

inline JointModel joint_at(const StepPotential& step, const Unknowns& z, Index j) {
  const auto [a, b] = step.model().joint_frames[j];
  return joint_model(step.joint_spring(j), z.q[a], z.q[b]);
}

/// A link for positions alone: rigid joints on a frame that does not turn.
template <class T>
Link<T> with_still_frame(Link<T> l) {
  l.w_compliance = {};
  l.e.w = {};
  return l;
}
/// The constraint rows of a system for positions alone. Rows between frames connect what does not turn, and need no force.
template <class T>
ConstraintRow<T> with_still_frames(ConstraintRow<T> r) {
  if (norm2(r.end[0].direction.x) == T(0)) r.compliance = T(1), r.e = T(0);
  return r;
}

/// The link of a node. `link_force`: the force through the link in the last solve; `couples`: whether the couple of the segment
/// is formed with that force or with the force of the present strain.
template <class T>
Link<T> assemble_link(const StepPotential& step, const Unknowns& z, const Tree& tree, std::size_t i, const Vec3d& link_force,
                      Curvature curvature, Couples couples) {
  const Model& m = step.model();
  const TreeNode& n = tree.nodes[i];
  const Index s = n.segment;
  const double length = m.segment_rest_length[s], l2 = length * length;
  const double sign = n.near_vertex == m.segment_vertices[s][0] ? 1 : -1;
  const Quatd& q = z.q[s];
  const SegmentAtHand here = step.segment(z, s);
  const stretch_shear::FoldedSpring<double>& k = here.spring;
  const Vec3d &axis = here.axis, off = here.edge - axis, d = normalized(axis);

  Vec3d force, couple, strain_w;
  const Vec3d n_section = (sign * length) * link_force;
  const bool exact = curvature == Curvature::exact && n.joint >= 0;
  Mat3<double> turning = stretch_shear::hessian_ww(1.0, exact ? n_section : std::max(0.0, dot(n_section, d)) * d, d);
  if (!here.isotropic) {
    // At large strains the force of the present strain converges faster than that of the last solve, if the two are similar.
    constexpr double kLarge = 0.05;
    const bool alike = norm(here.section - n_section) <= 0.5 * norm(n_section) && norm(off) > kLarge;
    const Vec3d force_along = rotate(conj(q), couples == Couples::of_strain || alike ? here.section : n_section);
    couple += rotate(q, stretch_shear::couple_of_axes(Vec3d{1 / k.k.x, 1 / k.k.y, 1 / k.k.z}, force_along));
  }
  double weight = 0;
  if (const Index far = n.far_vertex; far >= 0 && step.is_free(far)) {
    weight = step.vertex_weight(far);
    force = step.vertex_force(far) - weight * z.u[far];
  }
  Link<T> l;
  l.w_compliance = {kLoose<T>, kLoose<T>, kLoose<T>};
  Mat3<double> w_axes = identity3(1.0);
  if (n.joint >= 0) {
    const JointModel joint = joint_at(step, z, n.joint);
    const double side = m.joint_frames[n.joint][1] == s ? 1 : -1;
    w_axes = joint.axes;
    l.w_compliance = cast<T>(joint.compliance);
    const auto offset = [&](int a) {
      const double compliance = component(joint.compliance, a);
      const Vec3d direction = column(joint.axes, a);
      if (compliance < kLoose<double>) strain_w += (side * compliance * dot(direction, joint.gradient)) * direction;
    };
    if (joint.isotropic && joint.compliance.x < kLoose<double>) {
      strain_w = (side * joint.compliance.x) * joint.gradient;
    } else {
      offset(0), offset(1), offset(2);
      // The link acts on its frame by P^-T m instead of m. The couple P^-T (m - P^T m) = P^-T (m/2 x e) corrects that.
      const Vec3d e = transposed_times(w_axes, strain_w);
      const AnisotropicTurn<double> turn = moment_turn(e, joint.compliance);
      couple += w_axes * (inverse3(transposed(moment_matrix(turn))) * cross(turn.half_moment, e));
    }
  } else {
    // Regularisation of a frame that only positions hold: it may spin about its axis at no cost, and in a slack cable without
    // mass it may turn any way. Across the axis it gets 1e-10 of the stiffness of inertia, or of the segment's stiffness where
    // there is no inertia (the segment's stiffness would slow down segments that are next to rigid). About the axis the
    // regularisation decides how far rounding errors of couples spin the frame: a cable, on which nothing acts about the axis,
    // gets its whole stiffness; a frame whose joints are constraint rows gets a share of their stiffness, which is also the
    // factor by which iterations converge. In the axes of the frame the spin is an elimination step of its own.
    w_axes = rotation_matrix(q);
    const double share = std::is_same_v<T, float> ? 1e-3 : 1e-6;
    double against_spin = 0;
    for (Index j : m.frame_joints.of(s)) against_spin = std::max(against_spin, share * m.joint_stiffness[j / 2].d3);
    if (against_spin == 0 && step.directions(s).empty()) against_spin = k.k.z;
    const double inertia = weight * l2;
    turning = turning + identity3(1e-10 * (inertia > 0 ? std::min(inertia, k.k.z) : k.k.z)) + against_spin * outer(d, d);
  }
  for (const auto& [node, j] : tree.local_joints_of(i)) {
    const JointModel joint = joint_at(step, z, j);
    const auto inverse = [](double x) { return 1 / x; };
    const double side = m.joint_frames[j][1] == s ? 1 : -1;
    const Vec3d stiffness{inverse(joint.compliance.x), inverse(joint.compliance.y), inverse(joint.compliance.z)};
    turning = turning + rotated_diagonal(joint.axes, stiffness);
    couple -= side * joint.gradient;
  }
  for (const DirectionTerm& term : step.directions(s)) {
    const Vec3d a = rotate(q, term.a);
    turning = turning + term.k * (identity3(norm2(a)) + -1.0 * outer(a, a));
    couple -= stretch_shear::gradient_w(term.k, term.y, a);
  }
  if (step.control().has_torque) couple += step.torque(s, q);

  l.world_axes = axis_sets(m, n) == AxisSets::none;
  if (!l.world_axes) l.x_axes = cast3<T>(rotation_matrix(q)), l.w_axes = cast3<T>(w_axes);
  l.arm = cast<T>((sign * length) * axis);
  l.x_compliance = {static_cast<T>(l2 / k.k.x), static_cast<T>(l2 / k.k.y), static_cast<T>(l2 / k.k.z)};
  l.e = {cast<T>((sign * length) * off), cast<T>(strain_w)};
  l.load_stiffness.xx = identity3(static_cast<T>(weight));
  l.load_stiffness.ww = cast3<T>(turning);
  l.force = {cast<T>(force), cast<T>(couple)};
  return l;
}

template <class T>
RootVertex<T> assemble_root(const StepPotential& step, const Unknowns& z, Index v) {
  const double weight = step.vertex_weight(v);
  RootVertex<T> root;
  root.held = !step.is_free(v);
  root.stiffness = identity3(static_cast<T>(weight));
  root.force = cast<T>(step.vertex_force(v) - weight * z.u[v]);
  return root;
}

/// Calls put(i, row) for every constraint row of the range. The three rows of a joint follow each other, so that the joint is
/// evaluated once.
template <class T, class Put>
void assemble_rows(const StepPotential& step, const Unknowns& z, const Tree& tree, std::size_t begin, std::size_t end,
                   const Put& put) {
  const auto nodes = static_cast<Index>(tree.nodes.size());
  Index latest = -1;
  JointModel joint{};
  for (std::size_t i = begin; i < end; ++i) {
    const TreeRow& row = tree.rows[i];
    ConstraintRow<T> r;
    r.end[0].node = row.node;
    (row.other < nodes ? r.end[1].node : r.end[1].root) = row.other < nodes ? row.other : row.other - nodes;
    const Index s = tree.nodes[row.node].segment;
    const Vec3d unit{row.axis == 0 ? 1.0 : 0.0, row.axis == 1 ? 1.0 : 0.0, row.axis == 2 ? 1.0 : 0.0};
    const auto set_direction = [&](const Vec3d& x, const Vec3d& w) {
      r.end[0].direction = cast6<T>(Vec6<double>{x, w});
      r.end[1].direction = cast6<T>(Vec6<double>{-x, -w});
    };
    switch (row.kind) {
      case TreeRow::Kind::hold_vertex:
      case TreeRow::Kind::close_segment:
        set_direction(rotate(z.q[s], unit), {});
        break;
      case TreeRow::Kind::hold_frame:
        set_direction({}, unit);
        break;
      case TreeRow::Kind::hinge_frame:
        // Axes 1 and 2 of the row are perpendicular to the hinge.
        set_direction({}, rotate(rotation_between(Vec3d{1, 0, 0}, step.control().frame_hinge_axis[s]), unit));
        break;
      case TreeRow::Kind::close_joint: {
        if (latest != row.joint) joint = joint_at(step, z, latest = row.joint);
        const Vec3d axis = column(joint.axes, row.axis);
        const double compliance = component(joint.compliance, row.axis);
        set_direction({}, axis);
        if (joint.isotropic)  // the direction is Q^T axis
          r.end[0].direction.w += cast<T>(cross(moment_turn(joint.compliance.x * joint.gradient), axis));
        r.compliance = static_cast<T>(compliance);
        r.e = static_cast<T>(compliance < kLoose<double> ? compliance * dot(axis, joint.gradient) : 0);
        break;
      }
    }
    put(i, r);
  }
}

}  // namespace osier::systems
