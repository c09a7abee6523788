// The arithmetic of one row of links, on the way up and on the way down, for chains (chain_factor.hpp) and trees
// (forest_step.hpp). A row is one link in every lane, or, on a graphics card, one link.
//
// Everything is measured from the start of the step (energies/strain_since_start.hpp):
//
//   u        displacement of a vertex, x = x_t + u
//   turn     dq = q conj(q_t), the turn of a frame
//   S, f     stiffness and force of the row and of all rows below it on its parent (linalg/link_algebra.hpp)
//   e        strains of the link, three of the segment and three of the joint, along its springs
#pragma once

#include "energies/stretch_shear.hpp"
#include "linalg/link_algebra.hpp"
#include "linalg/small_ldl.hpp"
#include "solvers/first_guess.hpp"
#include "solvers/systems/chains/link_law.hpp"

namespace osier::systems {

/// Law: IsotropicLink or AnisotropicLink.
template <class P, template <class> class Law>
struct LinkRow : Law<P> {
  // Constant during the step:
  Vec3<P> arm0, stretch0;  ///< l axis_t and l (p_t - axis_t); 0 in lanes without a segment
  Vec3<P> rhs;             ///< m v_t/h + f of the far vertex
  P weight;                ///< m/h^2 + c/h of the far vertex
  // Changed by every iteration:
  Vec3<P> u;
  Quat<P> turn;

  /// Square of the displacement of the far vertex if nothing were elastic [m^2].
  OSIER_FN P free_motion2() const { return select(weight > P(0), norm2(inverse(weight) * rhs), P(0)); }
};

/// The parent of each lane.
template <class P>
struct NearEnd {
  const Vec3<P>& u;
  NearFrame<P> frame;
};
/// The row's own frame, at the start and now, where the law needs it.
template <class P>
struct OwnFrame {
  const Quat<P>&start, &now;
};

/// Sums over rows.
template <class P>
struct RowTotals {
  P energy, gained;
  P pole_margin;  ///< negative where a pole should change, which the law cannot do within a step
};
/// Largest values over rows, and the work of torques.
template <class P>
struct RowMotion {
  P turn2, move2, motion2, work;
};

/// Columns of unknown forces, six numbers each, which are carried along with f.
template <class P, int N>
struct CarriedColumns {
  P B[N][6];  ///< [column][component]
  P D[N * (N + 1) / 2], d[N];
};
template <class P>
struct CarriedColumns<P, 0> {};

template <class P, template <class> class Law>
OSIER_FN Vec3<P> arm_now(const LinkRow<P, Law>& r) {
  return r.arm0 + strain_since_start::change_by(r.turn, r.arm0);
}

/// Adds the far vertex to S and f: its mass, and the forces on it.
template <class P, template <class> class Law>
OSIER_FN void set_inertia(LinkRow<P, Law>& r, P mass, const Vec3<P>& velocity, const Vec3<P>& force, P damping, double h) {
  using T = ScalarOf<P>;
  const P inverse_h(static_cast<T>(1 / h)), inverse_h2(static_cast<T>(1 / (h * h)));
  r.rhs = force + (mass * inverse_h) * velocity;
  r.weight = mass * inverse_h2 + inverse_h * damping;
}

/// Forms the strains e along the springs, and adds stiffness and force on the node alone to S and f. force(axes): the force
/// through the link in the last solve, along its springs; drive(axes): the torques on its frame, if it is `driven`. Returns the
/// arm as it is now.
template <bool kDamped, class P, template <class> class Law, class Force, class Drive>
OSIER_FN Vec3<P> add_node(LinkRow<P, Law>& r, const typename Law<P>::Springs& springs, const NearEnd<P>& near,
                          const OwnFrame<P>& frame, const Force& force, bool driven, const Drive& drive, RowTotals<P>& totals,
                          P (&S)[21], P (&f)[6], Vec3<P>& e_x, Vec3<P>& e_w, typename Law<P>::Axes& axes) {
  const Vec3<P> delta = strain_since_start::change_by(r.turn, r.arm0);
  const Vec3<P> arm = r.arm0 + delta;
  e_x = strain_since_start::segment_strain(r.stretch0, delta, r.u, near.u);
  P stretched, bent;
  if constexpr (Law<P>::kOwnAxes) {
    Vec3<P> couple = r.template strain<kDamped>(springs, r.turn, near.frame, frame.start, frame.now, force, e_x, e_w, axes,
                                                stretched, bent, totals.pole_margin);
    if (driven) couple += drive(axes);
    f[3] += couple.x, f[4] += couple.y, f[5] += couple.z;
  } else {
    r.template strain<kDamped>(springs, r.turn, near.frame, frame.start, frame.now, force, e_x, e_w, axes, stretched, bent,
                               totals.pole_margin);
  }
  const P moved = (P(0.5) * r.weight) * norm2(r.u), done = dot(r.rhs, r.u);
  totals.energy += stretched + bent + moved - done;
  totals.gained += larger(done, P(0));
  f[0] = f[0] + r.rhs.x - r.weight * r.u.x;
  f[1] = f[1] + r.rhs.y - r.weight * r.u.y;
  f[2] = f[2] + r.rhs.z - r.weight * r.u.z;
  S[triangle(0, 0)] += r.weight, S[triangle(1, 1)] += r.weight, S[triangle(2, 2)] += r.weight;
  return arm;
}

/// The turning stiffness of a frame by the tension T in its segment: l T (1 - d d^T).
template <class P>
OSIER_FN void add_tension(P tension, const Vec3<P>& arm, P (&S)[21]) {
  const P arm2 = of_arm(arm), across = -tension * inverse_sqrt(arm2), whole = -across * arm2;
  S[triangle(3, 3)] += whole + across * arm.x * arm.x;
  S[triangle(4, 3)] += across * arm.y * arm.x;
  S[triangle(4, 4)] += whole + across * arm.y * arm.y;
  S[triangle(5, 3)] += across * arm.z * arm.x;
  S[triangle(5, 4)] += across * arm.z * arm.y;
  S[triangle(5, 5)] += whole + across * arm.z * arm.z;
}

/// The exact turning stiffness by any force n through the segment. Unlike that of tension it is not positive; its negative part
/// is limited to `most`.
template <class P>
OSIER_FN void add_force_stiffness(const Vec3<P>& n, const Vec3<P>& arm, P most, P (&S)[21]) {
  const P inverse_arm2 = inverse(of_arm(arm)), along = dot(n, arm);
  const P tension = larger(along, P(0));
  const Vec3<P> other = n - (tension * inverse_arm2) * arm;
  const P size2 = norm2(other) * norm2(arm);
  const P share = select(size2 > most * most, most * inverse_sqrt(larger(size2, P(ScalarOf<P>(1e-30)))), P(1));
  const Mat3<P> H = stretch_shear::hessian_ww(P(1), (tension * inverse_arm2) * arm + share * other, arm);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) S[triangle(3 + i, 3 + j)] += H.m[i][j];
}

/// Turns S, f and the columns into other axes: the rows of A for position, those of B for rotation.
template <int N, class P>
OSIER_FN void turn_all(const Mat3<P>& A, const Mat3<P>& B, P (&S)[21], P (&f)[6],
                       [[maybe_unused]] CarriedColumns<P, N>& columns) {
  turn_axes(A, B, [&](int a, int b) -> P& { return S[triangle(a, b)]; });
  turn_six(A, B, f);
  if constexpr (N > 0)
    for (auto& column : columns.B) turn_six(A, B, column);
}

/// Applies P^T to the couple of a force.
template <class MomentTurn, class P>
OSIER_FN void force_with_moment(const MomentTurn& by, P (&v)[6]) {
  const Vec3<P> w = transposed_turn_times(by, Vec3<P>{v[3], v[4], v[5]});
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
}
/// Applies the moment turn P of a joint (link_algebra.hpp) to S, f and the columns. Where P^T m is not m, f is corrected, so that
/// the link acts on its frame by m again.
template <int N, class MomentTurn, class P>
OSIER_FN void all_with_moment(const MomentTurn& by, [[maybe_unused]] const Vec3<P>& e_w, P (&S)[21], P (&f)[6],
                              [[maybe_unused]] CarriedColumns<P, N>& columns) {
  turn_with_moment(by, [&](int a, int b) -> P& { return S[triangle(a, b)]; });
  force_with_moment(by, f);
  if constexpr (std::is_same_v<MomentTurn, AnisotropicTurn<P>>) {
    const Vec3<P> w = plus_cross({f[3], f[4], f[5]}, by.half_moment, e_w);
    f[3] = w.x, f[4] = w.y, f[5] = w.z;
  }
  if constexpr (N > 0)
    for (auto& column : columns.B) force_with_moment(by, column);
}

/// Whether the moments of a row's joints matter: without them iterations converge by a factor of half of the joint's strain.
template <class P>
OSIER_FN bool is_bent(const Vec3<P>& e_w, double least) {
  return any(norm2(e_w) > P(static_cast<ScalarOf<P>>(least * least)));
}

/// A force on the far end as one on the near end.
template <class P>
OSIER_FN void shift_force(const Vec3<P>& arm, P (&v)[6]) {
  const Vec3<P> w = plus_cross({v[3], v[4], v[5]}, arm, {v[0], v[1], v[2]});
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
}

/// Brings S, f and the columns to the near end of the segment and into the axes of the springs. `by`: the moment turn of its
/// joints, which is left out unless `with_moment`.
template <int N, class P, class Axes, class MomentTurn>
OSIER_FN void to_near_end([[maybe_unused]] const Axes& axes, const Vec3<P>& arm, const Vec3<P>& e_w, bool with_moment,
                          const MomentTurn& by, P (&S)[21], P (&f)[6], CarriedColumns<P, N>& columns) {
  see_from_near_end(arm, [&](int a, int b) -> P& { return S[triangle(a, b)]; });
  shift_force(arm, f);
  if constexpr (N > 0) {
    OSIER_UNROLL(6)
    for (auto& column : columns.B) shift_force(arm, column);
  }
  if constexpr (!std::is_same_v<Axes, WorldAxes>) turn_all<N>(transposed(axes.x), transposed(axes.w), S, f, columns);
  if (with_moment) all_with_moment<N>(by, e_w, S, f, columns);
}
/// Brings a single force to the near end, along the springs.
template <class P, class Axes, class MomentTurn>
OSIER_FN void force_to_near_end([[maybe_unused]] const Axes& axes, const Vec3<P>& arm, bool with_moment, const MomentTurn& by,
                                P (&f)[6]) {
  shift_force(arm, f);
  if constexpr (!std::is_same_v<Axes, WorldAxes>) turn_six(transposed(axes.x), transposed(axes.w), f);
  if (with_moment) force_with_moment(by, f);
}

/// The steps of an elimination. They are kept for rows with an axis that may have no stiffness, which only the steps lead back
/// from.
template <class P, int N>
struct KeptSteps {
  P row[6][6], gain[6], f[6], B[6][N], e[6];
};
template <class P>
struct KeptSteps<P, 0> {
  P row[6][6], gain[6], f[6], e[6];
};

/// Puts one axis of the link in series with S, f and the columns.
template <int N, class P>
OSIER_FN void eliminate(int j, P c, P (&S)[21], P (&f)[6], [[maybe_unused]] CarriedColumns<P, N>& columns,
                        KeptSteps<P, N>* keep) {
  P row[6];
  const P g = eliminate_spring(
      j, c, [&](int a, int b) -> P& { return S[triangle(a, b)]; }, row);
  const P fj = pass_spring(j, g, row, f);
  if (keep != nullptr) [[unlikely]] {
    for (int a = 0; a < 6; ++a) keep->row[j][a] = row[a];
    keep->gain[j] = g, keep->f[j] = fj;
  }
  if constexpr (N > 0) {
    P along[N];
    OSIER_UNROLL(6)
    for (int m = 0; m < N; ++m) {
      along[m] = pass_spring(j, g, row, columns.B[m]);
      const P gb = g * along[m];
      OSIER_UNROLL(6)
      for (int n = 0; n <= m; ++n) columns.D[triangle(m, n)] += gb * along[n];
      columns.d[m] += gb * fj;
    }
    if (keep != nullptr) [[unlikely]]
      for (int m = 0; m < N; ++m) keep->B[j][m] = along[m];
  }
}

/// Puts all six axes in series, and the strains: f becomes f + S e, the force through the link if the parent does not move.
template <int N, class P, template <class> class Law>
OSIER_FN void eliminate_link(const LinkRow<P, Law>& r, const Vec3<P>& e_x, const Vec3<P>& e_w, P (&S)[21], P (&f)[6],
                             [[maybe_unused]] CarriedColumns<P, N>& columns, KeptSteps<P, N>* keep) {
  eliminate<N>(0, r.compliance(0), S, f, columns, keep);
  eliminate<N>(1, r.compliance(1), S, f, columns, keep);
  eliminate<N>(2, r.compliance(2), S, f, columns, keep);
  eliminate<N>(3, r.compliance(3), S, f, columns, keep);
  eliminate<N>(4, r.compliance(4), S, f, columns, keep);
  eliminate<N>(5, r.compliance(5), S, f, columns, keep);
  const P e[6] = {e_x.x, e_x.y, e_x.z, e_w.x, e_w.y, e_w.z};
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) {
    P sum = f[a];
    OSIER_UNROLL(6)
    for (int b = 0; b < 6; ++b) sum += S[triangle(a, b)] * e[b];
    f[a] = sum;
  }
  if (keep != nullptr) [[unlikely]]
    for (int a = 0; a < 6; ++a) keep->e[a] = e[a];
  if constexpr (N > 0) {
    OSIER_UNROLL(6)
    for (int m = 0; m < N; ++m) {
      P sum = columns.d[m];
      OSIER_UNROLL(6)
      for (int a = 0; a < 6; ++a) sum -= columns.B[m][a] * e[a];
      columns.d[m] = sum;
    }
  }
}

/// The displacement z of a node, world axes, whose near end is displaced by y, along the springs; y is used up.
template <class P, class Axes, class MomentTurn>
OSIER_FN void far_end([[maybe_unused]] const Axes& axes, bool with_moment, const MomentTurn& by, const Vec3<P>& arm, P (&y)[6],
                      P (&z)[6]) {
  if (with_moment) {
    const Vec3<P> turned = turn_times(by, Vec3<P>{y[3], y[4], y[5]});
    y[3] = turned.x, y[4] = turned.y, y[5] = turned.z;
  }
  if constexpr (!std::is_same_v<Axes, WorldAxes>) turn_six(axes.x, axes.w, y);
  const Vec3<P> w{y[3], y[4], y[5]};
  const Vec3<P> dx = minus_cross({y[0], y[1], y[2]}, arm, w);
  z[0] = dx.x, z[1] = dx.y, z[2] = dx.z, z[3] = w.x, z[4] = w.y, z[5] = w.z;
}

/// Moves the row so that its near end is displaced by y, along the springs; z receives the node's displacement, world axes.
/// drive(axes) as in add_node(); idle_spin2(w): the square of the part of arm x spin that moves no vertex and
/// is no sign of convergence.
template <class P, template <class> class Law, class MomentTurn, class Drive, class IdleSpin>
OSIER_FN void move_row(LinkRow<P, Law>& r, [[maybe_unused]] const typename Law<P>::Axes& axes, bool with_moment,
                       const MomentTurn& by, const Vec3<P>& arm, P (&y)[6], [[maybe_unused]] bool driven,
                       [[maybe_unused]] const Drive& drive, const IdleSpin& idle_spin2, RowMotion<P>& motion, P (&z)[6]) {
  far_end(axes, with_moment, by, arm, y, z);
  const Vec3<P> dx{z[0], z[1], z[2]}, w{z[3], z[4], z[5]};
  r.u += dx;
  const Quat<P> step = Quat<P>{P(0.5) * w.x, P(0.5) * w.y, P(0.5) * w.z, P(1)} * r.turn;
  r.turn = inverse_sqrt(norm2(step)) * step;
  if constexpr (Law<P>::kOwnAxes)
    if (driven) motion.work += dot(drive(axes), w);
  const P arm2 = norm2(arm);
  const MaskOf<P> present = arm2 > P(0);
  const P w2 = norm2(w);
  motion.turn2 = larger(motion.turn2, select(present, w2, P(0)));
  const P bent2 = arm2 * w2 - idle_spin2(w);
  // This is 0, or NaN if the row's motion is NaN: a sum keeps a NaN, while larger() would lose it with the next row.
  const P or_nan = P(0) * (motion.move2 + (norm2(dx) + w2));
  motion.move2 = larger(motion.move2, select(present, larger(norm2(dx), bent2), P(0))) + or_nan;
  motion.motion2 = larger(motion.motion2, select(present, norm2(r.u), P(0)));
}

}  // namespace osier::systems
