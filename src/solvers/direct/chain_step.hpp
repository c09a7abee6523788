// One time step of chains in lanes by coupled Gauss-Newton iterations: the recursion of link_algebra.hpp with every lane a
// strand, or a piece of one long chain. What is particular to the isotropic and the anisotropic law stands in chain_law.hpp.
//
// Everything is measured from the start of the step, so that float keeps its digits for what happens within the step:
//
//   u        displacement of a vertex, x = x_t + u
//   turn     dq = q conj(q_t), a small rotation; its imaginary part has full relative precision
//   strain   p - axis = (p_t - axis_t) + (u_b - u_a)/l - (dq axis_t dq' - axis_t), the first bracket formed in double
//
// Row i of a lane is segment i with its far vertex i + 1. Upward from the tail, S and f are what row i - 1 feels; downward from
// the head the corrections follow. A tail that is held, or that goes on in the next lane, is a force lambda on the last row that
// is not known yet: six columns B are carried along with f,
//
//   Phi(zeta, lambda) = 1/2 zeta.S zeta - (f + B lambda).zeta - 1/2 lambda.D lambda - d.lambda
//
// and close() finds lambda, lane by lane in double: from the last piece to the first what the piece before feels, back again the
// displacements where they meet.
#pragma once

#include <algorithm>
#include <limits>

#include "exec/lanes.hpp"
#include "math/quat.hpp"
#include "solvers/direct/chain_close.hpp"
#include "solvers/direct/chain_law.hpp"
#include "solvers/direct/link_algebra.hpp"
#include "solvers/direct/settling.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"
#include "solvers/stable_cosserat/step_view.hpp"

namespace osier::direct {

using stable_cosserat::ChainConstant;
using stable_cosserat::ChainGroup;
using stable_cosserat::kMostLanes;
using stable_cosserat::StepView;

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

/// Law: IsotropicLink or AnisotropicLink.
template <class P, template <class> class Law>
struct ChainLinkRow : Law<P> {
  // Of the step.
  Vec3<P> arm0, stretch0;  ///< l axis_t and l (p_t - axis_t); 0 in lanes that end before
  Vec3<P> rhs;             ///< m v_t/h + f of the far vertex
  P weight;                ///< m/h^2 + c/h of the far vertex
  // Of the iteration. `still` and S, and the columns, along the law's axes.
  Vec3<P> u;
  Quat<P> turn;
  P still[6];  ///< y of a parent that stays where it is, C f - e with f + S e in place of f
  P pull;      ///< and the tension then
  P S[21];     ///< lower triangle, row by row
};

/// The shorter of the two quaternions that turn one frame into another.
OSIER_FN Quatd turn_between(const Quatd& from, const Quatd& to) {
  const Quatd turn = to * conj(from);
  return turn.w < 0 ? -turn : turn;
}

/// dq q, a unit again: both factors are units to within rounding, so one step of Newton's method for 1/sqrt is exact.
template <class D>
OSIER_FN Quat<D> turned(const Quat<D>& dq, const Quat<D>& q) {
  const Quat<D> product = dq * q;
  return (D(1.5) - D(0.5) * norm2(product)) * product;
}

/// dq a dq' - a for a small turn, without cancellation.
template <class P>
OSIER_FN Vec3<P> change_by(const Quat<P>& turn, const Vec3<P>& a) {
  const Vec3<P> v = imag(turn);
  const Vec3<P> t = P(2) * cross(v, a);
  return turn.w * t + cross(v, t);
}

template <class P, template <class> class Law>
class ChainStep {
 public:
  using Row = ChainLinkRow<P, Law>;
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = (1u << W) - 1u;
  using D = typename InDouble<P>::type;
  static constexpr int kParts = InDouble<P>::parts, D_lanes = InDouble<P>::lanes;

  static constexpr double kBent = 0.01;  ///< [rad]

  static std::size_t scratch_bytes(Index rows) {
    return static_cast<std::size_t>(rows + 1) * (sizeof(Row) + sizeof(Columns) + 2 * sizeof(bool)) + 64;
  }
  /// `tension` per row and lane, and `outlook`, kept from step to step.
  static ChainOutcome step(const ChainGroup& g, const T* constants, bool damped, const StepView& view,
                           const ChainOptions& options, T* tension, ChainOutlook& outlook, void* scratch) {
    [[maybe_unused]] const FlushDenormals flush;
    ChainStep s(g, constants, damped, view, tension, outlook, scratch);
    s.load();
    s.carry_along();
    const bool columns = s.needs_columns();
    ChainOutcome outcome;
    if (columns && damped) outcome = s.template iterate<true, true>(options);
    else if (columns) outcome = s.template iterate<true, false>(options);
    else if (damped) outcome = s.template iterate<false, true>(options);
    else outcome = s.template iterate<false, false>(options);
    s.store(outcome.risen);
    return outcome;
  }

 private:
  struct Columns {
    P B[6][6];  ///< [column][component]
  };

  ChainStep(const ChainGroup& g, const T* constants, bool damped, const StepView& view, T* tension, ChainOutlook& outlook,
            void* scratch)
      : g_(g),
        constants_(constants),
        tension_(tension),
        outlook_(outlook),
        view_(view),
        damped_(damped),
        driven_(Law<P>::kOwnAxes && view.torque != nullptr),
        jointed_(true),
        rows_(g.cut ? g.rows : g.rows - 1) {
    for (int k = 0; k < W; ++k) jointed_ = jointed_ && g.jointed[k];
    row_ = static_cast<Row*>(scratch);
    column_ = reinterpret_cast<Columns*>(row_ + rows_ + 1);
    plain_ = reinterpret_cast<bool*>(column_ + rows_ + 1);
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
    const int per_row = stable_cosserat::constants_per_row(Law<P>::kLaw, damped_, stable_cosserat::ChainUse::direct);
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
  OSIER_FN typename Law<P>::Damping load_constants(Index i);
  OSIER_FN P tension(Index i) const { return load_lanes<P>(tension_ + static_cast<std::ptrdiff_t>(i) * W); }
  /// |arm|^2, of lanes without a segment something to divide by.
  OSIER_FN static P of_arm(const Vec3<P>& arm) { return larger(norm2(arm), P(T(1e-30))); }
  OSIER_FN bool load_plain(Index i);
  OSIER_FN void store_plain(Index i);
  OSIER_FN void load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping);
  template <bool kColumns, bool kDamped>
  ChainOutcome iterate(const ChainOptions& options);
  template <bool kColumns, bool kDamped>
  void upward();
  template <bool kColumns>
  OSIER_FN void eliminate(int j, P c, P (&S)[21], P (&f)[6], bool keep);
  template <bool kColumns>
  OSIER_FN void turn_all(const Mat3<P>& A, const Mat3<P>& B, P (&S)[21], P (&f)[6]);
  template <bool kColumns, class AnyLean>
  OSIER_FN void lean(const AnyLean& by, const Vec3<P>& e_w, P (&S)[21], P (&f)[6]);
  [[gnu::noinline]] void tail_anchors(Index i, P (&stiffness)[6], P (&couple)[3]);
  void find_root();
  void close();
  template <bool kColumns>
  void downward();
  void carry_along();
  void settle(const ChainOptions& options, double (&before)[kMostLanes], std::uint32_t& unsettled);
  double free_motion(int k) const;
  void store(std::uint32_t except);

  const ChainGroup& g_;
  const T* constants_;
  T* tension_;  ///< per row and lane
  ChainOutlook& outlook_;
  const StepView& view_;
  bool damped_;
  bool driven_;     ///< by torques
  bool jointed_;    ///< no lane is a cable
  Index rows_;      ///< segments of the longest lane
  Index shortest_;  ///< and of the shortest
  Row* row_;
  Columns* column_;
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
  P S_[21], f_[6], B_[6][6], D_[21], d_[6];
  P head_row_[6][6], head_gain_[6], head_f_[6], head_B_[6][6], head_e_[6];
  Vec3<P> root_x_, root_w_;
  P lambda_[6];
  P turn2_, move2_, motion2_, energy_, gained_;
  P work_;  ///< of torques in the last iteration
  P room_;  ///< negative: a pole should change, which the law cannot do within a step
};

constexpr int packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }
/// Where the lower triangle of rotations lies in that of everything.
inline constexpr int kRotationEntries[6] = {packed(3, 3), packed(4, 3), packed(4, 4), packed(5, 3), packed(5, 4), packed(5, 5)};

/// The constants of a row in the number type of the recursion.
template <class P, template <class> class Law>
OSIER_FN auto ChainStep<P, Law>::load_constants(Index i) -> typename Law<P>::Damping {
  Row& r = row_[i];
  const auto number = [&](int what) { return constant(i, what); };
  const P inverse_h(static_cast<T>(1 / view_.h));
  const auto damping = Law<P>::stretch_damping(number, inverse_h, damped_);
  const P il = constant(i, stable_cosserat::kInverseLength);
  r.load_constants(number, select(il > P(0), inverse(il), P(0)), il, inverse_h, damping, damped_);
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
  const auto damping = load_constants(i);
  typename Law<P>::template Start<D> start[kParts];
  r.begin(start, damping);
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
  r.take(start);
  if constexpr (Law<P>::kOwnAxes)
    if (driven_) {
      const auto segment = [&](int k) { return s[k]; };
      r.torque = gather<P>(view_.torque, segment), r.torque_material = gather<P>(view_.torque_material, segment);
    }
  r.turn = {P(0), P(0), P(0), P(1)};
  const Vec3<P> v = gather<P>(view_.velocity, far);
  r.u = h * v;
  load_inertia(i, v, gather<P>(view_.force, far), gather<P>(view_.damping, far));
  return true;
}

template <class P, template <class> class Law>
OSIER_FN void ChainStep<P, Law>::load_inertia(Index i, const Vec3<P>& velocity, const Vec3<P>& force, P damping) {
  Row& r = row_[i];
  const P inverse_h(static_cast<T>(1 / view_.h)), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  // Mass of the far vertex: the next row's, or the first one of the next lane.
  P m = i + 1 < g_.rows ? constant(i + 1, stable_cosserat::kMass) : P(0);
  if (g_.cut && i + 1 == rows_) m = shifted_down(constant(0, stable_cosserat::kMass)), set_lane(m, W - 1, T(0));
  r.rhs = force + (m * inverse_h) * velocity;
  r.weight = m * inverse_h2 + inverse_h * damping;
}

template <class P, template <class> class Law>
void ChainStep<P, Law>::load() {
  const double h = view_.h;
  const Vec3d* x = view_.position;
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
    const auto stretch_damping = load_constants(i);
    Vec3<P> velocity, force;
    P damping;
    for (int k = 0; k < W; ++k) {
      const bool here = i < g_.segments[k];
      const Index s = g_.first_segment[k] + (here ? i : 0), a = g_.first_vertex[k] + (here ? i : 0), b = a + (here ? 1 : 0);
      const Quatd q = view_.rotation[s];
      const double l = here ? view_.rest_length[s] : 0;
      auto start = r.begin_lane(k, stretch_damping);
      if (here) {
        const Index before = i > 0 || (g_.cut && k > 0) ? s - 1 : g_.head[k];
        const Index joint = i > 0 || (g_.cut && k > 0) ? g_.first_joint[k] + i : g_.head_joint[k];
        const bool jointed = before >= 0 && joint >= 0 && lane(r.joint_stiffness(), k) > 0;
        Quatd rest = jointed ? view_.joint_rest[joint] : Quatd{};
        if (jointed && view_.joint_frames[joint][1] != s) rest = conj(rest);
        start.form(q, jointed ? view_.rotation[before] : q, rest, x[b] - x[a], l);
      }
      set_lanes(r.arm0, k, cast<T>(start.segment.arm)), set_lanes(r.stretch0, k, cast<T>(start.segment.stretch));
      r.take_lane(k, start);
      if constexpr (Law<P>::kOwnAxes)
        if (driven_) {
          set_lanes(r.torque, k, here ? cast<T>(view_.torque[s]) : Vec3<T>{});
          set_lanes(r.torque_material, k, here ? cast<T>(view_.torque_material[s]) : Vec3<T>{});
        }
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

/// Frames begin where their edges turn if vertices keep their velocities. Not where those would take them far: they are not the
/// strand's then.
template <class P, template <class> class Law>
void ChainStep<P, Law>::carry_along() {
  for (Index i = 0; i < rows_; ++i) {
    Row& r = row_[i];
    Vec3<P> near = i > 0 ? row_[i - 1].u : head_u_;
    if (i == 0 && g_.cut) {
      const Vec3<P>& last = row_[rows_ - 1].u;
      near = {from_before(near.x, last.x), from_before(near.y, last.y), from_before(near.z, last.z)};
    }
    const Vec3<P> since = r.u - near;
    P free = select(norm2(since) < P(0.25) * norm2(r.arm0), inverse(norm2(r.arm0)), P(0));
    if (!plain_[i])
      for (int k = 0; k < W; ++k)
        if (i >= g_.segments[k] || view_.frame_control[g_.first_segment[k] + i] != FrameControl::free) set_lane(free, k, T(0));
    const Vec3<P> half = (P(0.5) * free) * cross(r.arm0, since);
    const Quat<P> turn{half.x, half.y, half.z, P(1)};
    const Quat<P> unit = inverse_sqrt(norm2(turn)) * turn;
    if (plain_[i]) {
      r.turn = unit;
      continue;
    }
    for (int k = 0; k < W; ++k)
      if (lane(free, k) > T(0)) set_lanes(r.turn, k, osier::lane_of(unit, k));
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
    const double mass = static_cast<double>(lane(constant(0, stable_cosserat::kMass), k));
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
    add(energy_, joint_energy(tail_[k], frame, tail_frame_[k]));
  }
}

/// One axis of the link in series with S, and with what is carried along.
template <class P, template <class> class Law>
template <bool kColumns>
OSIER_FN void ChainStep<P, Law>::eliminate(int j, P c, P (&S)[21], P (&f)[6], bool keep) {
  P row[6];
  const P g = eliminate_spring(
      j, c, [&](int a, int b) -> P& { return S[packed(a, b)]; }, row);
  const P fj = pass_spring(j, g, row, f);
  if (keep) {
    for (int a = 0; a < 6; ++a) head_row_[j][a] = row[a];
    head_gain_[j] = g, head_f_[j] = fj;
  }
  if constexpr (kColumns) {
    P along[6];
#pragma GCC unroll 6
    for (int m = 0; m < 6; ++m) {
      along[m] = pass_spring(j, g, row, B_[m]);
      const P gb = g * along[m];
#pragma GCC unroll 6
      for (int n = 0; n <= m; ++n) D_[packed(m, n)] += gb * along[n];
      d_[m] += gb * fj;
    }
    if (keep)
      for (int m = 0; m < 6; ++m) head_B_[j][m] = along[m];
  }
}

/// S, f and the columns along other axes: rows of A for position and of B for rotation.
template <class P, template <class> class Law>
template <bool kColumns>
OSIER_FN void ChainStep<P, Law>::turn_all(const Mat3<P>& A, const Mat3<P>& B, P (&S)[21], P (&f)[6]) {
  turn_axes(A, B, [&](int a, int b) -> P& { return S[packed(a, b)]; });
  turn_six(A, B, f);
  if constexpr (kColumns)
    for (auto& column : B_) turn_six(A, B, column);
}

/// What a joint's moment does to them as its frames turn. Where P^T m is not m, f is what makes the link pull its frame by m.
template <class P, template <class> class Law>
template <bool kColumns, class AnyLean>
OSIER_FN void ChainStep<P, Law>::lean(const AnyLean& by, [[maybe_unused]] const Vec3<P>& e_w, P (&S)[21], P (&f)[6]) {
  const auto force = [&](P(&v)[6]) {
    const Vec3<P> w = felt_through(by, Vec3<P>{v[3], v[4], v[5]});
    v[3] = w.x, v[4] = w.y, v[5] = w.z;
  };
  turn_with_moment(by, [&](int a, int b) -> P& { return S[packed(a, b)]; });
  force(f);
  if constexpr (Law<P>::kOwnAxes) {
    const Vec3<P> w = plus_cross({f[3], f[4], f[5]}, by.by, e_w);
    f[3] = w.x, f[4] = w.y, f[5] = w.z;
  }
  if constexpr (kColumns)
    for (auto& column : B_) force(column);
}

template <class P, template <class> class Law>
template <bool kColumns, bool kDamped>
void ChainStep<P, Law>::upward() {
  P S[21], f[6];
  for (P& s : S) s = P(0);
  for (P& a : f) a = P(0);
  energy_ = gained_ = room_ = P(0);
  if constexpr (kColumns) {
    for (auto& column : B_)
      for (P& b : column) b = P(0);
    for (P& b : D_) b = P(0);
    for (P& b : d_) b = P(0);
  }
  if (g_.cut) {
    const Row& last = row_[rows_ - 1];
    head_u_ = {from_before(head_u_.x, last.u.x), from_before(head_u_.y, last.u.y), from_before(head_u_.z, last.u.z)};
    head_turn_ = {from_before(head_turn_.x, last.turn.x), from_before(head_turn_.y, last.turn.y),
                  from_before(head_turn_.z, last.turn.z), from_before(head_turn_.w, last.turn.w)};
  }
  [[maybe_unused]] Quat<P> frame;
  if constexpr (Law<P>::kOwnAxes) frame = row_[rows_ - 1].turn * row_[rows_ - 1].frame0;
  for (Index i = rows_; i-- > 0;) {
    Row& r = row_[i];
    const Vec3<P>& u_near = i > 0 ? row_[i - 1].u : head_u_;
    const Quat<P>& turn_near = i > 0 ? row_[i - 1].turn : head_turn_;
    if constexpr (kColumns) {
      for (int k = 0; k < W; ++k)
        if (i == g_.segments[k] - 1)
          for (int m = 0; m < 6; ++m) set_lane(B_[m][m], k, T(1));
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
    // Strains, and what acts on the node alone.
    const Vec3<P> delta = change_by(r.turn, r.arm0);
    const Vec3<P> arm = r.arm0 + delta;
    Vec3<P> e_x = r.stretch0 + (r.u - u_near) - delta, e_w;
    P stretched, bent;
    if constexpr (Law<P>::kOwnAxes) {
      const Quat<P>& frame0_near = i > 0 ? row_[i - 1].frame0 : head_frame0_;
      const Quat<P> frame_near = turn_near * frame0_near;
      const Vec3<P> couple =
          r.template strain<kDamped>(r.turn, turn_near, frame0_near, frame_near, frame, e_x, e_w, stretched, bent, room_);
      frame = frame_near;
      f[3] += couple.x, f[4] += couple.y, f[5] += couple.z;
      if (driven_) {
        r.drive = r.torque + r.x_axes * r.torque_material;
        f[3] += r.drive.x, f[4] += r.drive.y, f[5] += r.drive.z;
      }
    } else {
      P viscous(0);
      if constexpr (kDamped)
        viscous = Law<P>::joint_damping([&](int what) { return constant(i, what); }, P(static_cast<T>(1 / view_.h)));
      r.template strain<kDamped>(r.turn, turn_near, viscous, e_x, e_w, stretched, bent);
    }
    const P moved = (P(0.5) * r.weight) * norm2(r.u), done = dot(r.rhs, r.u);
    energy_ += stretched + bent + moved - done;
    gained_ += larger(done, P(0));
    f[0] = f[0] + r.rhs.x - r.weight * r.u.x;
    f[1] = f[1] + r.rhs.y - r.weight * r.u.y;
    f[2] = f[2] + r.rhs.z - r.weight * r.u.z;
    S[packed(0, 0)] += r.weight, S[packed(1, 1)] += r.weight, S[packed(2, 2)] += r.weight;
    const P arm2 = of_arm(arm), inverse_arm = inverse_sqrt(arm2), across = -tension(i) * inverse_arm, pull = -across * arm2;
    S[packed(3, 3)] += pull + across * arm.x * arm.x;
    S[packed(4, 3)] += across * arm.y * arm.x;
    S[packed(4, 4)] += pull + across * arm.y * arm.y;
    S[packed(5, 3)] += across * arm.z * arm.x;
    S[packed(5, 4)] += across * arm.z * arm.y;
    S[packed(5, 5)] += pull + across * arm.z * arm.z;
    if (i == 0)  // a free frame may spin about its own axis at no cost: a whiff of stiffness keeps it where it is
      for (int a = 3; a < 6; ++a) S[packed(a, a)] += whiff_;
    see_from_near_end(arm, [&](int a, int b) -> P& { return S[packed(a, b)]; });
    const auto see_force = [&](P(&v)[6]) {
      const Vec3<P> w = plus_cross({v[3], v[4], v[5]}, arm, {v[0], v[1], v[2]});
      v[3] = w.x, v[4] = w.y, v[5] = w.z;
    };
    see_force(f);
    if constexpr (kColumns) {
#pragma GCC unroll 6
      for (auto& column : B_) see_force(column);
    }
    if constexpr (Law<P>::kOwnAxes) turn_all<kColumns>(transposed(r.x_axes), transposed(r.w_axes), S, f);
    // Of a joint that is hardly bent it is not worth its price: half of its strain is the factor of convergence it would save.
    leans_[i] = any(norm2(e_w) > P(T(kBent * kBent)));
    if (leans_[i]) lean<kColumns>(r.moment(), e_w, S, f);
    const bool keep = i == 0;
    const P c[6] = {r.compliance(0), r.compliance(1), r.compliance(2), r.compliance(3), r.compliance(4), r.compliance(5)};
    eliminate<kColumns>(0, c[0], S, f, keep);
    eliminate<kColumns>(1, c[1], S, f, keep);
    eliminate<kColumns>(2, c[2], S, f, keep);
    eliminate<kColumns>(3, c[3], S, f, keep);
    eliminate<kColumns>(4, c[4], S, f, keep);
    eliminate<kColumns>(5, c[5], S, f, keep);
#pragma GCC unroll 21
    for (int a = 0; a < 21; ++a) r.S[a] = S[a];
    const P e[6] = {e_x.x, e_x.y, e_x.z, e_w.x, e_w.y, e_w.z};
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) {
      P sum = f[a];
#pragma GCC unroll 6
      for (int b = 0; b < 6; ++b) sum += S[packed(a, b)] * e[b];
      f[a] = sum;
      r.still[a] = c[a] * sum - e[a];
    }
    if (keep)
      for (int a = 0; a < 6; ++a) head_e_[a] = e[a];
    Vec3<P> through{f[0], f[1], f[2]};
    if constexpr (Law<P>::kOwnAxes) through = r.x_axes * through;
    r.pull = dot(through, arm) * inverse_arm;
    if constexpr (kColumns) {
#pragma GCC unroll 6
      for (int m = 0; m < 6; ++m) {
        P sum = d_[m];
#pragma GCC unroll 6
        for (int a = 0; a < 6; ++a) {
          column_[i].B[m][a] = B_[m][a];
          sum -= B_[m][a] * e[a];
        }
        d_[m] = sum;
      }
    }
    if constexpr (Law<P>::kOwnAxes) turn_all<kColumns>(r.x_axes, r.w_axes, S, f);
  }
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
  double z[kMostLanes][6], lambda[kMostLanes][6];
  root_x_ = root_w_ = {P(0), P(0), P(0)};
  for (P& l : lambda_) l = P(0);
  const auto number = [](T x) { return static_cast<double>(x); };
  for (int first = 0; first < W;) {
    int count = 1;
    if (g_.cut)
      while (first + count < W && g_.segments[first + count] > 0) ++count;
    if (g_.segments[first] > 0) {
      for (int p = 0; p < count; ++p) {
        const int k = first + p;
        for (int a = 0; a < 21; ++a) pieces[p].S[a] = number(lane(S_[a], k)), pieces[p].D[a] = number(lane(D_[a], k));
        for (int a = 0; a < 6; ++a) {
          pieces[p].f[a] = number(lane(f_[a], k)), pieces[p].d[a] = number(lane(d_[a], k));
          for (int c = 0; c < 6; ++c) pieces[p].B[c][a] = number(lane(B_[c][a], k));
        }
      }
      const int last = first + count - 1;
      ChainEnds ends{root_held_[first], number(lane(head_weight_, first)), {}, {tail_held_[last][0], tail_held_[last][1]}};
      const Vec3d own = lane_of(head_rhs_, first) - ends.root_weight * lane_of(head_u_, first);
      ends.root_force[0] = own.x, ends.root_force[1] = own.y, ends.root_force[2] = own.z;
      close_pieces(pieces, count, ends, z, lambda);
      for (int p = 0; p < count; ++p) {
        set_lanes(root_x_, first + p, {T(z[p][0]), T(z[p][1]), T(z[p][2])});
        set_lanes(root_w_, first + p, {T(z[p][3]), T(z[p][4]), T(z[p][5])});
        for (int a = 0; a < 6; ++a) set_lane(lambda_[a], first + p, T(lambda[p][a]));
      }
    }
    first += g_.cut ? W : 1;
  }
}

template <class P, template <class> class Law>
template <bool kColumns>
void ChainStep<P, Law>::downward() {
  turn2_ = move2_ = motion2_ = work_ = P(0);
  P z[6] = {root_x_.x, root_x_.y, root_x_.z, root_w_.x, root_w_.y, root_w_.z};
  if (!(g_.cut)) {
    head_u_ += root_x_;
  } else {
    set_lanes(head_u_, 0, {lane(head_u_.x + root_x_.x, 0), lane(head_u_.y + root_x_.y, 0), lane(head_u_.z + root_x_.z, 0)});
  }
  for (Index i = 0; i < rows_; ++i) {
    Row& r = row_[i];
    if constexpr (Law<P>::kOwnAxes) turn_six(transposed(r.x_axes), transposed(r.w_axes), z);
    P F[6] = {P(0), P(0), P(0), P(0), P(0), P(0)};  // what the parent's motion and the forces at the tail add
    if constexpr (kColumns) {
#pragma GCC unroll 6
      for (int m = 0; m < 6; ++m)
#pragma GCC unroll 6
        for (int a = 0; a < 6; ++a) F[a] += column_[i].B[m][a] * lambda_[m];
    }
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
      for (int a = 0; a < 6; ++a) y[a] = z[a] - head_e_[a];
      for (int j = 6; j-- > 0;) {
        P left = head_f_[j];
        if constexpr (kColumns)
          for (int m = 0; m < 6; ++m) left += head_B_[j][m] * lambda_[m];
        for (int a = 0; a < 6; ++a)
          if (a != j) left -= head_row_[j][a] * y[a];
        y[j] = head_row_[j][j] * y[j] + head_gain_[j] * left;
      }
    }
    if (leans_[i]) {
      const Vec3<P> led = led_by(r.moment(), Vec3<P>{y[3], y[4], y[5]});
      y[3] = led.x, y[4] = led.y, y[5] = led.z;
    }
    if constexpr (Law<P>::kOwnAxes) {
      turn_six(r.x_axes, r.w_axes, y);
      const Vec3<P> pull = r.x_axes * Vec3<P>{F[0], F[1], F[2]};
      F[0] = pull.x, F[1] = pull.y, F[2] = pull.z;
    }
    const Vec3<P> w{y[3], y[4], y[5]};
    const Vec3<P> arm = r.arm0 + change_by(r.turn, r.arm0);
    const Vec3<P> dx = minus_cross({y[0], y[1], y[2]}, arm, w);
    const P arm2 = norm2(arm), inverse_arm = inverse_sqrt(of_arm(arm));
    const P along = r.pull + (F[0] * arm.x + F[1] * arm.y + F[2] * arm.z) * inverse_arm;
    store_lanes(larger(along, P(0)), tension_ + static_cast<std::ptrdiff_t>(i) * W);
    r.u += dx;
    const Quat<P> step = Quat<P>{P(0.5) * w.x, P(0.5) * w.y, P(0.5) * w.z, P(1)} * r.turn;
    r.turn = inverse_sqrt(norm2(step)) * step;
    if constexpr (Law<P>::kOwnAxes)
      if (driven_) work_ += dot(r.drive, w);
    const MaskOf<P> present = arm2 > P(0);
    const P w2 = norm2(w);
    turn2_ = larger(turn2_, select(present, w2, P(0)));
    // Where nothing holds the spin, what rounding makes of it moves no vertex and says nothing about the step.
    P bent2 = arm2 * w2;
    if (spinning_) {
      const P spin = spins_ * dot(w, arm);
      bent2 -= spin * spin;
    }
    move2_ = larger(move2_, select(present, larger(norm2(dx), bent2), P(0)));
    motion2_ = larger(motion2_, select(present, norm2(r.u), P(0)));
    z[0] = dx.x, z[1] = dx.y, z[2] = dx.z, z[3] = w.x, z[4] = w.y, z[5] = w.z;
  }
}

template <class P, template <class> class Law>
template <bool kColumns, bool kDamped>
ChainOutcome ChainStep<P, Law>::iterate(const ChainOptions& options) {
  ChainOutcome out;
  const int limit = options.iterations > 0 ? options.iterations : options.max_iterations;
  double last[kMostLanes] = {}, before[kMostLanes];
  std::fill_n(before, kMostLanes, std::numeric_limits<double>::infinity());
  for (int k = 0; k < W; ++k) {
    outlook_.lane[k].begin(view_.h);
    if (g_.segments[k] > 0) out.unsettled |= 1u << k;
  }
  const double noise = sizeof(T) == 4 ? 1e-5 : 1e-11;
  for (;;) {
    upward<kColumns, kDamped>();
    // The energy of the state this iteration starts from; of a cut chain in all lanes together.
    double energy[kMostLanes], size[kMostLanes], work[kMostLanes] = {};
    for (int k = 0; k < W; ++k) {
      energy[k] = static_cast<double>(lane(energy_, k)), size[k] = energy[k] + 2 * static_cast<double>(lane(gained_, k));
      if (driven_ && out.iterations > 0) work[k] = static_cast<double>(lane(work_, k));
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
      if (out.iterations > 0 && !(energy[k] - work[k] <= last[k] + noise * size[k])) out.risen |= 1u << k;
      if constexpr (Law<P>::kOwnAxes)
        if (lane(room_, k) < T(0)) out.risen |= 1u << k;
      last[k] = energy[k];
    }
    if (out.iterations == limit || out.risen == kAll) break;
    if constexpr (kColumns) close();
    else find_root();
    downward<kColumns>();
    ++out.iterations;
    for (int k = 0; k < W; ++k)
      if (g_.segments[k] > 0 && !(lane(turn2_, k) <= T(1) && lane(move2_, k) < std::numeric_limits<T>::infinity()))
        out.risen |= 1u << k;
    if (options.iterations == 0) settle(options, before, out.unsettled);
    if (out.unsettled == 0 && options.iterations == 0) break;
    if (options.iterations > 0 && out.iterations == limit) break;
  }
  if (options.iterations > 0) out.unsettled = 0;
  out.unsettled &= ~out.risen;  // whether those converge is for others to say
  return out;
}

/// Takes lanes that are done out of `unsettled`: a lane at the floor may well seem to leave it again while others go on.
template <class P, template <class> class Law>
void ChainStep<P, Law>::settle(const ChainOptions& options, double (&before)[kMostLanes], std::uint32_t& unsettled) {
  double moved[kMostLanes], motion[kMostLanes], length = 0;
  for (int k = 0; k < W; ++k) {
    moved[k] = std::sqrt(static_cast<double>(lane(move2_, k))), motion[k] = std::sqrt(static_cast<double>(lane(motion2_, k)));
    length += length_[k];
  }
  if (g_.cut) {
    std::fill_n(moved, W, *std::max_element(moved, moved + W));
    std::fill_n(motion, W, *std::max_element(motion, motion + W));
  }
  for (int k = 0; k < W; ++k) {
    const Progress now{moved[k], before[k], motion[k]};
    const bool enough = outlook_.lane[k].is_enough(now, lane(turn2_, k) <= T(0.01), options.tolerance);
    if (enough || moved[k] <= options.tolerance * motion[k] ||
        is_at_floor(now, free_motion(k), g_.cut ? length : length_[k], sizeof(T) == 4))
      unsettled &= ~(1u << k);
    before[k] = moved[k];
  }
}

/// Of a lane's vertices, or those of all lanes of a cut chain, if nothing were elastic [m].
template <class P, template <class> class Law>
double ChainStep<P, Law>::free_motion(int k) const {
  P farthest2 = P(0);
  for (Index i = 0; i < rows_; ++i) {
    const Row& r = row_[i];
    const Vec3<P> u = inverse(r.weight) * r.rhs;
    farthest2 = larger(farthest2, select(r.weight > P(0), norm2(u), P(0)));
  }
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

}  // namespace osier::direct
