// One time step of chains in lanes by coupled Gauss-Newton iterations: the recursion of link_algebra.hpp with every lane a
// strand, or a piece of one long chain. What is particular to the isotropic and the anisotropic law stands in chain_law.hpp.
//
// Row i of a lane is segment i with its far vertex i + 1. Upward from the tail, S and f are what row i - 1 feels; downward from
// the head the corrections follow. A tail that is held, or that goes on in the next lane, is a force lambda on the last row that
// is not known yet: six columns B are carried along with f,
//
//   Phi(zeta, lambda) = 1/2 zeta.S zeta - (f + B lambda).zeta - 1/2 lambda.D lambda - d.lambda
//
// and close() finds lambda, lane by lane in double: from the last piece to the first what the piece before feels, back again the
// displacements where they meet. The columns themselves are kept nowhere but at the head: once lambda is known, it goes up the
// rows as one more force. B lambda is a small difference where links are soft, (1 - S C) in every row, so that what goes up is
// what lambda changes by; what it was in the iteration before is among the known forces.
#pragma once

#include <algorithm>
#include <limits>

#include "exec/lanes.hpp"
#include "math/quat.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/chain_prefetch.hpp"
#include "solvers/lanes/step_view.hpp"
#include "solvers/settling.hpp"
#include "solvers/systems/chains/chain_close.hpp"
#include "solvers/systems/chains/link_row.hpp"

namespace osier::systems {

using lanes::ChainConstant;
using lanes::ChainGroup;
using lanes::kMostLanes;
using lanes::StepView;

struct ChainOptions {
  int iterations = 0;  ///< fixed number, or 0: until every lane has settled
  int max_iterations = 50;
  double tolerance = 1e-3;  ///< error over the motion of the lane
};

/// Of a group's lanes, from step to step.
struct ChainOutlook {
  Outlook lane[kMostLanes];
};

struct ChainOutcome {
  int iterations = 0;
  std::uint32_t unsettled = 0;  ///< lanes that met no tolerance
  std::uint32_t risen = 0;      ///< lanes whose energy rose or is not finite: not stored, to be done by safer means
  OSIER_FN void operator+=(const ChainOutcome& o) {
    iterations = std::max(iterations, o.iterations);
    unsettled |= o.unsettled, risen |= o.risen;
  }
};

/// The frame of a row at the start of the step, where the law asks for it.
template <class P, bool kKept>
struct FrameAtStart {
  Quat<P> frame0;
};
template <class P>
struct FrameAtStart<P, false> {};

template <class P, template <class> class Law>
struct ChainLinkRow : LinkRow<P, Law>, FrameAtStart<P, Law<P>::kOwnAxes> {
  // Of the iteration, along the law's axes.
  P still[6];               ///< y of a parent that stays where it is, C f - e with f + S e in place of f
  P pull[Law<P>::kForces];  ///< and the force through the link then
  P S[21];                  ///< lower triangle, row by row
};

template <class P, template <class> class Law>
class ChainStep {
 public:
  using Row = ChainLinkRow<P, Law>;
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = (1u << W) - 1u;
  using D = typename InDouble<P>::type;
  static constexpr int kParts = InDouble<P>::parts, D_lanes = InDouble<P>::lanes;

  static constexpr double kBent = 0.01;  ///< joints whose moments are worth their price [rad]

  static std::size_t scratch_bytes(Index rows) {
    return static_cast<std::size_t>(rows + 1) * (sizeof(Row) + 2 * sizeof(bool)) + 64;
  }
  /// `force` through every row and lane, Law::kForces numbers each, and `outlook`, kept from step to step. `next`: the group
  /// after this one, or null.
  static ChainOutcome step(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view,
                           const ChainOptions& options, T* force, ChainOutlook& outlook, void* scratch) {
    [[maybe_unused]] const FlushDenormals flush;
    ChainStep s(g, next, constants, damped, view, force, outlook, scratch);
    s.load();
    s.carry_along();
    const bool columns = s.needs_columns();
    ChainOutcome outcome;
    if (columns && damped) outcome = s.template iterate<true, true>(options);
    else if (columns) outcome = s.template iterate<true, false>(options);
    else if (damped) outcome = s.template iterate<false, true>(options);
    else outcome = s.template iterate<false, false>(options);
    s.store(outcome.risen);
    s.forget(outcome.risen);
    return outcome;
  }

 private:
  ChainStep(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view, T* force,
            ChainOutlook& outlook, void* scratch)
      : g_(g),
        next_(next, view, lanes::ChainUse::direct),
        constants_(constants),
        force_(force),
        outlook_(outlook),
        view_(view),
        damped_(damped),
        driven_(Law<P>::kOwnAxes && view.torque != nullptr),
        jointed_(true),
        rows_(g.cut ? g.rows : g.rows - 1) {
    for (int k = 0; k < W; ++k) jointed_ = jointed_ && g.jointed[k];
    row_ = static_cast<Row*>(scratch);
    plain_ = reinterpret_cast<bool*>(row_ + rows_ + 1);
    leans_ = plain_ + rows_ + 1;
  }

  /// A lane whose end is held, or goes on in the next lane.
  bool needs_columns() const {
    if (g_.cut) return true;
    for (int k = 0; k < W; ++k)
      if (tail_held_[k][0] || tail_held_[k][1]) return true;
    return false;
  }
  OSIER_FN P constant(Index i, int what) const {
    const int per_row = lanes::constants_per_row(Law<P>::kLaw, damped_, lanes::ChainUse::direct);
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * per_row + what) * W);
  }
  static Vec3d lane_of(const Vec3<P>& v, int k) { return cast<double>(osier::lane_of(v, k)); }
  static Quatd lane_of(const Quat<P>& q, int k) { return cast<double>(osier::lane_of(q, k)); }
  /// Lane k as lane k - 1 has it; lane 0 keeps its own.
  OSIER_FN static P from_before(P here, P last) {
    P moved = shifted_up(last);
    set_lane(moved, 0, lane(here, 0));
    return moved;
  }
  template <class F>
  static T sum_lanes(P x, const F& wanted) {
    T sum = 0;
    for (int k = 0; k < W; ++k)
      if (wanted(k)) sum += lane(x, k);
    return sum;
  }

  void load();
  void load_head();
  /// Of row i, where the law does not keep them.
  OSIER_FN typename Law<P>::Springs springs(Index i) const {
    return Law<P>::springs([&](int what) { return constant(i, what); }, P(static_cast<T>(1 / view_.h)), damped_);
  }
  OSIER_FN typename Law<P>::Damping load_constants(Index i, const typename Law<P>::Springs& springs);
  OSIER_FN T* force_at(Index i, int a) const { return force_ + (static_cast<std::ptrdiff_t>(i) * Law<P>::kForces + a) * W; }
  /// Along the springs where the law has axes of its own, otherwise the tension.
  OSIER_FN Vec3<P> force(Index i) const {
    if constexpr (Law<P>::kOwnAxes)
      return {load_lanes<P>(force_at(i, 0)), load_lanes<P>(force_at(i, 1)), load_lanes<P>(force_at(i, 2))};
    else return {P(0), P(0), load_lanes<P>(force_at(i, 0))};
  }
  OSIER_FN P tension(Index i, [[maybe_unused]] const typename Law<P>::Axes& axes, [[maybe_unused]] const Vec3<P>& arm) const {
    if constexpr (Law<P>::kOwnAxes) return larger(dot(axes.x * force(i), arm) * inverse_sqrt(of_arm(arm)), P(0));
    else return force(i).z;
  }
  /// A force along the springs, as it is kept.
  OSIER_FN static void to_kept([[maybe_unused]] const Vec3<P>& arm, const P (&f)[6], P (&kept)[Law<P>::kForces]) {
    if constexpr (Law<P>::kOwnAxes) kept[0] = f[0], kept[1] = f[1], kept[2] = f[2];
    else kept[0] = dot(Vec3<P>{f[0], f[1], f[2]}, arm) * inverse_sqrt(of_arm(arm));
  }
  OSIER_FN const Quat<P>& frame0_before([[maybe_unused]] Index i) const {
    if constexpr (Law<P>::kOwnAxes) return i > 0 ? row_[i - 1].frame0 : head_frame0_;
    else return head_frame0_;
  }
  OSIER_FN typename Law<P>::Axes axes_of(const Row& r) const {
    if constexpr (Law<P>::kOwnAxes) return r.axes(r.turn * r.frame0);
    else return {};
  }
  OSIER_FN static OwnFrame<P> own_frame([[maybe_unused]] const Row& r, const Quat<P>& now) {
    if constexpr (Law<P>::kOwnAxes) return {r.frame0, now};
    else return {now, now};
  }
  /// The torques on the frames of row i.
  OSIER_FN auto drive(Index i) const {
    return [this, i](const auto& axes) {
      return torques(
          view_.torque, view_.torque_material, axes.x, [&](int k) { return g_.first_segment[k] + i; },
          [&](int k) { return i < g_.segments[k]; });
    };
  }
  OSIER_FN bool load_plain(Index i);
  OSIER_FN void store_plain(Index i);
  OSIER_FN void load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping);
  template <bool kColumns, bool kDamped>
  ChainOutcome iterate(const ChainOptions& options);
  template <bool kColumns, bool kDamped>
  void upward();
  template <int N, bool kDamped, bool kHead>
  OSIER_FN void pass_row(Index i, P (&S)[21], P (&f)[6], Quat<P>& frame, CarriedColumns<P, N>& columns);
  template <int N>
  OSIER_FN KeptSteps<P, N>* kept() {
    if constexpr (N > 0) return &head_columns_;
    else return &head_;
  }
  [[gnu::noinline]] void tail_anchors(Index i, P (&stiffness)[6], P (&couple)[3]);
  void find_root();
  void close();
  void raise_tails();
  template <bool kColumns>
  void downward();
  void carry_along();
  void settle(const ChainOptions& options, double (&before)[kMostLanes], bool (&ordinary)[kMostLanes], std::uint32_t& unsettled);
  double free_motion(int k) const;
  void store(std::uint32_t except);
  void forget(std::uint32_t lanes);

  const ChainGroup& g_;
  lanes::ChainPrefetch<P> next_;
  const T* constants_;
  T* force_;  ///< per row and lane
  ChainOutlook& outlook_;
  const StepView& view_;
  bool damped_;
  bool driven_;     ///< by torques
  bool jointed_;    ///< no lane is a cable
  Index rows_;      ///< segments of the longest lane
  Index shortest_;  ///< and of the shortest
  Row* row_;
  bool* plain_;  ///< rows of which all lanes are there, and nothing is held
  bool* leans_;  ///< rows whose joints are bent enough for their moments to matter

  // Before the first row: the first vertex, and the turn of the frame before.
  Vec3<P> head_u_, head_rhs_;
  P head_weight_;
  P spins_, whiff_;                                        ///< 1 where the first frame turns freely; its whiff of stiffness
  bool spinning_;                                          ///< any of them
  Quat<P> head_turn_, head_frame0_;                        ///< its frame at the start only where the law asks for it
  bool root_held_[kMostLanes], tail_held_[kMostLanes][2];  ///< tail: position, rotation
  double length_[kMostLanes];
  D length_sum_[kParts];        ///< of plain rows
  Quat<D> last_frame_[kParts];  ///< of the row before, while loading
  bool frames_known_ = false;
  bool anchored_tails_ = false;
  JointSpring tail_[kMostLanes];  ///< from the last segment to an anchor; without stiffness where there is none
  Quatd tail_frame_[kMostLanes];  ///< of the anchor

  // At the head, after the upward pass: S, f, B, D, d of all of the lane; what row 0 lost axis by axis.
  P S_[21], f_[6];
  CarriedColumns<P, 6> columns_;
  KeptSteps<P, 0> head_;
  KeptSteps<P, 6> head_columns_;
  Vec3<P> root_x_, root_w_;
  P lambda_[6], change_[6];  ///< and what the last iteration changed it by
  RowTotals<P> totals_;
  RowMotion<P> motion_;  ///< of the last iteration
};

/// Where the lower triangle of rotations lies in that of everything.
inline constexpr int kRotationEntries[6] = {packed(3, 3), packed(4, 3), packed(4, 4), packed(5, 3), packed(5, 4), packed(5, 5)};

/// The constants of a row in the number type of the recursion.
template <class P, template <class> class Law>
OSIER_FN auto ChainStep<P, Law>::load_constants(Index i, const typename Law<P>::Springs& springs) -> typename Law<P>::Damping {
  Row& r = row_[i];
  const auto number = [&](int what) { return constant(i, what); };
  const auto damping = Law<P>::stretch_damping(number, P(static_cast<T>(1 / view_.h)), damped_);
  const P il = constant(i, lanes::kInverseLength);
  r.load_segment(number, select(il > P(0), inverse(il), P(0)), damping);
  r.load_joint(number, springs);
  return damping;
}

/// A row of which every lane is there and nothing is held: loops over lanes without a branch.
template <class P, template <class> class Law>
OSIER_FN bool ChainStep<P, Law>::load_plain(Index i) {
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
  Law<P>::begin(start, damping, joints);
  D arm[3][kParts], stretch[3][kParts];
#pragma GCC unroll 2
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
    length_sum_[g] += l;
    arm[0][g] = segment_of.arm.x, arm[1][g] = segment_of.arm.y, arm[2][g] = segment_of.arm.z;
    stretch[0][g] = segment_of.stretch.x, stretch[1][g] = segment_of.stretch.y, stretch[2][g] = segment_of.stretch.z;
  }
  frames_known_ = true;
  const auto far = [&](int k) { return b[k]; };
  const P h(static_cast<T>(view_.h));
  r.arm0 = {narrow<P>(arm[0]), narrow<P>(arm[1]), narrow<P>(arm[2])};
  r.stretch0 = {narrow<P>(stretch[0]), narrow<P>(stretch[1]), narrow<P>(stretch[2])};
  Law<P>::take(start, r);
  if constexpr (Law<P>::kOwnAxes) r.frame0 = gather<P>(view_.rotation, [&](int k) { return s[k]; });
  r.turn = {P(0), P(0), P(0), P(1)};
  const Vec3<P> v = gather<P>(view_.velocity, far);
  r.u = h * v;
  load_inertia(i, v, gather<P>(view_.force, far), gather<P>(view_.damping, far));
  return true;
}

template <class P, template <class> class Law>
OSIER_FN void ChainStep<P, Law>::load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping) {
  // Mass of the far vertex: the next row's, or the first one of the next lane.
  P m = i + 1 < g_.rows ? constant(i + 1, lanes::kMass) : P(0);
  if (g_.cut && i + 1 == rows_) m = shifted_down(constant(0, lanes::kMass)), set_lane(m, W - 1, T(0));
  set_inertia(row_[i], m, velocity, force, damping, view_.h);
}

template <class P, template <class> class Law>
void ChainStep<P, Law>::load() {
  const double h = view_.h;
  const Vec3d* x = view_.position;
  for (P& l : lambda_) l = P(0);
  for (int k = 0; k < kMostLanes; ++k) length_[k] = 0, tail_held_[k][0] = tail_held_[k][1] = false, root_held_[k] = true;
  shortest_ = rows_;
  for (int k = 0; k < W; ++k) shortest_ = std::min(shortest_, g_.segments[k]);
  load_head();
  for (D& sum : length_sum_) sum = D(0);
  frames_known_ = false;
  for (Index i = 0; i < rows_; ++i) {
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
      auto start = Law<P>::begin_lane(k, stretch_damping, joints);
      if (here) {
        const Index before = i > 0 || (g_.cut && k > 0) ? s - 1 : g_.head[k];
        const Index joint = i > 0 || (g_.cut && k > 0) ? g_.first_joint[k] + i : g_.head_joint[k];
        const bool jointed = before >= 0 && joint >= 0 && lane(r.joint_stiffness(), k) > 0;
        Quatd rest = jointed ? view_.joint_rest[joint] : Quatd{};
        if (jointed && view_.joint_frames[joint][1] != s) rest = conj(rest);
        start.form(q, jointed ? view_.rotation[before] : q, rest, x[b] - x[a], l);
      } else {
        r.replace_joint(k, T(0));  // the joint that stands here leads to an anchor
      }
      set_lanes(r.arm0, k, cast<T>(start.segment.arm)), set_lanes(r.stretch0, k, cast<T>(start.segment.stretch));
      Law<P>::take_lane(k, start, r);
      if constexpr (Law<P>::kOwnAxes) set_lanes(r.frame0, k, cast<T>(here ? q : Quatd{}));
      const bool fixed = here && view_.frame_control[s] == FrameControl::fixed;
      set_lanes(r.turn, k, cast<T>(fixed ? turn_between(q, view_.frame_target[s]) : Quatd{}));
      set_lanes(r.u, k, cast<T>(view_.vertex_fixed[b] ? view_.vertex_target[b] - x[b] : h * view_.velocity[b]));
      set_lanes(velocity, k, cast<T>(view_.velocity[b]));
      set_lanes(force, k, here ? cast<T>(view_.force[b]) : Vec3<T>{});
      set_lane(damping, k, here ? static_cast<T>(view_.damping[b]) : T(0));
      length_[k] += l;
      if (here && view_.vertex_fixed[b]) tail_held_[k][0] = true;  // only the last one may be
      if (fixed && (i > 0 || (g_.cut && k > 0))) tail_held_[k][1] = true;
    }
    load_inertia(i, velocity, force, damping);
  }
  for (int k = 0; k < W; ++k) length_[k] += lane(length_sum_[k / D_lanes], k % D_lanes);
  // A frame that is held at the head is a rigid joint to what it must be; one without a joint turns freely.
  whiff_ = spins_ = P(0);
  spinning_ = false;
  Row& first = row_[0];
  for (int k = 0; k < W; ++k) {
    if (g_.segments[k] == 0 || (g_.cut && k > 0)) continue;
    const bool fixed = view_.frame_control[g_.first_segment[k]] == FrameControl::fixed;
    if (!fixed && g_.head[k] >= 0) continue;
    if (!fixed) spinning_ = true, set_lane(spins_, k, T(1)), set_lane(whiff_, k, T(1e-6) * lane(row_[1].joint_stiffness(), k));
    first.replace_joint(k, fixed ? T(0) : kLoose<T>);
  }
}

template <class P, template <class> class Law>
void ChainStep<P, Law>::carry_along() {
  for (Index i = 0; i < rows_; ++i) {
    Row& r = row_[i];
    Vec3<P> near = i > 0 ? row_[i - 1].u : head_u_;
    if (i == 0 && g_.cut) {
      const Vec3<P>& last = row_[rows_ - 1].u;
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
void ChainStep<P, Law>::load_head() {
  const double h = view_.h;
  head_turn_ = head_frame0_ = {P(0), P(0), P(0), P(1)};
  head_u_ = head_rhs_ = {P(0), P(0), P(0)};
  head_weight_ = P(0);
  anchored_tails_ = false;
  for (int k = 0; k < W; ++k) {
    tail_[k].k = {};
    if (g_.vertices[k] == 0) continue;
    const Index frame_before = g_.cut && k > 0 ? g_.first_segment[k] - 1 : g_.head[k] >= 0 ? g_.head[k] : g_.first_segment[k];
    if constexpr (Law<P>::kOwnAxes) set_lanes(head_frame0_, k, cast<T>(view_.rotation[frame_before]));
    const auto anchor_turn = [&](Index frame) {
      return view_.frame_control[frame] == FrameControl::fixed ? turn_between(view_.rotation[frame], view_.frame_target[frame])
                                                               : Quatd{};
    };
    if (g_.head[k] >= 0) set_lanes(head_turn_, k, cast<T>(anchor_turn(g_.head[k])));
    const Index v = g_.first_vertex[k];
    root_held_[k] = view_.vertex_fixed[v] != 0;
    const Vec3d u = root_held_[k] ? view_.vertex_target[v] - view_.position[v] : h * view_.velocity[v];
    set_lanes(head_u_, k, cast<T>(u));
    const double mass = static_cast<double>(lane(constant(0, lanes::kMass), k));
    set_lanes(head_rhs_, k, cast<T>((mass / h) * view_.velocity[v] + view_.force[v]));
    set_lane(head_weight_, k, static_cast<T>(mass / (h * h) + view_.damping[v] / h));
    if (g_.tail[k] < 0) continue;
    anchored_tails_ = true;
    // The joint stands in the row after the last segment, which may be the first of the next lane.
    const auto at = [&](int what) { return static_cast<double>(lane(constant(g_.segments[k], what), k)); };
    const int in = g_.segments[k] > 0 ? k : k - 1;
    const Index joint = g_.tail_joint[k];
    const bool flipped = view_.joint_frames[joint][0] == g_.tail[k];
    tail_[in] = Law<P>::joint_of(at, h, damped_);
    tail_[in].rest = flipped ? conj(view_.joint_rest[joint]) : view_.joint_rest[joint];
    tail_[in].previous = conj(view_.rotation[g_.first_segment[in] + g_.segments[in] - 1]) * view_.rotation[g_.tail[k]];
    tail_frame_[in] = anchor_turn(g_.tail[k]) * view_.rotation[g_.tail[k]];
  }
}

/// An anchor beyond the last segment: its joint acts on that segment's frame alone. `stiffness`: lower triangle, row by row.
template <class P, template <class> class Law>
void ChainStep<P, Law>::tail_anchors(Index i, P (&stiffness)[6], P (&couple)[3]) {
  for (int k = 0; k < W; ++k) {
    if (i != g_.segments[k] - 1 || !(tail_[k].k.x > 0)) continue;
    const Quatd frame = turned(lane_of(row_[i].turn, k), view_.rotation[g_.first_segment[k] + i]);
    const JointModel joint = joint_model(tail_[k], frame, tail_frame_[k]);
    const Vec3d& c = joint.compliance;
    const Mat3<double> turning = rotated_diagonal(joint.axes, Vec3d{1 / c.x, 1 / c.y, 1 / c.z});
    const auto add = [k](P& to, double what) { set_lane(to, k, lane(to, k) + static_cast<T>(what)); };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b) add(stiffness[packed(a, b)], turning.m[a][b]);
      add(couple[a], component(joint.gradient, a));
    }
    add(totals_.energy, joint_energy(tail_[k], frame, tail_frame_[k]));
  }
}

template <class P, template <class> class Law>
template <int N, bool kDamped, bool kHead>
OSIER_FN void ChainStep<P, Law>::pass_row(Index i, P (&S)[21], P (&f)[6], [[maybe_unused]] Quat<P>& frame,
                                          CarriedColumns<P, N>& columns) {
  Row& r = row_[i];
  [[maybe_unused]] Quat<P> frame_near;
  const NearEnd<P> near{kHead ? head_u_ : row_[i - 1].u, {kHead ? head_turn_ : row_[i - 1].turn, frame0_before(i), frame_near}};
  if constexpr (Law<P>::kOwnAxes) frame_near = near.frame.turn * near.frame.start;
  if constexpr (N > 0) {
    for (int k = 0; k < W; ++k)
      if (i == g_.segments[k] - 1)
        for (int m = 0; m < 6; ++m) set_lane(columns.B[m][m], k, T(1)), set_lane(f[m], k, lane(lambda_[m], k));
  }
  if (anchored_tails_) {
    // Copies, so that what the recursion works on has no address and stays in registers.
    P stiffness[6], couple[3] = {f[3], f[4], f[5]};
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) stiffness[a] = S[kRotationEntries[a]];
    tail_anchors(i, stiffness, couple);
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) S[kRotationEntries[a]] = stiffness[a];
    f[3] = couple[0], f[4] = couple[1], f[5] = couple[2];
  }
  Vec3<P> e_x, e_w;
  typename Law<P>::Axes axes;
  const Vec3<P> arm = add_node<kDamped>(
      r, springs(i), near, own_frame(r, frame), [&](const auto&) { return force(i); }, driven_, drive(i), totals_, S, f, e_x, e_w,
      axes);
  add_tension(tension(i, axes, arm), arm, S);
  if constexpr (Law<P>::kOwnAxes) frame = frame_near;
  if constexpr (kHead)  // a free frame may spin about its own axis at no cost: a whiff of stiffness keeps it where it is
    for (int a = 3; a < 6; ++a) S[packed(a, a)] += whiff_;
  leans_[i] = is_bent(e_w, kBent);
  to_near_end<N>(axes, arm, e_w, leans_[i], r.moment(), S, f, columns);
  eliminate_link<N>(r, e_x, e_w, S, f, columns, kHead ? kept<N>() : nullptr);
#pragma GCC unroll 21
  for (int a = 0; a < 21; ++a) r.S[a] = S[a];
  const P e[6] = {e_x.x, e_x.y, e_x.z, e_w.x, e_w.y, e_w.z};
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) r.still[a] = r.compliance(a) * f[a] - e[a];
  to_kept(arm, f, r.pull);
  if constexpr (Law<P>::kOwnAxes) turn_all<N>(axes.x, axes.w, S, f, columns);
}

template <class P, template <class> class Law>
template <bool kColumns, bool kDamped>
void ChainStep<P, Law>::upward() {
  P S[21], f[6];
  for (P& s : S) s = P(0);
  for (P& a : f) a = P(0);
  totals_ = {P(0), P(0), P(0)};
  constexpr int N = kColumns ? 6 : 0;
  [[maybe_unused]] CarriedColumns<P, 0> none;
  CarriedColumns<P, N>& columns = [&]() -> CarriedColumns<P, N>& {
    if constexpr (kColumns) return columns_;
    else return none;
  }();
  if constexpr (kColumns) {
    for (auto& column : columns.B)
      for (P& b : column) b = P(0);
    for (P& b : columns.D) b = P(0);
    for (P& b : columns.d) b = P(0);
  }
  if (g_.cut) {
    const Row& last = row_[rows_ - 1];
    head_u_ = {from_before(head_u_.x, last.u.x), from_before(head_u_.y, last.u.y), from_before(head_u_.z, last.u.z)};
    head_turn_ = {from_before(head_turn_.x, last.turn.x), from_before(head_turn_.y, last.turn.y),
                  from_before(head_turn_.z, last.turn.z), from_before(head_turn_.w, last.turn.w)};
  }
  [[maybe_unused]] Quat<P> frame;
  if constexpr (Law<P>::kOwnAxes) frame = row_[rows_ - 1].turn * row_[rows_ - 1].frame0;
  // The first row by itself: what has to be kept of it would take the others' registers.
  for (Index i = rows_; i-- > 1;) {
    pass_row<N, kDamped, false>(i, S, f, frame, columns);
    next_.row(i);
  }
  pass_row<N, kDamped, true>(0, S, f, frame, columns);
  next_.row(0);
  next_.done();
  for (int a = 0; a < 21; ++a) S_[a] = S[a];
  for (int a = 0; a < 6; ++a) f_[a] = f[a];
}

/// The first vertex where nothing holds the tails: 3 x 3 in every lane.
template <class P, template <class> class Law>
void ChainStep<P, Law>::find_root() {
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  std::uint32_t free = 0;
  for (int k = 0; k < W; ++k) free |= (root_held_[k] ? 0u : 1u) << k;
  if (free == 0) return;
  const Vec3<P> b = Vec3<P>{f_[0], f_[1], f_[2]} + head_rhs_ - head_weight_ * head_u_;
  const P a00 = S_[0] + head_weight_, a10 = S_[1], a11 = S_[2] + head_weight_, a20 = S_[3], a21 = S_[4],
          a22 = S_[5] + head_weight_;
  const P i0 = inverse(a00), l1 = a10 * i0, l2 = a20 * i0;
  const P d1 = a11 - l1 * a10, m21 = a21 - l2 * a10, i1 = inverse(d1), l21 = m21 * i1, d2 = a22 - l2 * a20 - l21 * m21;
  const P y1 = b.y - l1 * b.x, y2 = b.z - l2 * b.x - l21 * y1;
  const P z = y2 * inverse(d2), y = y1 * i1 - l21 * z, x = b.x * i0 - l1 * y - l2 * z;
  for (int k = 0; k < W; ++k)
    if (free >> k & 1u) set_lanes(root_x_, k, {lane(x, k), lane(y, k), lane(z, k)});
}

template <class P, template <class> class Law>
void ChainStep<P, Law>::close() {
  ChainPiece pieces[kMostLanes];
  double z[kMostLanes][6], change[kMostLanes][6];
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  for (P& c : change_) c = P(0);
  const auto number = [](T x) { return static_cast<double>(x); };
  for (int first = 0; first < W;) {
    int count = 1;
    if (g_.cut)
      while (first + count < W && g_.segments[first + count] > 0) ++count;
    if (g_.segments[first] > 0) {
      for (int p = 0; p < count; ++p) {
        const int k = first + p;
        for (int a = 0; a < 21; ++a) pieces[p].S[a] = number(lane(S_[a], k)), pieces[p].D[a] = number(lane(columns_.D[a], k));
        for (int a = 0; a < 6; ++a) {
          pieces[p].f[a] = number(lane(f_[a], k)), pieces[p].d[a] = number(lane(columns_.d[a], k));
          pieces[p].known[a] = number(lane(lambda_[a], k));
          for (int c = 0; c < 6; ++c) pieces[p].B[c][a] = number(lane(columns_.B[c][a], k));
        }
      }
      const int last = first + count - 1;
      ChainEnds ends{root_held_[first], number(lane(head_weight_, first)), {}, {tail_held_[last][0], tail_held_[last][1]}};
      const Vec3d own = lane_of(head_rhs_, first) - ends.root_weight * lane_of(head_u_, first);
      ends.root_force[0] = own.x, ends.root_force[1] = own.y, ends.root_force[2] = own.z;
      close_pieces(pieces, count, ends, z, change);
      for (int p = 0; p < count; ++p) {
        set_lanes(root_x_, first + p, {T(z[p][0]), T(z[p][1]), T(z[p][2])});
        set_lanes(root_w_, first + p, {T(z[p][3]), T(z[p][4]), T(z[p][5])});
        for (int a = 0; a < 6; ++a) set_lane(change_[a], first + p, T(change[p][a]));
      }
    }
    first += g_.cut ? W : 1;
  }
  for (int a = 0; a < 6; ++a) lambda_[a] += change_[a];
}

/// What the forces at the tails change by, as every row feels it.
template <class P, template <class> class Law>
void ChainStep<P, Law>::raise_tails() {
  P f[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};
  for (Index i = rows_; i-- > 0;) {
    Row& r = row_[i];
    for (int k = 0; k < W; ++k)
      if (i == g_.segments[k] - 1)
        for (int a = 0; a < 6; ++a) set_lane(f[a], k, lane(change_[a], k));
    const Vec3<P> arm = arm_now(r);
    const auto axes = axes_of(r);
    force_to_near_end(axes, arm, leans_[i], r.moment(), f);
    P eased[6];
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) eased[a] = r.compliance(a) * f[a];
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) {
#pragma GCC unroll 6
      for (int b = 0; b < 6; ++b) f[a] -= r.S[packed(a, b)] * eased[b];
      r.still[a] += r.compliance(a) * f[a];
    }
    P kept[Law<P>::kForces];
    to_kept(arm, f, kept);
    for (int a = 0; a < Law<P>::kForces; ++a) r.pull[a] += kept[a];
    if constexpr (Law<P>::kOwnAxes) turn_six(axes.x, axes.w, f);
  }
}

template <class P, template <class> class Law>
template <bool kColumns>
void ChainStep<P, Law>::downward() {
  motion_ = {P(0), P(0), P(0), P(0)};
  P z[6] = {root_x_.x, root_x_.y, root_x_.z, root_w_.x, root_w_.y, root_w_.z};
  if (!(g_.cut)) {
    head_u_ += root_x_;
  } else {
    set_lanes(head_u_, 0, {lane(head_u_.x + root_x_.x, 0), lane(head_u_.y + root_x_.y, 0), lane(head_u_.z + root_x_.z, 0)});
  }
  for (Index i = 0; i < rows_; ++i) {
    Row& r = row_[i];
    const auto axes = axes_of(r);
    if constexpr (Law<P>::kOwnAxes) turn_six(transposed(axes.x), transposed(axes.w), z);
    P F[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};  // what the parent's motion adds
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a)
#pragma GCC unroll 6
      for (int b = 0; b < 6; ++b) F[a] -= r.S[packed(a, b)] * z[b];
    P y[6];
    if (i > 0) {
#pragma GCC unroll 6
      for (int a = 0; a < 6; ++a) y[a] = z[a] + (r.still[a] + r.compliance(a) * F[a]);
    } else {
      // An axis may have no stiffness here, so the steps backwards.
      const auto& head = *kept < kColumns ? 6 : 0 > ();
      for (int a = 0; a < 6; ++a) y[a] = z[a] - head.e[a];
      for (int j = 6; j-- > 0;) {
        P left = head.f[j];
        if constexpr (kColumns)
          for (int m = 0; m < 6; ++m) left += head.B[j][m] * change_[m];
        for (int a = 0; a < 6; ++a)
          if (a != j) left -= head.row[j][a] * y[a];
        y[j] = head.row[j][j] * y[j] + head.gain[j] * left;
      }
    }
    const Vec3<P> arm = arm_now(r);
    P through[Law<P>::kForces];
    to_kept(arm, F, through);
    for (int a = 0; a < Law<P>::kForces; ++a) {
      const P all = r.pull[a] + through[a];
      store_lanes(Law<P>::kOwnAxes ? all : larger(all, P(0)), force_at(i, a));
    }
    const auto idle_spin2 = [&](const Vec3<P>& w) {
      if (!spinning_) return P(0);
      const P spin = spins_ * dot(w, arm);
      return spin * spin;
    };
    move_row(r, axes, leans_[i], r.moment(), arm, y, driven_, drive(i), idle_spin2, motion_, z);
  }
}

template <class P, template <class> class Law>
template <bool kColumns, bool kDamped>
ChainOutcome ChainStep<P, Law>::iterate(const ChainOptions& options) {
  ChainOutcome out;
  const int limit = options.iterations > 0 ? options.iterations : options.max_iterations;
  double last[kMostLanes] = {}, before[kMostLanes];
  std::fill_n(before, kMostLanes, std::numeric_limits<double>::infinity());
  bool ordinary[kMostLanes] = {};
  for (int k = 0; k < W; ++k) {
    outlook_.lane[k].begin(view_.h);
    if (g_.segments[k] > 0) out.unsettled |= 1u << k;
  }
  const std::uint32_t present = out.unsettled;
  const double noise = sizeof(T) == 4 ? 1e-5 : 1e-11;
  for (;;) {
    upward<kColumns, kDamped>();
    // The energy of the state this iteration starts from; of a cut chain in all lanes together.
    double energy[kMostLanes], size[kMostLanes], work[kMostLanes] = {};
    for (int k = 0; k < W; ++k) {
      energy[k] = static_cast<double>(lane(totals_.energy, k)),
      size[k] = energy[k] + 2 * static_cast<double>(lane(totals_.gained, k));
      if (driven_ && out.iterations > 0) work[k] = static_cast<double>(lane(motion_.work, k));
      if (root_held_[k] || (g_.cut && k > 0)) continue;
      // The first vertex is nobody's far vertex.
      const Vec3d u = lane_of(head_u_, k);
      const double moved = 0.5 * static_cast<double>(lane(head_weight_, k)) * norm2(u), done = dot(lane_of(head_rhs_, k), u);
      energy[k] += moved - done, size[k] += moved + std::abs(done);
    }
    if (g_.cut) {
      for (int k = 1; k < W; ++k) energy[0] += energy[k], size[0] += size[k], work[0] += work[k];
      for (int k = 1; k < W; ++k) energy[k] = energy[0], size[k] = size[0], work[k] = work[0];
    }
    for (int k = 0; k < W; ++k) {
      if (g_.segments[k] == 0) continue;
      // Those that have settled wait for the others; what rounding does to them meanwhile says nothing.
      const bool watched = !ordinary[k] && (out.unsettled >> k & 1u) != 0;
      if (out.iterations > 0 && watched && !(energy[k] - work[k] <= last[k] + noise * size[k])) out.risen |= 1u << k;
      if (!std::isfinite(energy[k])) out.risen |= 1u << k;
      if constexpr (Law<P>::kOwnAxes)
        if (lane(totals_.room, k) < T(0)) out.risen |= 1u << k;
      last[k] = energy[k];
    }
    if (out.iterations == limit || (present & ~out.risen) == 0) break;
    if constexpr (kColumns) close(), raise_tails();
    else find_root();
    downward<kColumns>();
    ++out.iterations;
    for (int k = 0; k < W; ++k)
      if (g_.segments[k] > 0 && !(lane(motion_.turn2, k) <= T(1) && lane(motion_.move2, k) < std::numeric_limits<T>::infinity()))
        out.risen |= 1u << k;
    settle(options, before, ordinary, out.unsettled);
    if ((out.unsettled & ~out.risen) == 0 && options.iterations == 0) break;
    if (options.iterations > 0 && out.iterations == limit) break;
  }
  if (options.iterations > 0) out.unsettled = 0;
  out.unsettled &= ~out.risen;  // whether those converge is for others to say
  return out;
}

/// Looks at the last correction. Takes lanes that are done out of `unsettled`, unless the number of iterations is fixed: a lane
/// at the floor may well seem to leave it again while others go on.
template <class P, template <class> class Law>
void ChainStep<P, Law>::settle(const ChainOptions& options, double (&before)[kMostLanes], bool (&ordinary)[kMostLanes],
                               std::uint32_t& unsettled) {
  double moved[kMostLanes], motion[kMostLanes], length = 0;
  for (int k = 0; k < W; ++k) {
    moved[k] = std::sqrt(static_cast<double>(lane(motion_.move2, k))),
    motion[k] = std::sqrt(static_cast<double>(lane(motion_.motion2, k)));
    length += length_[k];
  }
  if (g_.cut) {
    std::fill_n(moved, W, *std::max_element(moved, moved + W));
    std::fill_n(motion, W, *std::max_element(motion, motion + W));
  }
  for (int k = 0; k < W; ++k) {
    const Progress now{moved[k], before[k], motion[k]};
    ordinary[k] = is_ordinary(now, std::sqrt(static_cast<double>(lane(motion_.turn2, k))));
    before[k] = moved[k];
    if (options.iterations > 0) continue;
    const bool enough = outlook_.lane[k].is_enough(now, lane(motion_.turn2, k) <= T(0.01), options.tolerance);
    if (enough || moved[k] <= options.tolerance * motion[k] ||
        is_at_floor(now, free_motion(k), g_.cut ? length : length_[k], sizeof(T) == 4))
      unsettled &= ~(1u << k);
  }
}

/// Of a lane's vertices, or those of all lanes of a cut chain, if nothing were elastic [m].
template <class P, template <class> class Law>
double ChainStep<P, Law>::free_motion(int k) const {
  P farthest2 = P(0);
  for (Index i = 0; i < rows_; ++i) farthest2 = larger(farthest2, row_[i].free_motion2());
  double most = 0;
  for (int other = 0; other < W; ++other)
    if (other == k || g_.cut) most = std::max(most, static_cast<double>(lane(farthest2, other)));
  return std::sqrt(most);
}

/// A row that load_plain() took, without a branch.
template <class P, template <class> class Law>
OSIER_FN void ChainStep<P, Law>::store_plain(Index i) {
  using R = Four<P, double>;
  const Row& r = row_[i];
  const R inverse_h = R::all(1 / view_.h);
  D turn[4][kParts];
  widen(r.turn.x, turn[0]), widen(r.turn.y, turn[1]), widen(r.turn.z, turn[2]), widen(r.turn.w, turn[3]);
#pragma GCC unroll 2
  for (int g = 0; g < kParts; ++g) {
    const auto segment = [&](int k) { return g_.first_segment[g * D_lanes + k] + i; };
    const Quat<D> q = turned(Quat<D>{turn[0][g], turn[1][g], turn[2][g], turn[3][g]}, gather<D>(view_.rotation, segment));
    const D out[4] = {q.x, q.y, q.z, q.w};
    rows_of_components(out, [&](int k, const Four<D, double>& row_q) { put_row(row_q, view_.rotation[segment(k)]); });
  }
  const P moved[4] = {r.u.x, r.u.y, r.u.z, P(0)};
  rows_of_components(moved, [&](int k, const Four<P, T>& row_u) {
    const Index v = g_.first_vertex[k] + i + 1;
    const R u = cast_row<double>(row_u);
    put_row(row<P>(view_.position[v]) + u, view_.position[v]);
    put_row(inverse_h * u, view_.velocity_previous[v]);
  });
}

template <class P, template <class> class Law>
void ChainStep<P, Law>::store(std::uint32_t except) {
  const double inverse_h = 1 / view_.h;
  if (g_.cut && except != 0) except = kAll;
  const auto put_vertex = [&](Index v, const Vec3d& u) {
    view_.position[v] = view_.vertex_fixed[v] ? view_.vertex_target[v] : view_.position[v] + u;
    view_.velocity_previous[v] = inverse_h * u;
  };
  for (int k = 0; k < W; ++k) {
    if ((except >> k & 1u) || g_.segments[k] == 0 || (g_.cut && k > 0)) continue;
    put_vertex(g_.first_vertex[k], lane_of(head_u_, k));
  }
  for (Index i = 0; i < rows_; ++i) {
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

/// Forces of a step that went nowhere are no guess for the next, and may be no numbers.
template <class P, template <class> class Law>
void ChainStep<P, Law>::forget(std::uint32_t lanes) {
  if (lanes == 0) return;
  if (g_.cut) lanes = kAll;
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    outlook_.lane[k].forget();
    for (Index i = 0; i < rows_; ++i)
      for (int a = 0; a < Law<P>::kForces; ++a) force_at(i, a)[k] = T(0);
  }
}

}  // namespace osier::systems
