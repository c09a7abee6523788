// One row of links in lanes, on the way up and on the way down: what chains (chain_step.hpp) and trees (forest_step.hpp) do
// alike.
//
// Everything is measured from the start of the step, so that float keeps its digits for what happens within the step:
//
//   u        displacement of a vertex, x = x_t + u
//   turn     dq = q conj(q_t), a small rotation; its imaginary part has full relative precision
//   strain   p - axis = (p_t - axis_t) + (u_b - u_a)/l - (dq axis_t dq' - axis_t), the first bracket formed in double
#pragma once

#include "energies/stretch_shear.hpp"
#include "exec/lanes.hpp"
#include "solvers/first_guess.hpp"
#include "solvers/systems/chains/chain_law.hpp"
#include "solvers/systems/tree/link_algebra.hpp"

namespace osier::systems {

constexpr int packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/// Law: IsotropicLink or AnisotropicLink.
template <class P, template <class> class Law>
struct LinkRow : Law<P> {
  // Of the step.
  Vec3<P> arm0, stretch0;  ///< l axis_t and l (p_t - axis_t); 0 in lanes without a segment
  Vec3<P> rhs;             ///< m v_t/h + f of the far vertex
  P weight;                ///< m/h^2 + c/h of the far vertex
  // Of the iteration.
  Vec3<P> u;
  Quat<P> turn;

  /// How far the far vertex would go if nothing were elastic, squared [m^2].
  OSIER_FN P free_motion2() const { return select(weight > P(0), norm2(inverse(weight) * rhs), P(0)); }
};

/// The parent of each lane.
template <class P>
struct NearEnd {
  const Vec3<P>& u;
  NearFrame<P> frame;
};
/// The row's own frame, at the start and now, where the law asks for it.
template <class P>
struct OwnFrame {
  const Quat<P>&start, &now;
};

/// Sums over rows.
template <class P>
struct RowTotals {
  P energy, gained;
  P room;  ///< negative: a pole should change, which the law cannot do within a step
};
/// Largest values over rows, and the work of torques.
template <class P>
struct RowMotion {
  P turn2, move2, motion2, work;
};

/// Forces that are not known yet, six numbers each, carried along with f.
template <class P, int N>
struct CarriedColumns {
  P B[N][6];  ///< [column][component]
  P D[N * (N + 1) / 2], d[N];
};
template <class P>
struct CarriedColumns<P, 0> {};

/// dq q, a unit again: both factors are units to within rounding, so one step of Newton's method for 1/sqrt is exact.
template <class D>
OSIER_FN Quat<D> turned(const Quat<D>& dq, const Quat<D>& q) {
  const Quat<D> product = dq * q;
  return (D(1.5) - D(0.5) * norm2(product)) * product;
}

/// The torques on frames, world axes: one fixed in the world, and one that turns with them. here(k): lane k has a segment.
template <class P, class Segment, class Here>
[[gnu::noinline]] Vec3<P> torques(const Vec3d* fixed, const Vec3d* turning, const Mat3<P>& axes, const Segment& segment,
                                  const Here& here) {
  using T = ScalarOf<P>;
  Vec3<P> world{P(0), P(0), P(0)}, material = world;
  for (int k = 0; k < lanes_of<P>; ++k) {
    if (!here(k)) continue;
    set_lanes(world, k, cast<T>(fixed[segment(k)])), set_lanes(material, k, cast<T>(turning[segment(k)]));
  }
  return world + axes * material;
}

/// dq a dq' - a for a small turn, without cancellation.
template <class P>
OSIER_FN Vec3<P> change_by(const Quat<P>& turn, const Vec3<P>& a) {
  const Vec3<P> v = imag(turn);
  const Vec3<P> t = P(2) * cross(v, a);
  return turn.w * t + cross(v, t);
}

template <class P, template <class> class Law>
OSIER_FN Vec3<P> arm_now(const LinkRow<P, Law>& r) {
  return r.arm0 + change_by(r.turn, r.arm0);
}

/// The far vertex: its mass, and what acts on it.
template <class P, template <class> class Law>
OSIER_FN void set_inertia(LinkRow<P, Law>& r, P mass, const Vec3<P>& velocity, const Vec3<P>& force, P damping, double h) {
  using T = ScalarOf<P>;
  const P inverse_h(static_cast<T>(1 / h)), inverse_h2(static_cast<T>(1 / (h * h)));
  r.rhs = force + (mass * inverse_h) * velocity;
  r.weight = mass * inverse_h2 + inverse_h * damping;
}

/// Strains e along the springs, and what acts on the node alone added to S and f. force(axes): that through the link in the last
/// solve, along its springs; drive(axes): the torques on its frame, if it is `driven`. Returns the arm as it is now.
template <bool kDamped, class P, template <class> class Law, class Force, class Drive>
OSIER_FN Vec3<P> add_node(LinkRow<P, Law>& r, const typename Law<P>::Springs& springs, const NearEnd<P>& near,
                          const OwnFrame<P>& frame, const Force& force, bool driven, const Drive& drive, RowTotals<P>& totals,
                          P (&S)[21], P (&f)[6], Vec3<P>& e_x, Vec3<P>& e_w, typename Law<P>::Axes& axes) {
  const Vec3<P> delta = change_by(r.turn, r.arm0);
  const Vec3<P> arm = r.arm0 + delta;
  e_x = r.stretch0 + (r.u - near.u) - delta;
  P stretched, bent;
  if constexpr (Law<P>::kOwnAxes) {
    Vec3<P> couple = r.template strain<kDamped>(springs, r.turn, near.frame, frame.start, frame.now, force, e_x, e_w, axes,
                                                stretched, bent, totals.room);
    if (driven) couple += drive(axes);
    f[3] += couple.x, f[4] += couple.y, f[5] += couple.z;
  } else {
    r.template strain<kDamped>(springs, r.turn, near.frame, frame.start, frame.now, force, e_x, e_w, axes, stretched, bent,
                               totals.room);
  }
  const P moved = (P(0.5) * r.weight) * norm2(r.u), done = dot(r.rhs, r.u);
  totals.energy += stretched + bent + moved - done;
  totals.gained += larger(done, P(0));
  f[0] = f[0] + r.rhs.x - r.weight * r.u.x;
  f[1] = f[1] + r.rhs.y - r.weight * r.u.y;
  f[2] = f[2] + r.rhs.z - r.weight * r.u.z;
  S[packed(0, 0)] += r.weight, S[packed(1, 1)] += r.weight, S[packed(2, 2)] += r.weight;
  return arm;
}

/// What the tension in a segment does to the turns of its frame: l T (1 - d d^T).
template <class P>
OSIER_FN void add_tension(P tension, const Vec3<P>& arm, P (&S)[21]) {
  const P arm2 = of_arm(arm), across = -tension * inverse_sqrt(arm2), pull = -across * arm2;
  S[packed(3, 3)] += pull + across * arm.x * arm.x;
  S[packed(4, 3)] += across * arm.y * arm.x;
  S[packed(4, 4)] += pull + across * arm.y * arm.y;
  S[packed(5, 3)] += across * arm.z * arm.x;
  S[packed(5, 4)] += across * arm.z * arm.y;
  S[packed(5, 5)] += pull + across * arm.z * arm.z;
}

/// The same of any force n through it, exactly. Unlike tension that is not positive; of what is not, no more than `most` is
/// taken.
template <class P>
OSIER_FN void add_pull(const Vec3<P>& n, const Vec3<P>& arm, P most, P (&S)[21]) {
  const P inverse_arm2 = inverse(of_arm(arm)), along = dot(n, arm);
  const P pull = larger(along, P(0));
  const Vec3<P> rest = n - (pull * inverse_arm2) * arm;
  const P size2 = norm2(rest) * norm2(arm);
  const P share = select(size2 > most * most, most * inverse_sqrt(larger(size2, P(ScalarOf<P>(1e-30)))), P(1));
  const Mat3<P> H = stretch_shear::hessian_ww(P(1), (pull * inverse_arm2) * arm + share * rest, arm);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) S[packed(3 + i, 3 + j)] += H.m[i][j];
}

/// S, f and the columns along other axes: rows of A for position and of B for rotation.
template <int N, class P>
OSIER_FN void turn_all(const Mat3<P>& A, const Mat3<P>& B, P (&S)[21], P (&f)[6],
                       [[maybe_unused]] CarriedColumns<P, N>& columns) {
  turn_axes(A, B, [&](int a, int b) -> P& { return S[packed(a, b)]; });
  turn_six(A, B, f);
  if constexpr (N > 0)
    for (auto& column : columns.B) turn_six(A, B, column);
}

template <class AnyLean, class P>
OSIER_FN void lean_force(const AnyLean& by, P (&v)[6]) {
  const Vec3<P> w = felt_through(by, Vec3<P>{v[3], v[4], v[5]});
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
}
/// What a joint's moment does to them as its frames turn. Where P^T m is not m, f is what makes the link pull its frame by m.
template <int N, class AnyLean, class P>
OSIER_FN void lean_all(const AnyLean& by, [[maybe_unused]] const Vec3<P>& e_w, P (&S)[21], P (&f)[6],
                       [[maybe_unused]] CarriedColumns<P, N>& columns) {
  turn_with_moment(by, [&](int a, int b) -> P& { return S[packed(a, b)]; });
  lean_force(by, f);
  if constexpr (std::is_same_v<AnyLean, Lean<P>>) {
    const Vec3<P> w = plus_cross({f[3], f[4], f[5]}, by.by, e_w);
    f[3] = w.x, f[4] = w.y, f[5] = w.z;
  }
  if constexpr (N > 0)
    for (auto& column : columns.B) lean_force(by, column);
}

/// Whether the moments of joints matter: half of its strain is the factor of convergence that one saves.
template <class P>
OSIER_FN bool is_bent(const Vec3<P>& e_w, double least) {
  return any(norm2(e_w) > P(static_cast<ScalarOf<P>>(least * least)));
}

/// A force on the far end as one on the near end.
template <class P>
OSIER_FN void see_force(const Vec3<P>& arm, P (&v)[6]) {
  const Vec3<P> w = plus_cross({v[3], v[4], v[5]}, arm, {v[0], v[1], v[2]});
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
}

/// S, f and the columns at the near end of the segment, along the springs; `by`: how its joints lean, if they do.
template <int N, class P, class Axes, class AnyLean>
OSIER_FN void to_near_end([[maybe_unused]] const Axes& axes, const Vec3<P>& arm, const Vec3<P>& e_w, bool leans,
                          const AnyLean& by, P (&S)[21], P (&f)[6], CarriedColumns<P, N>& columns) {
  see_from_near_end(arm, [&](int a, int b) -> P& { return S[packed(a, b)]; });
  see_force(arm, f);
  if constexpr (N > 0) {
#pragma GCC unroll 6
    for (auto& column : columns.B) see_force(arm, column);
  }
  if constexpr (!std::is_same_v<Axes, WorldAxes>) turn_all<N>(transposed(axes.x), transposed(axes.w), S, f, columns);
  if (leans) lean_all<N>(by, e_w, S, f, columns);
}
/// One more force by itself.
template <class P, class Axes, class AnyLean>
OSIER_FN void force_to_near_end([[maybe_unused]] const Axes& axes, const Vec3<P>& arm, bool leans, const AnyLean& by, P (&f)[6]) {
  see_force(arm, f);
  if constexpr (!std::is_same_v<Axes, WorldAxes>) turn_six(transposed(axes.x), transposed(axes.w), f);
  if (leans) lean_force(by, f);
}

/// The steps of an elimination, where an axis may have no stiffness and only they lead back.
template <class P, int N>
struct KeptSteps {
  P row[6][6], gain[6], f[6], B[6][N], e[6];
};
template <class P>
struct KeptSteps<P, 0> {
  P row[6][6], gain[6], f[6], e[6];
};

/// One axis of the link in series with S, and with what is carried along.
template <int N, class P>
OSIER_FN void eliminate(int j, P c, P (&S)[21], P (&f)[6], [[maybe_unused]] CarriedColumns<P, N>& columns,
                        KeptSteps<P, N>* keep) {
  P row[6];
  const P g = eliminate_spring(
      j, c, [&](int a, int b) -> P& { return S[packed(a, b)]; }, row);
  const P fj = pass_spring(j, g, row, f);
  if (keep != nullptr) [[unlikely]] {
    for (int a = 0; a < 6; ++a) keep->row[j][a] = row[a];
    keep->gain[j] = g, keep->f[j] = fj;
  }
  if constexpr (N > 0) {
    P along[N];
#pragma GCC unroll 6
    for (int m = 0; m < N; ++m) {
      along[m] = pass_spring(j, g, row, columns.B[m]);
      const P gb = g * along[m];
#pragma GCC unroll 6
      for (int n = 0; n <= m; ++n) columns.D[packed(m, n)] += gb * along[n];
      columns.d[m] += gb * fj;
    }
    if (keep != nullptr) [[unlikely]]
      for (int m = 0; m < N; ++m) keep->B[j][m] = along[m];
  }
}

/// All six, and the strains: f becomes f + S e, the force through the link if the parent stays where it is.
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
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) {
    P sum = f[a];
#pragma GCC unroll 6
    for (int b = 0; b < 6; ++b) sum += S[packed(a, b)] * e[b];
    f[a] = sum;
  }
  if (keep != nullptr) [[unlikely]]
    for (int a = 0; a < 6; ++a) keep->e[a] = e[a];
  if constexpr (N > 0) {
#pragma GCC unroll 6
    for (int m = 0; m < N; ++m) {
      P sum = columns.d[m];
#pragma GCC unroll 6
      for (int a = 0; a < 6; ++a) sum -= columns.B[m][a] * e[a];
      columns.d[m] = sum;
    }
  }
}

/// Moves the row so that its near end is at y, along the springs; z receives its displacement, world axes. drive(axes) as in
/// add_node(); idle_spin2(w): of (arm x spin)^2, what says nothing about the step because no vertex moves with it.
template <class P, template <class> class Law, class AnyLean, class Drive, class IdleSpin>
OSIER_FN void move_row(LinkRow<P, Law>& r, [[maybe_unused]] const typename Law<P>::Axes& axes, bool leans, const AnyLean& by,
                       const Vec3<P>& arm, P (&y)[6], [[maybe_unused]] bool driven, [[maybe_unused]] const Drive& drive,
                       const IdleSpin& idle_spin2, RowMotion<P>& motion, P (&z)[6]) {
  if (leans) {
    const Vec3<P> led = led_by(by, Vec3<P>{y[3], y[4], y[5]});
    y[3] = led.x, y[4] = led.y, y[5] = led.z;
  }
  if constexpr (Law<P>::kOwnAxes) turn_six(axes.x, axes.w, y);
  const Vec3<P> w{y[3], y[4], y[5]};
  const Vec3<P> dx = minus_cross({y[0], y[1], y[2]}, arm, w);
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
  // What is not a number stays none, whatever rows come after it.
  const P unless_none = P(0) * (motion.move2 + (norm2(dx) + w2));
  motion.move2 = larger(motion.move2, select(present, larger(norm2(dx), bent2), P(0))) + unless_none;
  motion.motion2 = larger(motion.motion2, select(present, norm2(r.u), P(0)));
  z[0] = dx.x, z[1] = dx.y, z[2] = dx.z, z[3] = w.x, z[4] = w.y, z[5] = w.z;
}

}  // namespace osier::systems
