// Red-black sweeps over a group of chains in lanes (chain_plan.hpp), all iterations of a step while the group is in cache. Law is
// one of sweep_laws.hpp.
//
// The four half-sweeps (even vertices, odd vertices, even segments, odd segments) run interleaved along the rows, each element as
// soon as the neighbours that it must see are updated:
//
//   v0 | v2 v1 s0 | v4 v3 s2 | v6 v5 s4 s1 | v8 v7 s6 s3 | ...
//
// Positions see frames of the last sweep, frames see new positions, odd elements see new even ones: one pass computes the same
// numbers as four. A cut chain continues in the next lane: ghost rows before the first and after the last row hold the
// neighbours' values and are refreshed when the order requires it.
#pragma once

#include "exec/lanes.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/chain_prefetch.hpp"
#include "solvers/stable_cosserat/chain_row.hpp"
#include "solvers/stable_cosserat/safeguarded_frame.hpp"

namespace osier::stable_cosserat {

/// Masks of lanes that are held, or that need the safeguarded update.
struct RowFlags {
  std::uint32_t vertex_held, frame_held, frame_hinged;
};

template <class P, class Law>
class ChainSweep {
 public:
  using T = ScalarOf<P>;

  static std::size_t scratch_bytes(Index rows, bool damped) {
    return static_cast<std::size_t>(rows + 2) *
               (sizeof(Row) + (damped ? sizeof(Damping) : 0) + (Law::kClosedForm ? sizeof(P) : 0) + sizeof(RowFlags)) +
           64;
  }

  /// One step of one group. Returns false when a number is not finite.
  static bool step(const lanes::ChainGroup& g, const lanes::ChainGroup* next, const T* constants, bool damped,
                   const lanes::StepView& view, Lambda lambda, int iterations, void* scratch) {
    ChainSweep s(g, next, constants, damped, view, scratch);
    if (damped) s.run<true>(lambda, iterations);
    else s.run<false>(lambda, iterations);
    return s.store();
  }

 private:
  using Row = ChainRow<P, Law>;
  using Damping = ChainDamping<P>;
  using Segment = typename Law::Segment;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = all_lanes<P>;

  ChainSweep(const lanes::ChainGroup& g, const lanes::ChainGroup* next, const T* constants, bool damped,
             const lanes::StepView& view, void* scratch)
      : g_(g),
        view_(view),
        rows_(g.rows),
        shortest_(g.rows),
        next_(next, view, lanes::ChainUse::sweeps),
        constants_(constants),
        constants_per_row_(
            lanes::constants_per_row(Law::kClosedForm ? StiffnessLaw::isotropic : StiffnessLaw::anisotropic, damped)) {
    for (int k = 0; k < W; ++k) shortest_ = g.segments[k] < shortest_ ? g.segments[k] : shortest_;
    auto* memory = static_cast<std::byte*>(scratch);
    row_ = take<Row>(memory);
    if (damped) damping_ = take<Damping>(memory);
    if (Law::kClosedForm) gamma_ = take<P>(memory);
    flags_ = take<RowFlags>(memory);
  }
  /// Takes an array with ghost rows from scratch memory.
  template <class A>
  A* take(std::byte*& scratch) const {
    A* array = reinterpret_cast<A*>(scratch) + 1;
    scratch += static_cast<std::size_t>(rows_ + 2) * sizeof(A);
    return array;
  }

  template <bool kDamped>
  void run(Lambda lambda, int iterations) {
    const bool with_gamma = Law::kClosedForm && lambda == Lambda::exact;
    load<kDamped>(with_gamma);
    if constexpr (Law::kClosedForm) {
      if (lambda == Lambda::approx) sweeps<kDamped, Lambda::approx>(iterations);
      if (lambda == Lambda::exact) sweeps<kDamped, Lambda::exact>(iterations);
    }
    if (!Law::kClosedForm || lambda == Lambda::secular) sweeps<kDamped, Lambda::secular>(iterations);
    if (with_gamma) store_gamma();
  }
  template <bool kDamped>
  void load(bool with_gamma);
  template <bool kDamped, Lambda kLambda>
  void sweeps(int iterations) {
    for (int n = 0; n < iterations; ++n) sweep<kDamped, kLambda>();
  }
  template <bool kDamped, Lambda kLambda>
  void sweep();
  OSIER_FN void move_vertex(Index i);
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment(Index i);
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] void safeguarded_frames(Index i, std::uint32_t lanes, Quat<P>& q);
  void store_gamma() const {
    for (Index i = 0; i < rows_; ++i)
      for (int k = 0; k < W; ++k)
        if (i < g_.segments[k]) view_.gamma[g_.first_segment[k] + i] = static_cast<double>(lane(gamma_[i], k));
  }
  /// Stores the state. Returns false when a number is not finite.
  bool store() const;

  // ------------------------------------------------------------------------------------------------ numbers of the model

  OSIER_FN P constant(Index i, int what) const {
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * constants_per_row_ + what) * W);
  }
  OSIER_FN Vec3<P> three_constants(Index i, int what) const {
    return {constant(i, what), constant(i, what + 1), constant(i, what + 2)};
  }
  OSIER_FN P inverse_step() const { return P(static_cast<T>(1 / view_.h)); }

  /// The model's numbers of a row's elements; a lane that has ended reads those of its first row.
  struct Numbers {
    Index vertex[W], next[W], segment[W];
  };
  OSIER_FN Numbers numbers(Index i) const {
    Numbers n;
    for (int k = 0; k < W; ++k) {
      const bool vertex = i < g_.vertices[k], segment = i < g_.segments[k];
      n.vertex[k] = g_.first_vertex[k] + (vertex ? i : 0);
      n.next[k] = n.vertex[k] + (segment ? 1 : 0);
      n.segment[k] = g_.first_segment[k] + (segment ? i : 0);
    }
    return n;
  }
  /// The frame before a row's segment in a lane: the frame of a segment, also across a cut, or an anchor, or -1.
  OSIER_FN Index frame_before(Index i, int k) const {
    if (i > 0 || (g_.cut && k > 0)) return g_.first_segment[k] + i - 1;
    return g_.head[k];
  }

  // -------------------------------------------------------------------------------------------------------- load

  OSIER_FN RowFlags flags_at(Index i, const Numbers& n) const;
  /// Loads flags, u, rhs and q of a row; returns m/h^2 + c/h.
  OSIER_FN void load_vertex(Index i, const Numbers& n);
  template <bool kDamped>
  OSIER_FN void load_segment(Index i, const Numbers& n);
  template <bool kDamped>
  OSIER_FN void load_joint(Index i);
  /// Loads anchors into the rows before the first segment and after the last.
  void put_anchors(bool at_end) {
    const auto put = [&](Index i, int k, Index frame) {
      const bool fixed = at_end && view_.frame_control[frame] == FrameControl::fixed;
      set_lanes(row_[i].q, k, cast<T>(fixed ? view_.frame_target[frame] : view_.rotation[frame]));
    };
    for (int k = 0; k < W; ++k) {
      if (g_.head[k] >= 0) put(-1, k, g_.head[k]);
      if (g_.tail[k] >= 0) put(g_.segments[k], k, g_.tail[k]);
    }
  }
  /// Sets prescribed frames to their rotation at the end of the step.
  OSIER_FN void hold_frame(Index i) {
    if (flags_[i].frame_held == 0) return;
    for (int k = 0; k < W; ++k) {
      const Index s = g_.first_segment[k] + i;
      if (i < g_.segments[k] && view_.frame_control[s] == FrameControl::fixed)
        set_lanes(row_[i].q, k, cast<T>(view_.frame_target[s]));
    }
  }

  // ------------------------------------------------------------------------------------------- what the law asks of a row

  /// Stiffness of the axes, damping folded in [N/m].
  template <bool kDamped>
  OSIER_FN Vec3<P> stiffness(Index i) const {
    const Vec3<P> k = three_constants(i, lanes::kStretchOfSweep);
    if constexpr (!kDamped) return k;
    const Vec3<P> alpha = inverse_step() * three_constants(i, lanes::kTauStretchOfSweep);
    return k + times(alpha, k);
  }
  /// eta in closed form, otherwise the rest vector [m].
  template <bool kDamped>
  OSIER_FN Vec3<P> rest_axis(Index i) const {
    if constexpr (kDamped) return damping_[i].axis;
    else if constexpr (Law::kClosedForm) return {P(0), P(0), P(1)};
    else return {P(0), P(0), constant(i, lanes::kLengthOfSweep)};
  }
  template <bool kDamped>
  OSIER_FN Segment segment(Index i) const {
    const Row& r = row_[i];
    const Vec3<P> stretch = row_[i + 1].u - r.u;
    if constexpr (Law::kClosedForm) return segment_of(r, stretch, rest_axis<kDamped>(i));
    else return {r.edge + stretch, stiffness<kDamped>(i), rest_axis<kDamped>(i)};
  }
  template <bool kDamped>
  OSIER_FN void put_spring(Index i) {
    Row& r = row_[i];
    if constexpr (Law::kClosedForm) put_axis_force<kDamped>(r, rest_axis<kDamped>(i));
    else Law::put_spring(r.q, stiffness<kDamped>(i), rest_axis<kDamped>(i), r.edge, r.spring);
  }
  [[gnu::noinline]] Quat<P> torque_at(Index i) const {
    const auto segments = [&](int k) { return g_.first_segment[k] + (i < g_.segments[k] ? i : 0); };
    return torque_share(gather<P>(view_.torque, segments), gather<P>(view_.torque_material, segments), row_[i].q);
  }

  // ------------------------------------------------------------------------------------------------------- ghost rows

  /// Fills ghost row -1 with the last row of the lane before; lane 0 keeps its values. A is a number or a structure of numbers.
  template <class A>
  OSIER_FN static void from_before(A& here, const A& last) {
    each_number(here, last, [](P& to, const P& from) {
      P moved = shifted_up(from);
      set_lane(moved, 0, lane(to, 0));
      to = moved;
    });
  }
  /// Fills the ghost row after the last with the first row of the next lane.
  template <class A>
  OSIER_FN static void from_after(A& here, const A& first) {
    each_number(here, first, [](P& to, const P& from) {
      P moved = shifted_down(from);
      set_lane(moved, W - 1, lane(to, W - 1));
      to = moved;
    });
  }
  template <class A, class F>
  OSIER_FN static void each_number(A& to, const A& from, const F& f) {
    for (std::size_t n = 0; n < sizeof(A) / sizeof(P); ++n) f(reinterpret_cast<P*>(&to)[n], reinterpret_cast<const P*>(&from)[n]);
  }

  const lanes::ChainGroup& g_;
  const lanes::StepView& view_;
  const Index rows_;  ///< number of rows
  Index shortest_;    ///< segments of the shortest lane
  lanes::ChainPrefetch<P> next_;
  const T* constants_;
  const int constants_per_row_;
  Row* row_ = nullptr;
  Damping* damping_ = nullptr;
  P* gamma_ = nullptr;  ///< for Lambda::exact
  RowFlags* flags_ = nullptr;
};

/// Reads the flags of lanes that continue at row i from the control; the others are held.
template <class P, class Law>
OSIER_FN RowFlags ChainSweep<P, Law>::flags_at(Index i, const Numbers& n) const {
  RowFlags f{0, 0, 0};
  std::uint32_t any_control = 0;  // mostly no frame has a control
  for (int k = 0; k < W; ++k)
    any_control |= view_.vertex_fixed[n.vertex[k]] | static_cast<std::uint32_t>(view_.frame_control[n.segment[k]]);
  if (any_control != 0) [[unlikely]]
    for (int k = 0; k < W; ++k) {
      f.vertex_held |= (view_.vertex_fixed[n.vertex[k]] ? 1u : 0u) << k;
      f.frame_held |= (view_.frame_control[n.segment[k]] == FrameControl::fixed ? 1u : 0u) << k;
      f.frame_hinged |= (view_.frame_control[n.segment[k]] == FrameControl::hinged ? 1u : 0u) << k;
    }
  if (i < shortest_) return f;
  for (int k = 0; k < W; ++k) {
    if (i >= g_.vertices[k]) f.vertex_held |= 1u << k;
    if (i >= g_.segments[k]) {
      f.frame_held |= 1u << k;
      f.frame_hinged &= ~(1u << k);
    }
  }
  return f;
}

template <class P, class Law>
OSIER_FN void ChainSweep<P, Law>::load_vertex(Index i, const Numbers& n) {
  Row& r = row_[i];
  const RowFlags f = flags_[i] = flags_at(i, n);
  const auto vertices = [&](int k) { return n.vertex[k]; };
  const VertexStart<P> start =
      vertex_start(constant(i, lanes::kMass), gather<P>(view_.damping, vertices), gather<P>(view_.velocity, vertices),
                   gather<P>(view_.velocity_previous, vertices), gather<P>(view_.force, vertices), view_.h);
  r.u = start.u;
  r.rhs = start.rhs;
  r.vertex = start.weight;
  if (f.vertex_held != 0)
    for (int k = 0; k < W; ++k)
      if (const Index v = n.vertex[k]; view_.vertex_fixed[v])
        set_lanes(r.u, k, cast<T>(view_.vertex_target[v] - view_.position[v]));
  r.q = gather<P>(view_.rotation, [&](int k) { return n.segment[k]; });
}

template <class P, class Law>
template <bool kDamped>
OSIER_FN void ChainSweep<P, Law>::load_segment(Index i, const Numbers& n) {
  Row& r = row_[i];
  // Edges are formed in double (deviation 1).
  const Vec3<P> edge = gather_difference<P>(
      view_.position, [&](int k) { return n.next[k]; }, [&](int k) { return n.vertex[k]; });
  if constexpr (Law::kClosedForm) {
    r.joint.target = {constant(i, lanes::kTargetX), constant(i, lanes::kTargetY), constant(i, lanes::kTargetZ),
                      constant(i, lanes::kTargetW)};
    P alpha(0);
    if constexpr (kDamped) alpha = constant(i, lanes::kTauStretch) * inverse_step();
    const Vec3<P> axis = start_segment<kDamped>(r, edge, constant(i, lanes::kInverseLength), constant(i, lanes::kStretch), alpha);
    if constexpr (kDamped) damping_[i].axis = axis;
  } else {
    r.edge = edge;
    if constexpr (kDamped) {
      const P length = constant(i, lanes::kLengthOfSweep), inverse_length = select(length > P(0), P(1) / length, P(0));
      const Vec3<P> strain = rotate(conj(r.q), inverse_length * edge - director3(r.q));
      const Vec3<P> alpha = inverse_step() * three_constants(i, lanes::kTauStretchOfSweep);
      damping_[i].axis = length * stretch_shear::folded(three_constants(i, lanes::kStretchOfSweep), alpha, strain).rest;
    }
  }
}

/// Loads the joint to the row before, with damping folded in, after all frames of the start of the step are loaded. In closed
/// form it also completes the Hessian of the vertex and adds the constant part of the springs' forces to the vertex.
template <class P, class Law>
template <bool kDamped>
OSIER_FN void ChainSweep<P, Law>::load_joint(Index i) {
  Row& r = row_[i];
  const Row& before = row_[i - 1];
  if constexpr (Law::kClosedForm) {
    P viscous(0);
    if constexpr (kDamped) viscous = constant(i, lanes::kTauBend) * inverse_step();
    [[maybe_unused]] const P bound2 = complete_row<kDamped>(r, before.spring, before.q, viscous);
    if constexpr (kDamped) damping_[i].bound2 = bound2;
  } else {
    Index joint[W];
    T sign[W], there[W];
    for (int k = 0; k < W; ++k) {
      Index j = -1, anchor = -1;
      const bool tail = i == g_.segments[k] && g_.tail_joint[k] >= 0;  // this is row 0 where a piece is a single vertex
      if (tail) j = g_.tail_joint[k], anchor = g_.tail[k];
      else if (i == 0 && !(g_.cut && k > 0)) j = g_.head_joint[k], anchor = g_.head[k];
      else if (i < g_.segments[k] && g_.jointed[k]) j = g_.first_joint[k] + i;
      // This row is the second frame; the model may have the frames in the other order at an anchor.
      const bool flipped = j >= 0 && anchor >= 0 && (view_.joint_frames[j][0] == anchor) == tail;
      joint[k] = j < 0 ? 0 : j;
      sign[k] = flipped ? T(-1) : T(1);
      there[k] = j < 0 ? T(0) : T(1);
    }
    if (!any(load_lanes<P>(there) > P(0))) {
      r.joint.K = r.joint.rest = {P(0), P(0), P(0), P(0)};
      if constexpr (kDamped) damping_[i].bound2 = P(-1);
      return;
    }
    const auto joints = [&](int k) { return joint[k]; };
    const P imaginary = load_lanes<P>(sign);
    const Vec3<P> stiffness = load_lanes<P>(there) * gather<P>(view_.joint_stiffness, joints);
    const Quat<P> model_rest = gather<P>(view_.joint_rest, joints);
    const Quat<P> rest{imaginary * model_rest.x, imaginary * model_rest.y, imaginary * model_rest.z, model_rest.w};
    const Quat<P> K = bend_twist::stiffness4(stiffness);
    r.joint = {K, rest};
    if constexpr (kDamped) {
      const Quat<P> viscous = inverse_step() * bend_twist::viscous4(stiffness, gather<P>(view_.joint_tau, joints));
      P margin2;
      kelvin_voigt::fold_joint(K, rest, viscous, conj(before.q) * r.q, r.joint.K, r.joint.rest, margin2);
      damping_[i].bound2 = margin2 * norm2(bend_twist::times(r.joint.K, r.joint.rest));
    }
  }
}

template <class P, class Law>
template <bool kDamped>
void ChainSweep<P, Law>::load(bool with_gamma) {
  Row &before = row_[-1] = {}, &after = row_[rows_] = {};
  flags_[-1] = flags_[rows_] = {kAll, kAll, 0};
  if constexpr (kDamped) damping_[-1] = damping_[rows_] = {};
  for (Index i = 0; i < rows_; ++i) {
    const Numbers n = numbers(i);
    load_vertex(i, n);
    load_segment<kDamped>(i, n);
    if (with_gamma) gamma_[i] = gather<P>(view_.gamma, [&](int k) { return n.segment[k]; });
  }
  put_anchors(false);
  if (g_.cut) {
    if constexpr (Law::kClosedForm) from_before(before.spring, row_[rows_ - 1].spring);
    from_before(before.q, row_[rows_ - 1].q);
    from_after(after.q, row_[0].q);
  }
  for (Index i = 0; i < rows_; ++i) load_joint<kDamped>(i);
  put_anchors(true);
  for (Index i = 0; i < rows_; ++i) {
    hold_frame(i);
    put_spring<kDamped>(i);
  }
  if (!g_.cut) return;
  from_after(after.joint, row_[0].joint);
  if constexpr (kDamped) {
    damping_[rows_].bound2 = P(-1);
    from_after(damping_[rows_].bound2, damping_[0].bound2);
  }
}

template <class P, class Law>
template <bool kDamped, Lambda kLambda>
void ChainSweep<P, Law>::sweep() {
  const bool cut = g_.cut;
  Row &before = row_[-1], &after = row_[rows_];
  const Row &first = row_[0], &last = row_[rows_ - 1];
  if (cut) {
    from_before(before.u, last.u);
    from_before(before.spring, last.spring);
    from_before(before.q, last.q);
  }
  move_vertex(0);
  if (cut) from_after(after.u, first.u);
  // An odd segment could follow the even one behind it at once, but would have to wait for its result; two rows later it need
  // not.
  for (Index i = 0; i < rows_; i += 2) {
    if (i + 2 < rows_) move_vertex(i + 2);
    if (i + 1 < rows_) move_vertex(i + 1);
    turn_segment<kDamped, kLambda>(i);
    if (i > 2) turn_segment<kDamped, kLambda>(i - 3);
    else if (i == 0 && cut) from_after(after.q, first.q);
    next_.row(i);
    next_.row(i + 1);
  }
  next_.done();
  for (Index i = rows_ % 2 == 0 ? rows_ - 3 : rows_ - 2; i < rows_; i += 2)
    if (i > 0) turn_segment<kDamped, kLambda>(i);
}

template <class P, class Law>
OSIER_FN void ChainSweep<P, Law>::move_vertex(Index i) {
  const std::uint32_t held = flags_[i].vertex_held;
  if (held == kAll) return;
  Row& r = row_[i];
  const Row& before = row_[i - 1];
  Vec3<P> u = moved_vertex<Law>(r, before.spring, before.u, row_[i + 1].u);
  if (held != 0) u = select<P>(mask_of_bits<P>(held), r.u, u);
  r.u = u;
}

template <class P, class Law>
template <bool kDamped, Lambda kLambda>
OSIER_FN void ChainSweep<P, Law>::turn_segment(Index i) {
  const RowFlags f = flags_[i];
  if (f.frame_held == kAll) return;
  Row& r = row_[i];
  const Row &before = row_[i - 1], &after = row_[i + 1];
  typename Law::template Frame<kDamped, kLambda> frame(r.q, segment<kDamped>(i));
  Quat<P> weighted_rest;
  const P c_before = frame.add_joint(r.q, before.q, r.joint, weighted_rest);
  const P c_after = frame.add_joint(r.q, after.q, after.joint.reversed(), weighted_rest);
  if (view_.torque) [[unlikely]]
    frame.add_torque(r.q, torque_at(i));
  MaskOf<P> refused{};
  P gamma = kLambda == Lambda::exact ? gamma_[i] : P(0);
  Quat<P> q = frame.updated(r.q, gamma, refused);
  std::uint32_t special = bits(refused) | f.frame_hinged;
  if constexpr (kDamped)
    special |= bits((c_before * c_before < damping_[i].bound2) | (c_after * c_after < damping_[i + 1].bound2));
  special &= ~f.frame_held;
  if (kLambda == Lambda::exact) gamma_[i] = select(mask_of_bits<P>(special), gamma_[i], gamma);
  if (special != 0) [[unlikely]] {  // a copy, because a variable whose address is taken lives in memory from the start
    Quat<P> copy = q;
    safeguarded_frames<kDamped, kLambda>(i, special, copy);
    q = copy;
  }
  if (f.frame_held != 0) q = select<P>(mask_of_bits<P>(f.frame_held), r.q, q);
  r.q = q;
  put_spring<kDamped>(i);
}

template <class P, class Law>
template <bool kDamped, Lambda kLambda>
void ChainSweep<P, Law>::safeguarded_frames(Index i, std::uint32_t lanes, Quat<P>& q) {
  const Row &r = row_[i], &before = row_[i - 1], &after = row_[i + 1];
  const Segment local = segment<kDamped>(i);
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    T gamma = kLambda == Lambda::exact ? lane(gamma_[i], k) : T(0);
    const Index s = g_.first_segment[k] + i;
    const auto frame_of = [&](Index f) { return lane_of(f == frame_before(i, k) ? before.q : after.q, k); };
    const auto each_joint = [&](const auto& add) { each_joint_spring<T>(view_, s, frame_of, add); };
    set_lanes(q, k, safeguarded_frame_of<kDamped, kLambda>(view_, s, lane_of(r.q, k), lane_of(local, k), gamma, each_joint));
    if (kLambda == Lambda::exact) set_lane(gamma_[i], k, gamma);
  }
}

template <class P, class Law>
bool ChainSweep<P, Law>::store() const {
  using R = Quadruple<P, double>;
  const R inverse_h = R::all(1 / view_.h);
  R sum = R::all(0);  // not finite when a number is not; squares, because a state whose energy overflows is useless, too
  for (Index i = 0; i < rows_; ++i) {
    const Row& r = row_[i];
    const P moved[4] = {r.u.x, r.u.y, r.u.z, P(0)}, turned[4] = {r.q.x, r.q.y, r.q.z, r.q.w};
    rows_of_components(moved, [&](int k, const Quadruple<P, T>& lane_u) {
      if (i >= shortest_ && i >= g_.vertices[k]) return;
      const Index v = g_.first_vertex[k] + i;
      const R u = cast_row<double>(lane_u), x = row<P>(view_.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view_.position[v]);
      put_row(velocity, view_.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    rows_of_components(turned, [&](int k, const Quadruple<P, T>& lane_q) {
      if (i >= shortest_ && i >= g_.segments[k]) return;
      const R q = cast_row<double>(lane_q);
      put_row(q, view_.rotation[g_.first_segment[k] + i]);
      sum = sum + q * q;
    });
  }
  return is_finite(sum);
}

}  // namespace osier::stable_cosserat
