// The rows of a group of chains in lanes: loaded from the state at the start of a step, and stored into it at the end. Strains
// are formed in double at the start (link_start.hpp); iterations use single or double precision.
//
// A lane is a strand, or a piece of one long chain that begins where the lane before ends.
#pragma once

#include <algorithm>

#include "exec/lanes.hpp"
#include "exec/unroll.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/chain_prefetch.hpp"
#include "solvers/lanes/step_view.hpp"
#include "solvers/systems/chains/chain_factor.hpp"
#include "solvers/systems/chains/link_start.hpp"
#include "solvers/systems/chains/tail_anchor.hpp"

namespace osier::systems {

using lanes::ChainGroup;
using lanes::kMostLanes;
using lanes::StepView;
using strain_since_start::turned;

/// Rows of a ChainFactor, where the public functions are explained.
template <class P, template <class> class Law>
class ChainRows {
 public:
  using Number = P;
  using Link = Law<P>;
  using Row = ChainLinkRow<P, Law>;
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = (1u << W) - 1u;

  /// The memory of the rows and of two flags for each.
  static std::size_t scratch_bytes(Index rows) {
    return static_cast<std::size_t>(rows + 1) * (sizeof(Row) + 2 * sizeof(bool)) + 64;
  }

  ChainHead<P> head;

  /// A group of chains and its memory. `force`, kept from step to step, has Law::kForces numbers for every row and lane. `next`:
  /// the group after this one, or null.
  struct Group {
    const ChainGroup& chains;
    const ChainGroup* next;
    const T* constants;
    bool damped;
    const StepView& view;
    T* force;
    void* scratch;
  };
  explicit ChainRows(const Group& g)
      : g_(g.chains),
        next_(g.next, g.view, lanes::ChainUse::direct),
        constants_(g.constants),
        force_(g.force),
        view_(g.view),
        damped_(g.damped),
        driven_(Law<P>::kOwnAxes && g.view.torque != nullptr),
        jointed_(true),
        count_(g.chains.cut ? g.chains.rows : g.chains.rows - 1) {
    for (int k = 0; k < W; ++k) jointed_ = jointed_ && g_.jointed[k];
    row_ = static_cast<Row*>(g.scratch);
    plain_ = reinterpret_cast<bool*>(row_ + count_ + 1);
    bent_ = plain_ + count_ + 1;
  }

  /// Loads the rows from the state and makes the first guess of the step: vertices keep their velocities, and frames turn with
  /// their edges.
  void load_step() {
    load();
    carry_along();
  }
  /// Stores the rows into the state, but for the lanes in `except`.
  void store_step(std::uint32_t except);
  /// Sets the forces of some lanes to 0.
  void forget_forces(std::uint32_t lanes);

  Index count() const { return count_; }
  Index segments(int k) const { return g_.segments[k]; }
  bool is_cut() const { return g_.cut; }
  bool is_driven() const { return driven_; }
  bool is_damped() const { return damped_; }
  const StepView& view() const { return view_; }
  double length(int k) const { return length_[k]; }
  double free_motion(int k) const;

  OSIER_FN Row& load(Index i) const { return row_[i]; }
  // Rows are changed in place.
  OSIER_FN void store_linearised(Index, const Row&) const {}
  OSIER_FN void store_raised(Index, const Row&) const {}
  OSIER_FN void store_moved(Index, const Row&, const P (&)[6]) const {}
  OSIER_FN bool is_bent(Index i) const { return bent_[i]; }
  OSIER_FN void set_bent(Index i, bool is) { bent_[i] = is; }
  OSIER_FN typename Law<P>::Springs springs(Index i) const {
    return Law<P>::springs([&](int what) { return constant(i, what); }, P(static_cast<T>(1 / view_.h)), damped_);
  }
  /// The force through the link in the last solve: along the springs where the law has axes of its own, otherwise the tension.
  OSIER_FN Vec3<P> force(Index i) const {
    if constexpr (Law<P>::kOwnAxes)
      return {load_lanes<P>(force_at(i, 0)), load_lanes<P>(force_at(i, 1)), load_lanes<P>(force_at(i, 2))};
    else return {P(0), P(0), load_lanes<P>(force_at(i, 0))};
  }
  OSIER_FN void keep_force(Index i, int a, const P& f) const { store_lanes(f, force_at(i, a)); }
  /// The torques on the frames of row i.
  OSIER_FN auto drive(Index i) const {
    return [this, i](const auto& axes) {
      return torques(
          view_.torque, view_.torque_material, axes.x, [&](int k) { return g_.first_segment[k] + i; },
          [&](int k) { return i < g_.segments[k]; });
    };
  }
  OSIER_FN void add_tail_anchors(Index i, P (&S)[21], P (&f)[6], P& energy) const {
    if (!anchored_tails_) return;
    // The function works on copies, so that the numbers of the recursion have no address and stay in registers.
    P stiffness[6], couple[3] = {f[3], f[4], f[5]};
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) stiffness[a] = S[kRotationEntries[a]];
    tail_anchors(i, stiffness, couple, energy);
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) S[kRotationEntries[a]] = stiffness[a];
    f[3] = couple[0], f[4] = couple[1], f[5] = couple[2];
  }
  /// Sets the head of every piece of a cut chain to the end of the piece before.
  OSIER_FN void join_pieces() {
    if (!g_.cut) return;
    const Row& last = row_[count_ - 1];
    head.u = {from_before(head.u.x, last.u.x), from_before(head.u.y, last.u.y), from_before(head.u.z, last.u.z)};
    head.turn = {from_before(head.turn.x, last.turn.x), from_before(head.turn.y, last.turn.y),
                 from_before(head.turn.z, last.turn.z), from_before(head.turn.w, last.turn.w)};
  }
  OSIER_FN void move_head(const Vec3<P>& by) {
    if (!g_.cut) {
      head.u += by;
    } else {
      set_lanes(head.u, 0, {lane(head.u.x + by.x, 0), lane(head.u.y + by.y, 0), lane(head.u.z + by.z, 0)});
    }
  }
  OSIER_FN void fetch_ahead(Index i) const { next_.row(i); }
  OSIER_FN void stop_fetching() { next_.done(); }

 private:
  using D = typename InDouble<P>::type;
  using Start = LinkStart<Law<P>>;
  static constexpr int kParts = InDouble<P>::parts, D_lanes = InDouble<P>::lanes;
  /// The indices of the rotation block in the lower triangle of S.
  static constexpr int kRotationEntries[6] = {triangle(3, 3), triangle(4, 3), triangle(4, 4),
                                              triangle(5, 3), triangle(5, 4), triangle(5, 5)};

  OSIER_FN P constant(Index i, int what) const {
    const int per_row = lanes::constants_per_row(Law<P>::kLaw, damped_, lanes::ChainUse::direct);
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * per_row + what) * W);
  }
  OSIER_FN T* force_at(Index i, int a) const { return force_ + (static_cast<std::ptrdiff_t>(i) * Law<P>::kForces + a) * W; }
  static Vec3d lane_of(const Vec3<P>& v, int k) { return cast<double>(osier::lane_of(v, k)); }
  static Quatd lane_of(const Quat<P>& q, int k) { return cast<double>(osier::lane_of(q, k)); }
  /// `last` moved from lane k - 1 to lane k; lane 0 keeps `here`.
  OSIER_FN static P from_before(P here, P last) {
    P moved = shifted_up(last);
    set_lane(moved, 0, lane(here, 0));
    return moved;
  }

  void load();
  void load_head();
  void carry_along();
  OSIER_FN typename Law<P>::Damping load_constants(Index i, const typename Law<P>::Springs& springs);
  OSIER_FN bool load_plain(Index i);
  OSIER_FN void store_plain(Index i);
  OSIER_FN void load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping);
  [[gnu::noinline]] void tail_anchors(Index i, P (&stiffness)[6], P (&couple)[3], P& energy) const;

  const ChainGroup& g_;
  lanes::ChainPrefetch<P> next_;
  const T* constants_;
  T* force_;  ///< Law::kForces numbers for every row and lane
  const StepView& view_;
  bool damped_;
  bool driven_;     ///< torques act on frames
  bool jointed_;    ///< no lane is a cable
  Index count_;     ///< segments of the longest lane
  Index shortest_;  ///< segments of the shortest lane
  Row* row_;
  bool* plain_;  ///< rows that have a segment in every lane and no holds
  bool* bent_;   ///< rows whose joints are bent enough for their moments to matter
  double length_[kMostLanes];
  D plain_length_[kParts];      ///< length of all plain rows
  Quat<D> last_frame_[kParts];  ///< frame of the row before, while loading
  bool frames_known_ = false;
  bool anchored_tails_ = false;
  TailAnchor tail_[kMostLanes];
};

/// The constants of a row in the number type of the recursion.
template <class P, template <class> class Law>
OSIER_FN auto ChainRows<P, Law>::load_constants(Index i, const typename Law<P>::Springs& springs) -> typename Law<P>::Damping {
  Row& r = row_[i];
  const auto number = [&](int what) { return constant(i, what); };
  const auto damping = Law<P>::stretch_damping(number, P(static_cast<T>(1 / view_.h)), damped_);
  const P il = constant(i, lanes::kInverseLength);
  r.load_segment(number, select(il > P(0), inverse(il), P(0)), damping);
  r.load_joint(number, springs);
  return damping;
}

/// Loads a plain row, which has a segment in every lane and no holds, by loops over lanes without a branch. Returns false and
/// loads nothing for any other row.
template <class P, template <class> class Law>
OSIER_FN bool ChainRows<P, Law>::load_plain(Index i) {
  if (i == 0 || i >= shortest_) return false;
  Index s[W], b[W];
  unsigned held = 0;
  for (int k = 0; k < W; ++k) {
    s[k] = g_.first_segment[k] + i, b[k] = g_.first_vertex[k] + i + 1;
    held |=
        static_cast<unsigned>(view_.vertex_fixed[b[k]]) | static_cast<unsigned>(view_.frame_control[s[k]] != FrameControl::free);
  }
  if (held != 0 || !jointed_) return false;
  Row& r = row_[i];
  const auto joints = springs(i);
  const auto damping = load_constants(i, joints);
  typename Law<P>::template Start<D> start[kParts];
  Start::begin(start, damping, joints);
  D arm[3][kParts], stretch[3][kParts];
  OSIER_UNROLL(2)
  for (int g = 0; g < kParts; ++g) {
    const auto segment = [&](int k) { return s[g * D_lanes + k]; };
    const auto segment_before = [&](int k) { return s[g * D_lanes + k] - 1; };
    const auto joint = [&](int k) { return g_.first_joint[g * D_lanes + k] + i; };
    const auto far = [&](int k) { return b[g * D_lanes + k]; };
    const auto near = [&](int k) { return b[g * D_lanes + k] - 1; };
    const Quat<D> q = gather<D>(view_.rotation, segment);
    const Quat<D> before = frames_known_ ? last_frame_[g] : gather<D>(view_.rotation, segment_before);
    last_frame_[g] = q;
    const D l = gather<D>(view_.rest_length, segment);
    start[g].form(q, before, gather<D>(view_.joint_rest, joint), gather_difference<D>(view_.position, far, near), l);
    const SegmentStart<D>& segment_of = start[g].segment;
    plain_length_[g] += l;
    arm[0][g] = segment_of.arm.x, arm[1][g] = segment_of.arm.y, arm[2][g] = segment_of.arm.z;
    stretch[0][g] = segment_of.stretch.x, stretch[1][g] = segment_of.stretch.y, stretch[2][g] = segment_of.stretch.z;
  }
  frames_known_ = true;
  const auto far = [&](int k) { return b[k]; };
  const P h(static_cast<T>(view_.h));
  r.arm0 = {narrow<P>(arm[0]), narrow<P>(arm[1]), narrow<P>(arm[2])};
  r.stretch0 = {narrow<P>(stretch[0]), narrow<P>(stretch[1]), narrow<P>(stretch[2])};
  Start::take(start, r);
  if constexpr (Law<P>::kOwnAxes) r.frame0 = gather<P>(view_.rotation, [&](int k) { return s[k]; });
  r.turn = {P(0), P(0), P(0), P(1)};
  const Vec3<P> v = gather<P>(view_.velocity, far);
  r.u = h * v;
  load_inertia(i, v, gather<P>(view_.force, far), gather<P>(view_.damping, far));
  return true;
}

template <class P, template <class> class Law>
OSIER_FN void ChainRows<P, Law>::load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping) {
  // The mass of the far vertex stands in the next row, or in the first row of the next lane.
  P m = i + 1 < g_.rows ? constant(i + 1, lanes::kMass) : P(0);
  if (g_.cut && i + 1 == count_) m = shifted_down(constant(0, lanes::kMass)), set_lane(m, W - 1, T(0));
  set_inertia(row_[i], m, velocity, force, damping, view_.h);
}

template <class P, template <class> class Law>
void ChainRows<P, Law>::load() {
  const double h = view_.h;
  const Vec3d* x = view_.position;
  for (int k = 0; k < W; ++k) {
    length_[k] = 0;
    head.held[k] = true;
    head.tail_held[k][0] = head.tail_held[k][1] = false;
  }
  shortest_ = count_;
  for (int k = 0; k < W; ++k) shortest_ = std::min(shortest_, g_.segments[k]);
  load_head();
  for (D& sum : plain_length_) sum = D(0);
  frames_known_ = false;
  for (Index i = 0; i < count_; ++i) {
    Row& r = row_[i];
    plain_[i] = load_plain(i);
    if (plain_[i]) continue;
    frames_known_ = false;
    const auto joints = springs(i);
    const auto stretch_damping = load_constants(i, joints);
    Vec3<P> velocity, force;
    P damping;
    for (int k = 0; k < W; ++k) {
      const bool here = i < g_.segments[k];
      const Index s = g_.first_segment[k] + (here ? i : 0), a = g_.first_vertex[k] + (here ? i : 0), b = a + (here ? 1 : 0);
      const Quatd q = view_.rotation[s];
      const double l = here ? view_.rest_length[s] : 0;
      auto start = Start::begin_lane(k, stretch_damping, joints);
      if (here) {
        const Index before = i > 0 || (g_.cut && k > 0) ? s - 1 : g_.head[k];
        const Index joint = i > 0 || (g_.cut && k > 0) ? g_.first_joint[k] + i : g_.head_joint[k];
        const bool jointed = before >= 0 && joint >= 0 && lane(r.joint_stiffness(), k) > 0;
        Quatd rest = jointed ? view_.joint_rest[joint] : Quatd{};
        if (jointed && view_.joint_frames[joint][1] != s) rest = conj(rest);
        start.form(q, jointed ? view_.rotation[before] : q, rest, x[b] - x[a], l);
      } else {
        r.replace_joint(k, T(0));  // the joint of this row leads to an anchor
      }
      set_lanes(r.arm0, k, cast<T>(start.segment.arm)), set_lanes(r.stretch0, k, cast<T>(start.segment.stretch));
      Start::take_lane(k, start, r);
      if constexpr (Law<P>::kOwnAxes) set_lanes(r.frame0, k, cast<T>(here ? q : Quatd{}));
      const bool fixed = here && view_.frame_control[s] == FrameControl::fixed;
      set_lanes(r.turn, k, cast<T>(fixed ? turn_between(q, view_.frame_target[s]) : Quatd{}));
      set_lanes(r.u, k, cast<T>(view_.vertex_fixed[b] ? view_.vertex_target[b] - x[b] : h * view_.velocity[b]));
      set_lanes(velocity, k, cast<T>(view_.velocity[b]));
      set_lanes(force, k, here ? cast<T>(view_.force[b]) : Vec3<T>{});
      set_lane(damping, k, here ? static_cast<T>(view_.damping[b]) : T(0));
      length_[k] += l;
      if (here && view_.vertex_fixed[b]) head.tail_held[k][0] = true;  // only the last vertex may be held
      if (fixed && (i > 0 || (g_.cut && k > 0))) head.tail_held[k][1] = true;
    }
    load_inertia(i, velocity, force, damping);
  }
  for (int k = 0; k < W; ++k) length_[k] += lane(plain_length_[k / D_lanes], k % D_lanes);
  // A first frame that is held gets a rigid joint to its target; a first frame without a joint turns freely.
  head.spin_stiffness = head.free_spin = P(0);
  head.spins = false;
  Row& first = row_[0];
  for (int k = 0; k < W; ++k) {
    if (g_.segments[k] == 0 || (g_.cut && k > 0)) continue;
    const bool fixed = view_.frame_control[g_.first_segment[k]] == FrameControl::fixed;
    if (!fixed && g_.head[k] >= 0) continue;
    if (!fixed) {
      head.spins = true;
      set_lane(head.free_spin, k, T(1));
      set_lane(head.spin_stiffness, k, T(1e-6) * lane(row_[1].joint_stiffness(), k));
    }
    first.replace_joint(k, fixed ? T(0) : kLoose<T>);
  }
}

template <class P, template <class> class Law>
void ChainRows<P, Law>::carry_along() {
  for (Index i = 0; i < count_; ++i) {
    Row& r = row_[i];
    Vec3<P> near = i > 0 ? row_[i - 1].u : head.u;
    if (i == 0 && g_.cut) {
      const Vec3<P>& last = row_[count_ - 1].u;
      near = {from_before(near.x, last.x), from_before(near.y, last.y), from_before(near.z, last.z)};
    }
    P free;
    const Quat<P> unit = carried_turn(r.arm0, r.u - near, free);
    if (plain_[i]) {
      r.turn = unit;
      continue;
    }
    for (int k = 0; k < W; ++k) {
      const bool held = i >= g_.segments[k] || view_.frame_control[g_.first_segment[k] + i] != FrameControl::free;
      if (!held && lane(free, k) > T(0)) set_lanes(r.turn, k, osier::lane_of(unit, k));
    }
  }
}

template <class P, template <class> class Law>
void ChainRows<P, Law>::load_head() {
  const double h = view_.h;
  head.turn = head.frame0 = {P(0), P(0), P(0), P(1)};
  head.u = head.rhs = {P(0), P(0), P(0)};
  head.weight = P(0);
  anchored_tails_ = false;
  for (int k = 0; k < W; ++k) {
    tail_[k].joint.k = {};
    if (g_.vertices[k] == 0) continue;
    const Index frame_before = g_.cut && k > 0 ? g_.first_segment[k] - 1 : g_.head[k] >= 0 ? g_.head[k] : g_.first_segment[k];
    if constexpr (Law<P>::kOwnAxes) set_lanes(head.frame0, k, cast<T>(view_.rotation[frame_before]));
    const auto anchor_turn = [&](Index frame) {
      return view_.frame_control[frame] == FrameControl::fixed ? turn_between(view_.rotation[frame], view_.frame_target[frame])
                                                               : Quatd{};
    };
    if (g_.head[k] >= 0) set_lanes(head.turn, k, cast<T>(anchor_turn(g_.head[k])));
    const Index v = g_.first_vertex[k];
    head.held[k] = view_.vertex_fixed[v] != 0;
    const Vec3d u = head.held[k] ? view_.vertex_target[v] - view_.position[v] : h * view_.velocity[v];
    set_lanes(head.u, k, cast<T>(u));
    const double mass = static_cast<double>(lane(constant(0, lanes::kMass), k));
    set_lanes(head.rhs, k, cast<T>((mass / h) * view_.velocity[v] + view_.force[v]));
    set_lane(head.weight, k, static_cast<T>(mass / (h * h) + view_.damping[v] / h));
    if (g_.tail[k] < 0) continue;
    anchored_tails_ = true;
    // The joint stands in the row after the last segment, which may be the first of the next lane.
    const auto at = [&](int what) { return static_cast<double>(lane(constant(g_.segments[k], what), k)); };
    const int in = g_.segments[k] > 0 ? k : k - 1;
    const Index joint = g_.tail_joint[k];
    const bool flipped = view_.joint_frames[joint][0] == g_.tail[k];
    JointSpring& spring = tail_[in].joint;
    spring = Law<P>::joint_of(at, h, damped_);
    spring.rest = flipped ? conj(view_.joint_rest[joint]) : view_.joint_rest[joint];
    spring.previous = conj(view_.rotation[g_.first_segment[in] + g_.segments[in] - 1]) * view_.rotation[g_.tail[k]];
    tail_[in].frame = anchor_turn(g_.tail[k]) * view_.rotation[g_.tail[k]];
  }
}

/// `stiffness`: lower triangle, row by row.
template <class P, template <class> class Law>
void ChainRows<P, Law>::tail_anchors(Index i, P (&stiffness)[6], P (&couple)[3], P& energy) const {
  for (int k = 0; k < W; ++k) {
    if (i != g_.segments[k] - 1 || !tail_[k].is_there()) continue;
    const TailAnchorTerms terms = terms_of(tail_[k], turned(lane_of(row_[i].turn, k), view_.rotation[g_.first_segment[k] + i]));
    const auto add = [k](P& to, double what) { set_lane(to, k, lane(to, k) + static_cast<T>(what)); };
    for (int a = 0; a < 6; ++a) add(stiffness[a], terms.stiffness[a]);
    for (int a = 0; a < 3; ++a) add(couple[a], component(terms.couple, a));
    add(energy, terms.energy);
  }
}

/// The largest displacement of the vertices of a lane, or of all lanes of a cut chain, if nothing were elastic [m].
template <class P, template <class> class Law>
double ChainRows<P, Law>::free_motion(int k) const {
  P farthest2 = P(0);
  for (Index i = 0; i < count_; ++i) farthest2 = larger(farthest2, row_[i].free_motion2());
  double most = 0;
  for (int other = 0; other < W; ++other)
    if (other == k || g_.cut) most = std::max(most, static_cast<double>(lane(farthest2, other)));
  return std::sqrt(most);
}

/// Stores a row that load_plain() has loaded, without a branch.
template <class P, template <class> class Law>
OSIER_FN void ChainRows<P, Law>::store_plain(Index i) {
  using R = Quadruple<P, double>;
  const Row& r = row_[i];
  const R inverse_h = R::all(1 / view_.h);
  D turn[4][kParts];
  widen(r.turn.x, turn[0]), widen(r.turn.y, turn[1]), widen(r.turn.z, turn[2]), widen(r.turn.w, turn[3]);
  OSIER_UNROLL(2)
  for (int g = 0; g < kParts; ++g) {
    const auto segment = [&](int k) { return g_.first_segment[g * D_lanes + k] + i; };
    const Quat<D> q = turned(Quat<D>{turn[0][g], turn[1][g], turn[2][g], turn[3][g]}, gather<D>(view_.rotation, segment));
    const D out[4] = {q.x, q.y, q.z, q.w};
    rows_of_components(out, [&](int k, const Quadruple<D, double>& row_q) { put_row(row_q, view_.rotation[segment(k)]); });
  }
  const P moved[4] = {r.u.x, r.u.y, r.u.z, P(0)};
  rows_of_components(moved, [&](int k, const Quadruple<P, T>& row_u) {
    const Index v = g_.first_vertex[k] + i + 1;
    const R u = cast_row<double>(row_u);
    put_row(row<P>(view_.position[v]) + u, view_.position[v]);
    put_row(inverse_h * u, view_.velocity_previous[v]);
  });
}

template <class P, template <class> class Law>
void ChainRows<P, Law>::store_step(std::uint32_t except) {
  const double inverse_h = 1 / view_.h;
  if (g_.cut && except != 0) except = kAll;
  const auto put_vertex = [&](Index v, const Vec3d& u) {
    view_.position[v] = view_.vertex_fixed[v] ? view_.vertex_target[v] : view_.position[v] + u;
    view_.velocity_previous[v] = inverse_h * u;
  };
  for (int k = 0; k < W; ++k) {
    if ((except >> k & 1u) || g_.segments[k] == 0 || (g_.cut && k > 0)) continue;
    put_vertex(g_.first_vertex[k], lane_of(head.u, k));
  }
  for (Index i = 0; i < count_; ++i) {
    const Row& r = row_[i];
    if (plain_[i] && except == 0) {
      store_plain(i);
      continue;
    }
    for (int k = 0; k < W; ++k) {
      if ((except >> k & 1u) || i >= g_.segments[k]) continue;
      put_vertex(g_.first_vertex[k] + i + 1, lane_of(r.u, k));
      const Index s = g_.first_segment[k] + i;
      view_.rotation[s] =
          view_.frame_control[s] == FrameControl::fixed ? view_.frame_target[s] : turned(lane_of(r.turn, k), view_.rotation[s]);
    }
  }
}

template <class P, template <class> class Law>
void ChainRows<P, Law>::forget_forces(std::uint32_t lanes) {
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    for (Index i = 0; i < count_; ++i)
      for (int a = 0; a < Law<P>::kForces; ++a) force_at(i, a)[k] = T(0);
  }
}

}  // namespace osier::systems
