// The linear system of one iteration of chains: rows of links are linearised and factored from the tail up, and solved from the
// head down for any right-hand side, any number of times. Every lane is a strand, or a piece of one long chain; on a graphics
// card a strand is a thread (Rows below).
//
// Row i of a lane is segment i with its far vertex i + 1. On the way up from the tail, S and f are the stiffness and force on row
// i - 1; on the way down from the head the corrections follow (linalg/link_algebra.hpp). A row keeps S after its link has been
// put in series: with the compliances C of the link, S = S0 (1 + C S0)^-1, and any force passes the link as
//
//   up     f <- f - S C f,   o = C f             S0 and f0 of the subtree, o: how the row moves if its parent stays
//   down   y = zeta + o - C S zeta               zeta: displacement of the parent, y: of the near end
//
// A tail that is held, or that continues in the next lane, is an unknown force lambda on the last row: six columns B are carried
// along with f,
//
//   Phi(zeta, lambda) = 1/2 zeta.S zeta - (f + B lambda).zeta - 1/2 lambda.D lambda - d.lambda
//
// and close() finds lambda, lane by lane in double: stiffness and force from the last piece to the first, and back again the
// displacements where pieces meet. Columns are kept at the head only: once lambda is known, it is carried up the rows as one more
// force. B lambda is a small difference where links are soft, (1 - S C) in every row, so that only the change of lambda is
// carried up; lambda of the iteration before is among the known forces.
//
// Rows holds the rows and the data for linearising them. ChainRows does so for lanes (chain_rows.hpp), StrandRows for one thread
// per strand (strand_rows.hpp):
//
//   Number, Link, Row               the number type P, the law, ChainLinkRow of both
//   count(), segments(k), is_cut()  rows of the longest lane, segments of lane k, whether the chain continues in lane k + 1
//   head                            ChainHead
//   load(i)                         a row to work on, by reference or by value
//   store_linearised(i, row), store_raised(i, row), store_moved(i, row, z)
//                                   what has changed of it, back: by linearise(), by forces at the tails (own_motion, own_force),
//                                   by advance() (u, turn; z is how far the node has moved)
//   is_bent(i), set_bent(i, b)      whether the row's joints are bent so far that their moments matter
//   springs(i), force(i), drive(i)  constants that rows do not keep; the force in the last solve; torques
//   keep_force(i, f)                the force of this solve
#pragma once

#include "linalg/small_ldl.hpp"
#include "solvers/systems/chains/chain_close.hpp"
#include "solvers/systems/chains/link_row.hpp"

namespace osier::systems {

/// The frame of a row at the start of the step, where the law needs it.
template <class P, bool kKept>
struct FrameAtStart {
  Quat<P> frame0;
};
template <class P>
struct FrameAtStart<P, false> {};

template <class P, template <class> class Law>
struct ChainLinkRow : LinkRow<P, Law>, FrameAtStart<P, Law<P>::kOwnAxes> {
  // The factor and the first right-hand side, along the axes of the law:
  P own_motion[6];               ///< C f - e, with f + S e in place of f: motion of the near end if the parent does not move
  P own_force[Law<P>::kForces];  ///< force through the link if the parent does not move
  P S[21];                       ///< lower triangle, row by row
};

/// The head of each lane, before its first row: the first vertex, and the frame that the first link is joined to.
template <class P>
struct ChainHead {
  Vec3<P> u, rhs;                  ///< of the first vertex: displacement, m v_t/h + f
  P weight;                        ///< m/h^2 + c/h
  Quat<P> turn;                    ///< turn of the frame since the start of the step
  Quat<P> frame0;                  ///< rotation of the frame at the start, only where the law needs it
  P free_spin;                     ///< 1 where the first frame may turn freely about its own axis
  P spin_stiffness;                ///< regularisation of that frame: a millionth of the stiffness of the next joint
  bool spins;                      ///< free_spin in any lane
  bool held[lanes_of<P>];          ///< whether the vertex is held
  bool tail_held[lanes_of<P>][2];  ///< whether the last node is held: position, rotation
};

/// Extra stiffness on vertices, such as that of contact: 3 x 3 blocks by their lower triangles, number c of row i, which is on
/// its far vertex, at row[(6 i + c) width + lane]; `head`: those on the first vertices.
template <class P>
struct VertexBlocks {
  const ScalarOf<P>*row, *head;
  Index width = lanes_of<P>;
  /// The triangle of S begins with that of its position block.
  OSIER_FN void add(Index i, P (&S)[21]) const {
    for (int c = 0; c < 6; ++c) S[c] += load_lanes<P>(row + (static_cast<std::ptrdiff_t>(i) * 6 + c) * width);
  }
  OSIER_FN void add_head(P (&block)[6]) const {
    for (int c = 0; c < 6; ++c) block[c] += load_lanes<P>(head + static_cast<std::ptrdiff_t>(c) * width);
  }
};
struct NoBlocks {
  template <class P>
  OSIER_FN void add(Index, P (&)[21]) const {}
  template <class P>
  OSIER_FN void add_head(P (&)[6]) const {}
};

/// Forces on the nodes of a chain, or their displacements: six numbers for each row, position before rotation, and three for the
/// first vertex. They lie like those of VertexBlocks.
template <class P>
struct ChainField {
  ScalarOf<P>*row, *head;
  Index width = lanes_of<P>;
  OSIER_FN void load(Index i, P (&v)[6]) const {
    for (int a = 0; a < 6; ++a) v[a] = load_lanes<P>(at(i, a));
  }
  OSIER_FN void store(Index i, const P (&v)[6]) const {
    for (int a = 0; a < 6; ++a) store_lanes(v[a], at(i, a));
  }
  OSIER_FN Vec3<P> load_head() const {
    return {load_lanes<P>(head), load_lanes<P>(head + width), load_lanes<P>(head + 2 * width)};
  }
  OSIER_FN void store_head(const Vec3<P>& v) const {
    store_lanes(v.x, head);
    store_lanes(v.y, head + width);
    store_lanes(v.z, head + 2 * width);
  }

 private:
  OSIER_FN ScalarOf<P>* at(Index i, int a) const { return row + (static_cast<std::ptrdiff_t>(i) * 6 + a) * width; }
};

/// What linearise() leaves of a chain, or of a piece of one, beside its rows, where there are columns for its tail. On a graphics
/// card it waits in memory between kernels.
template <class P>
struct FactoredHead {
  P S[21], f[6];  ///< of the whole lane
  P block[6];     ///< extra stiffness on the first vertex
  P lambda[6];    ///< the force at the tail that f and d contain
  CarriedColumns<P, 6> tail;
  KeptSteps<P, 6> steps;  ///< of the first link
};

template <class Rows>
class ChainFactor {
 public:
  using P = typename Rows::Number;
  using Link = typename Rows::Link;
  using Row = typename Rows::Row;
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr double kBent = 0.01;  ///< angle of a joint from which on its moment is taken into account [rad]

  Rows rows;
  RowTotals<P> totals;  ///< energy of the state that was linearised, without the first vertex
  RowMotion<P> motion;  ///< motion of the last advance()

  template <class... Arguments>
  OSIER_FN explicit ChainFactor(const Arguments&... arguments) : rows(arguments...) {
    for (P& l : head_.lambda) l = P(0);
  }

  /// Whether a tail is held or continues in the next lane; then kColumns has to be true below.
  OSIER_CALL bool needs_columns() const {
    if (rows.is_cut()) return true;
    for (int k = 0; k < W; ++k)
      if (rows.head.tail_held[k][0] || rows.head.tail_held[k][1]) return true;
    return false;
  }

  /// Linearises and factors all rows from the last to the first, with the residual at the present displacement as the right-hand
  /// side. The fused step continues with solve_residual() and advance().
  template <bool kColumns, bool kDamped, class Blocks = NoBlocks>
  OSIER_CALL void linearise(const Blocks& blocks = {});
  /// Finds the displacement of the first vertex and the forces at the tails, for the residual.
  template <bool kColumns>
  OSIER_CALL void solve_residual();
  /// Moves all rows by the solution for the residual, from the first to the last.
  template <bool kColumns>
  OSIER_CALL void advance();
  /// In the place of solve_residual(), where another kernel knows how the head moves and by how much the force at the tail
  /// changes.
  OSIER_CALL void take_solution(const Vec3<P>& root_x, const Vec3<P>& root_w, const P (&change)[6]) {
    root_x_ = root_x, root_w_ = root_w;
    for (int a = 0; a < 6; ++a) {
      change_[a] = change[a];
      head_.lambda[a] += change[a];
    }
    raise_tails();
  }
  /// Finds displacements z for any forces on the nodes, without moving them. May be called any number of times between
  /// linearise() and advance().
  template <bool kColumns>
  OSIER_CALL void solve(const ChainField<P>& forces, const ChainField<P>& z);
  /// The product H z of the linearised chain, for displacements z of its nodes; `blocks` are those of linearise(). Rigid axes of
  /// links have no finite stiffness and are left out, so z must not strain them. Holds of nodes are left out as well.
  template <class Blocks = NoBlocks>
  OSIER_CALL void product(const ChainField<P>& z, const ChainField<P>& Hz, const Blocks& blocks = {}) const;

  OSIER_FN FactoredHead<P>& factored_head() { return head_; }

  // The parts of solve() and product(), for pieces whose ends other kernels join.

  /// The right-hand side of solve() at the head.
  struct HeadForces {
    P passed[6];  ///< force on the first vertex
    P step[6];    ///< force at every elimination step of the first link
  };
  /// Carries forces on the nodes to the head; z receives the motion of every row but the first if its parent does not move.
  /// `at_tails`: six more forces on the last row of every lane, or null.
  template <bool kColumns, class Forces, class Motion>
  OSIER_CALL HeadForces pass_up(const Forces& forces, const Motion& z, const P* at_tails) const;
  /// Finds the displacements of all nodes from that of the head (root_x, root_w), in place of the numbers that pass_up() left in
  /// z. `change`: the forces at the tails that pass_up() was given, or null.
  template <bool kColumns, class Motion>
  OSIER_CALL void pass_down(const Vec3<P>& root_x, const Vec3<P>& root_w, const HeadForces& forces, const P* change,
                            const Motion& z) const;
  /// The force through the link of row i on its far end, by displacements of its node and of its parent's; on_parent receives
  /// what acts on the parent, with the sign of the far end.
  OSIER_FN void link_force(Index i, const Row& r, const typename Link::Axes& axes, const Vec3<P>& arm, const P (&here)[6],
                           const P (&near)[6], P (&F)[6], P (&on_parent)[6]) const;
  /// The product of the stiffness on the node of row i alone, without that of its link.
  template <class Blocks>
  OSIER_FN void add_node_product(Index i, const Row& r, const typename Link::Axes& axes, const Vec3<P>& arm, const Blocks& blocks,
                                 const P (&here)[6], P (&sum)[6]) const;
  OSIER_FN static typename Link::Axes axes_of(const Row& r) {
    if constexpr (Link::kOwnAxes) return r.axes(r.turn * r.frame0);
    else return {};
  }

 private:
  template <int N, bool kDamped, bool kHead, class Blocks>
  OSIER_FN void factor_row(Index i, P (&S)[21], P (&f)[6], Quat<P>& frame, CarriedColumns<P, N>& columns, const Blocks& blocks);
  template <int N>
  OSIER_FN KeptSteps<P, N>* kept() {
    if constexpr (N > 0) return &head_.steps;
    else return &steps_;
  }
  template <int N>
  OSIER_FN CarriedColumns<P, N>& carried() {
    if constexpr (N > 0) return head_.tail;
    else return no_columns_;
  }
  OSIER_FN Vec3<P> root_displacement(const Vec3<P>& force) const;
  template <class Own, class Known>
  void close(const P (&f)[6], const P (&d)[6], const Own& own, const Known& known);
  OSIER_CALL void raise_tails();
  template <bool kColumns>
  OSIER_FN void head_motion(const P (&z)[6], const P (&e)[6], const P (&f)[6], const P* change, P (&y)[6]) const;
  /// Carries a force through the link of a row; own[a] receives C f.
  OSIER_FN static void pass_link(const Row& r, P (&f)[6], P (&own)[6]) {
    P eased[6];
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) eased[a] = r.compliance(a) * f[a];
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) {
      OSIER_UNROLL(6)
      for (int b = 0; b < 6; ++b) f[a] -= r.S[triangle(a, b)] * eased[b];
      own[a] = r.compliance(a) * f[a];
    }
  }
  /// The force -S z.
  OSIER_FN static void force_of(const Row& r, const P (&z)[6], P (&F)[6]) {
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) F[a] = P(0);
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) {
      OSIER_UNROLL(6)
      for (int b = 0; b < 6; ++b) F[a] -= r.S[triangle(a, b)] * z[b];
    }
  }
  OSIER_FN static OwnFrame<P> own_frame([[maybe_unused]] const Row& r, const Quat<P>& now) {
    if constexpr (Link::kOwnAxes) return {r.frame0, now};
    else return {now, now};
  }
  OSIER_FN P tension(Index i, [[maybe_unused]] const typename Link::Axes& axes, [[maybe_unused]] const Vec3<P>& arm) const {
    if constexpr (Link::kOwnAxes) return larger(dot(axes.x * rows.force(i), arm) * inverse_sqrt(of_arm(arm)), P(0));
    else return rows.force(i).z;
  }
  /// The components of a force along the springs that are kept.
  OSIER_FN static void to_kept([[maybe_unused]] const Vec3<P>& arm, const P (&f)[6], P (&kept)[Link::kForces]) {
    if constexpr (Link::kOwnAxes) kept[0] = f[0], kept[1] = f[1], kept[2] = f[2];
    else kept[0] = dot(Vec3<P>{f[0], f[1], f[2]}, arm) * inverse_sqrt(of_arm(arm));
  }

  FactoredHead<P> head_;
  KeptSteps<P, 0> steps_;  ///< of the first link, where there are no columns
  CarriedColumns<P, 0> no_columns_;
  Vec3<P> root_x_, root_w_;
  P change_[6];  ///< of the forces at the tails, by the last solve
};

template <class Rows>
template <int N, bool kDamped, bool kHead, class Blocks>
OSIER_FN void ChainFactor<Rows>::factor_row(Index i, P (&S)[21], P (&f)[6], [[maybe_unused]] Quat<P>& frame,
                                            CarriedColumns<P, N>& columns, const Blocks& blocks) {
  auto&& r = rows.load(i);
  auto&& before = rows.load(kHead ? 0 : i - 1);
  [[maybe_unused]] Quat<P> frame_near;
  const auto& frame0_near = [&]() -> const Quat<P>& {
    if constexpr (Link::kOwnAxes && !kHead) return before.frame0;
    else return rows.head.frame0;
  }();
  const NearEnd<P> near{kHead ? rows.head.u : before.u, {kHead ? rows.head.turn : before.turn, frame0_near, frame_near}};
  if constexpr (Link::kOwnAxes) frame_near = near.frame.turn * near.frame.start;
  if constexpr (N > 0) {
    for (int k = 0; k < W; ++k)
      if (i == rows.segments(k) - 1)
        for (int m = 0; m < 6; ++m) {
          set_lane(columns.B[m][m], k, T(1));
          set_lane(f[m], k, lane(head_.lambda[m], k));
        }
  }
  rows.add_tail_anchors(i, S, f, totals.energy);
  blocks.add(i, S);
  Vec3<P> e_x, e_w;
  typename Link::Axes axes;
  const Vec3<P> arm = add_node<kDamped>(
      r, rows.springs(i), near, own_frame(r, frame), [&](const auto&) { return rows.force(i); }, rows.is_driven(), rows.drive(i),
      totals, S, f, e_x, e_w, axes);
  add_tension(tension(i, axes, arm), arm, S);
  if constexpr (Link::kOwnAxes) frame = frame_near;
  if constexpr (kHead)
    for (int a = 3; a < 6; ++a) S[triangle(a, a)] += rows.head.spin_stiffness;
  rows.set_bent(i, is_bent(e_w, kBent));
  to_near_end<N>(axes, arm, e_w, rows.is_bent(i), r.moment(), S, f, columns);
  eliminate_link<N>(r, e_x, e_w, S, f, columns, kHead ? kept<N>() : nullptr);
  OSIER_UNROLL(21)
  for (int a = 0; a < 21; ++a) r.S[a] = S[a];
  const P e[6] = {e_x.x, e_x.y, e_x.z, e_w.x, e_w.y, e_w.z};
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) r.own_motion[a] = r.compliance(a) * f[a] - e[a];
  to_kept(arm, f, r.own_force);
  rows.store_linearised(i, r);
  if constexpr (Link::kOwnAxes) turn_all<N>(axes.x, axes.w, S, f, columns);
}

template <class Rows>
template <bool kColumns, bool kDamped, class Blocks>
OSIER_CALL void ChainFactor<Rows>::linearise(const Blocks& blocks) {
  P S[21], f[6];
  for (P& s : S) s = P(0);
  for (P& a : f) a = P(0);
  totals = {P(0), P(0), P(0)};
  constexpr int N = kColumns ? 6 : 0;
  CarriedColumns<P, N>& columns = carried<N>();
  if constexpr (kColumns) {
    for (auto& column : columns.B)
      for (P& b : column) b = P(0);
    for (P& b : columns.D) b = P(0);
    for (P& b : columns.d) b = P(0);
  }
  rows.join_pieces();
  const Index count = rows.count();
  [[maybe_unused]] Quat<P> frame;
  if constexpr (Link::kOwnAxes) {
    auto&& last = rows.load(count - 1);
    frame = last.turn * last.frame0;
  }
  // The first row is done apart: its elimination steps have to be kept, which would take registers from the other rows.
  for (Index i = count; i-- > 1;) {
    factor_row<N, kDamped, false>(i, S, f, frame, columns, blocks);
    rows.fetch_ahead(i);
  }
  factor_row<N, kDamped, true>(0, S, f, frame, columns, blocks);
  rows.fetch_ahead(0);
  rows.stop_fetching();
  for (int a = 0; a < 21; ++a) head_.S[a] = S[a];
  for (int a = 0; a < 6; ++a) head_.f[a] = f[a];
  for (P& b : head_.block) b = P(0);
  blocks.add_head(head_.block);
}

/// Solves a system of 3 x 3 for the first vertex of every lane, where the tails are free.
template <class Rows>
OSIER_FN auto ChainFactor<Rows>::root_displacement(const Vec3<P>& force) const -> Vec3<P> {
  const P weight = rows.head.weight;
  const P a[6] = {(head_.S[0] + weight) + head_.block[0],
                  head_.S[1] + head_.block[1],
                  (head_.S[2] + weight) + head_.block[2],
                  head_.S[3] + head_.block[3],
                  head_.S[4] + head_.block[4],
                  (head_.S[5] + weight) + head_.block[5]};
  P x[3] = {force.x, force.y, force.z};
  Ldl<3, P>(a).solve(x);
  Vec3<P> moved{P(0), P(0), P(0)};
  for (int k = 0; k < W; ++k)
    if (!rows.head.held[k]) set_lanes(moved, k, {lane(x[0], k), lane(x[1], k), lane(x[2], k)});
  return moved;
}

template <class Rows>
template <bool kColumns>
OSIER_CALL void ChainFactor<Rows>::solve_residual() {
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  if constexpr (kColumns) {
    const auto own = [this](int k) {
      return cast<double>(lane_of(rows.head.rhs, k)) -
             static_cast<double>(lane(rows.head.weight, k)) * cast<double>(lane_of(rows.head.u, k));
    };
    close(head_.f, head_.tail.d, own, [this](int a) { return head_.lambda[a]; });
    for (int a = 0; a < 6; ++a) head_.lambda[a] += change_[a];
    raise_tails();
  } else {
    bool any_free = false;
    for (int k = 0; k < W; ++k) any_free = any_free || !rows.head.held[k];
    if (!any_free) return;
    const Vec3<P> f{head_.f[0], head_.f[1], head_.f[2]};
    root_x_ = root_displacement(f + rows.head.rhs - rows.head.weight * rows.head.u);
  }
}

/// Finds the displacements at the heads (root_x_, root_w_) and the changes of the forces at the tails (change_). known(a): forces
/// at the tails that are part of f and d of Phi; own(k): force on the first vertex of lane k.
template <class Rows>
template <class Own, class Known>
void ChainFactor<Rows>::close(const P (&f)[6], const P (&d)[6], const Own& own, const Known& known) {
  ChainPiece pieces[W];
  double z[W][6], change[W][6];
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  for (P& c : change_) c = P(0);
  const auto number = [](const P& x, int k) { return static_cast<double>(lane(x, k)); };
  for (int first = 0; first < W;) {
    int count = 1;
    if (rows.is_cut())
      while (first + count < W && rows.segments(first + count) > 0) ++count;
    if (rows.segments(first) > 0) {
      for (int p = 0; p < count; ++p) {
        const int k = first + p;
        for (int a = 0; a < 21; ++a) {
          pieces[p].S[a] = number(head_.S[a], k);
          pieces[p].D[a] = number(head_.tail.D[a], k);
        }
        for (int a = 0; a < 6; ++a) {
          pieces[p].f[a] = number(f[a], k);
          pieces[p].d[a] = number(d[a], k);
          pieces[p].known[a] = number(known(a), k);
          for (int c = 0; c < 6; ++c) pieces[p].B[c][a] = number(head_.tail.B[c][a], k);
        }
      }
      const int last = first + count - 1;
      const bool(&tail)[2] = rows.head.tail_held[last];
      ChainEnds ends{rows.head.held[first], number(rows.head.weight, first), {}, {}, {tail[0], tail[1]}};
      const Vec3d force = own(first);
      ends.root_force[0] = force.x, ends.root_force[1] = force.y, ends.root_force[2] = force.z;
      for (int a = 0; a < 6; ++a) ends.root_block[a] = number(head_.block[a], first);
      close_pieces(pieces, count, ends, z, change);
      for (int p = 0; p < count; ++p) {
        set_lanes(root_x_, first + p, {T(z[p][0]), T(z[p][1]), T(z[p][2])});
        set_lanes(root_w_, first + p, {T(z[p][3]), T(z[p][4]), T(z[p][5])});
        for (int a = 0; a < 6; ++a) set_lane(change_[a], first + p, T(change[p][a]));
      }
    }
    first += rows.is_cut() ? W : 1;
  }
}

/// Carries the change of the forces at the tails up through every row.
template <class Rows>
OSIER_CALL void ChainFactor<Rows>::raise_tails() {
  P f[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
  for (Index i = rows.count(); i-- > 0;) {
    auto&& r = rows.load(i);
    for (int k = 0; k < W; ++k)
      if (i == rows.segments(k) - 1)
        for (int a = 0; a < 6; ++a) set_lane(f[a], k, lane(change_[a], k));
    const Vec3<P> arm = arm_now(r);
    const auto axes = axes_of(r);
    force_to_near_end(axes, arm, rows.is_bent(i), r.moment(), f);
    P own[6];
    pass_link(r, f, own);
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) r.own_motion[a] += own[a];
    P kept[Link::kForces];
    to_kept(arm, f, kept);
    for (int a = 0; a < Link::kForces; ++a) r.own_force[a] += kept[a];
    rows.store_raised(i, r);
    if constexpr (Link::kOwnAxes) turn_six(axes.x, axes.w, f);
  }
}

/// The displacement of the near end of the first row, whose axes may have no stiffness: its elimination steps backwards. `e`:
/// strains; `f`: the force at every step; `change`: additional forces at the tails.
template <class Rows>
template <bool kColumns>
OSIER_FN void ChainFactor<Rows>::head_motion(const P (&z)[6], const P (&e)[6], const P (&f)[6], [[maybe_unused]] const P* change,
                                             P (&y)[6]) const {
  const auto& head = [this]() -> const auto& {
    if constexpr (kColumns) return head_.steps;
    else return steps_;
  }
  ();
  for (int a = 0; a < 6; ++a) y[a] = z[a] - e[a];
  for (int j = 6; j-- > 0;) {
    P left = f[j];
    if constexpr (kColumns)
      for (int m = 0; m < 6; ++m) left += head.B[j][m] * change[m];
    for (int a = 0; a < 6; ++a)
      if (a != j) left -= head.row[j][a] * y[a];
    y[j] = head.row[j][j] * y[j] + head.gain[j] * left;
  }
}

template <class Rows>
template <bool kColumns>
OSIER_CALL void ChainFactor<Rows>::advance() {
  motion = {P(0), P(0), P(0), P(0)};
  P z[6] = {root_x_.x, root_x_.y, root_x_.z, root_w_.x, root_w_.y, root_w_.z};
  rows.move_head(root_x_);
  for (Index i = 0; i < rows.count(); ++i) {
    auto&& r = rows.load(i);
    const auto axes = axes_of(r);
    if constexpr (Link::kOwnAxes) turn_six(transposed(axes.x), transposed(axes.w), z);
    P F[6];  // force by the motion of the parent
    force_of(r, z, F);
    P y[6];
    if (i > 0) {
      OSIER_UNROLL(6)
      for (int a = 0; a < 6; ++a) y[a] = z[a] + (r.own_motion[a] + r.compliance(a) * F[a]);
    } else if constexpr (kColumns) {
      head_motion<true>(z, head_.steps.e, head_.steps.f, change_, y);
    } else {
      head_motion<false>(z, steps_.e, steps_.f, nullptr, y);
    }
    const Vec3<P> arm = arm_now(r);
    P through[Link::kForces];
    to_kept(arm, F, through);
    for (int a = 0; a < Link::kForces; ++a) {
      const P all = r.own_force[a] + through[a];
      rows.keep_force(i, a, Link::kOwnAxes ? all : larger(all, P(0)));
    }
    const auto idle_spin2 = [&](const Vec3<P>& w) {
      if (!rows.head.spins) return P(0);
      const P spin = rows.head.free_spin * dot(w, arm);
      return spin * spin;
    };
    move_row(r, axes, rows.is_bent(i), r.moment(), arm, y, rows.is_driven(), rows.drive(i), idle_spin2, motion, z);
    rows.store_moved(i, r, z);
  }
}

template <class Rows>
template <bool kColumns, class Forces, class Motion>
OSIER_CALL auto ChainFactor<Rows>::pass_up(const Forces& forces, const Motion& z, const P* at_tails) const -> HeadForces {
  HeadForces out;
  P f[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
  for (Index i = rows.count(); i-- > 0;) {
    auto&& r = rows.load(i);
    P here[6];
    forces.load(i, here);
    for (int a = 0; a < 6; ++a) f[a] += here[a];
    if (at_tails != nullptr)
      for (int k = 0; k < W; ++k)
        if (i == rows.segments(k) - 1)
          for (int a = 0; a < 6; ++a) set_lane(f[a], k, lane(f[a], k) + lane(at_tails[a], k));
    const auto axes = axes_of(r);
    force_to_near_end(axes, arm_now(r), rows.is_bent(i), r.moment(), f);
    if (i > 0) {
      P own[6];
      pass_link(r, f, own);
      z.store(i, own);
    } else {
      const auto& head = [this]() -> const auto& {
        if constexpr (kColumns) return head_.steps;
        else return steps_;
      }
      ();
      for (int j = 0; j < 6; ++j) out.step[j] = pass_spring(j, head.gain[j], head.row[j], f);
    }
    if constexpr (Link::kOwnAxes) turn_six(axes.x, axes.w, f);
  }
  for (int a = 0; a < 6; ++a) out.passed[a] = f[a];
  return out;
}

template <class Rows>
template <bool kColumns, class Motion>
OSIER_CALL void ChainFactor<Rows>::pass_down(const Vec3<P>& root_x, const Vec3<P>& root_w, const HeadForces& forces,
                                             const P* change, const Motion& z) const {
  P moved[6] = {root_x.x, root_x.y, root_x.z, root_w.x, root_w.y, root_w.z};
  const P none[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
  z.store_head(root_x);
  for (Index i = 0; i < rows.count(); ++i) {
    auto&& r = rows.load(i);
    const auto axes = axes_of(r);
    if constexpr (Link::kOwnAxes) turn_six(transposed(axes.x), transposed(axes.w), moved);
    P y[6];
    if (i > 0) {
      P F[6], own[6];
      force_of(r, moved, F);
      z.load(i, own);
      for (int a = 0; a < 6; ++a) y[a] = moved[a] + (own[a] + r.compliance(a) * F[a]);
    } else {
      head_motion<kColumns>(moved, none, forces.step, change, y);
    }
    far_end(axes, rows.is_bent(i), r.moment(), arm_now(r), y, moved);
    z.store(i, moved);
  }
}

template <class Rows>
template <bool kColumns>
OSIER_CALL void ChainFactor<Rows>::solve(const ChainField<P>& forces, const ChainField<P>& z) {
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  const Vec3<P> own = forces.load_head();
  const HeadForces up = pass_up<kColumns>(forces, z, nullptr);
  if constexpr (kColumns) {
    // d is the motion of the tails if the heads do not move; then the forces that hold or join the tails are carried up.
    const P none[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
    pass_down<true>(root_x_, root_w_, up, none, z);
    P d[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
    for (int k = 0; k < W; ++k) {
      if (rows.segments(k) == 0) continue;
      P last[6];
      z.load(rows.segments(k) - 1, last);
      for (int a = 0; a < 6; ++a) set_lane(d[a], k, lane(last[a], k));
    }
    close(
        up.passed, d, [&](int k) { return cast<double>(lane_of(own, k)); }, [](int) { return P(0); });
    const HeadForces with_tails = pass_up<true>(forces, z, change_);
    pass_down<true>(root_x_, root_w_, with_tails, none, z);
  } else {
    root_x_ = root_displacement(Vec3<P>{up.passed[0], up.passed[1], up.passed[2]} + own);
    pass_down<false>(root_x_, root_w_, up, nullptr, z);
  }
}

template <class Rows>
OSIER_FN void ChainFactor<Rows>::link_force(Index i, const Row& r, const typename Link::Axes& axes, const Vec3<P>& arm,
                                            const P (&here)[6], const P (&near)[6], P (&F)[6], P (&on_parent)[6]) const {
  // The force follows from the strain along the springs: y of the near end less that of the parent.
  const Vec3<P> dx = plus_cross({here[0], here[1], here[2]}, arm, {here[3], here[4], here[5]});
  P y[6] = {dx.x, dx.y, dx.z, here[3], here[4], here[5]}, from[6];
  for (int a = 0; a < 6; ++a) from[a] = near[a];
  if constexpr (Link::kOwnAxes) {
    turn_six(transposed(axes.x), transposed(axes.w), y);
    turn_six(transposed(axes.x), transposed(axes.w), from);
  }
  const auto moment = r.moment();
  if (rows.is_bent(i)) {
    const Vec3<P> w = inverse_of(moment, Vec3<P>{y[3], y[4], y[5]});
    y[3] = w.x, y[4] = w.y, y[5] = w.z;
  }
  for (int a = 0; a < 6; ++a) {
    const P c = r.compliance(a);
    F[a] = select(c > P(0), inverse(c), P(0)) * (y[a] - from[a]);
    on_parent[a] = F[a];
  }
  if constexpr (Link::kOwnAxes) turn_six(axes.x, axes.w, on_parent);
  if (rows.is_bent(i)) {
    const Vec3<P> w = inverse_transposed_of(moment, Vec3<P>{F[3], F[4], F[5]});
    F[3] = w.x, F[4] = w.y, F[5] = w.z;
  }
  if constexpr (Link::kOwnAxes) turn_six(axes.x, axes.w, F);
  const Vec3<P> couple = minus_cross({F[3], F[4], F[5]}, arm, {F[0], F[1], F[2]});
  F[3] = couple.x, F[4] = couple.y, F[5] = couple.z;
}

template <class Rows>
template <class Blocks>
OSIER_FN void ChainFactor<Rows>::add_node_product(Index i, const Row& r, const typename Link::Axes& axes, const Vec3<P>& arm,
                                                  const Blocks& blocks, const P (&here)[6], P (&sum)[6]) const {
  P S[21], unused[6], energy(0);
  for (P& x : S) x = P(0);
  for (P& x : unused) x = P(0);
  rows.add_tail_anchors(i, S, unused, energy);
  blocks.add(i, S);
  for (int a = 0; a < 3; ++a) S[triangle(a, a)] += r.weight;
  add_tension(tension(i, axes, arm), arm, S);
  if (i == 0)
    for (int a = 3; a < 6; ++a) S[triangle(a, a)] += rows.head.spin_stiffness;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b) sum[a] += S[triangle(a, b)] * here[b];
}

template <class Rows>
template <class Blocks>
OSIER_CALL void ChainFactor<Rows>::product(const ChainField<P>& z, const ChainField<P>& Hz, const Blocks& blocks) const {
  P near[6] = {P(0), P(0), P(0), P(0), P(0), P(0)}, sum[6];
  const Vec3<P> root = z.load_head();
  near[0] = root.x, near[1] = root.y, near[2] = root.z;
  {
    P block[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
    blocks.add_head(block);
    for (int a = 0; a < 3; ++a) {
      sum[a] = rows.head.weight * near[a];
      for (int b = 0; b < 3; ++b) sum[a] += block[triangle(a, b)] * near[b];
    }
  }
  for (Index i = 0; i < rows.count(); ++i) {
    auto&& r = rows.load(i);
    const auto axes = axes_of(r);
    const Vec3<P> arm = arm_now(r);
    P here[6], F[6], on_parent[6];
    z.load(i, here);
    link_force(i, r, axes, arm, here, near, F, on_parent);
    // With the share of the parent, that row is complete.
    for (int a = 0; a < 6; ++a) {
      if (i == 0 && a >= 3) break;
      sum[a] -= on_parent[a];
    }
    if (i == 0) Hz.store_head({sum[0], sum[1], sum[2]});
    else Hz.store(i - 1, sum);
    for (int a = 0; a < 6; ++a) sum[a] = F[a];
    add_node_product(i, r, axes, arm, blocks, here, sum);
    for (int a = 0; a < 6; ++a) near[a] = here[a];
  }
  Hz.store(rows.count() - 1, sum);
}

}  // namespace osier::systems
