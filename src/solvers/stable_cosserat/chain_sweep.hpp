// Red-black sweeps over chains in lanes (chain_plan.hpp), all iterations of a step while the group is in cache.
//
// The four half-sweeps (even vertices, odd vertices, even segments, odd segments) run interleaved along the rows, each element as
// soon as the ones it must see are done:
//
//   v0 | v2 v1 s0 | v4 v3 s2 s1 | v6 v5 s4 s3 | ...
//
// Positions see frames of the last sweep, frames see new positions, odd elements see new even ones: the same numbers as four
// passes, in one. A chain that is cut meets itself in the next lane: ghost rows before the first and after the last row hold the
// neighbours' values, refreshed when the order asks for it.
#pragma once

#include "exec/pack.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"
#include "solvers/stable_cosserat/step_view.hpp"

namespace osier::stable_cosserat {

template <class P>
struct ChainRow {
  Vec3<P> u, rhs;
  P inverse_hessian;
  Quat<P> q;
  Vec3<P> p0;
  P inverse_length, k, c;
  Vec3<P> pull;
  Quat<P> target;  ///< of the joint to the row before
  P gamma;
};

/// Beyond that where something is damped.
template <class P>
struct ChainDamping {
  P stiffening;
  Vec3<P> eta;
  P bound;
};

/// Lanes that are not moved, or that need more than the closed form.
struct RowFlags {
  std::uint32_t vertex_held, frame_held, frame_hinged;
};

template <class P>
class ChainSweep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = W == 32 ? ~0u : (1u << W) - 1u;

  static std::size_t scratch_bytes(Index rows, bool damped) {
    return static_cast<std::size_t>(rows + 2) *
               (sizeof(ChainRow<P>) + (damped ? sizeof(ChainDamping<P>) : 0) + sizeof(RowFlags)) +
           64;
  }

  /// One step of one group. False when something is no longer finite.
  static bool step(const ChainGroup& g, const T* constants, bool damped, const StepView& view, Lambda lambda, int iterations,
                   void* scratch) {
    ChainSweep s(g, constants, damped, view, scratch);
    if (damped) s.load<true>();
    else s.load<false>();
    if (lambda == Lambda::approx) s.sweeps<Lambda::approx>(iterations);
    if (lambda == Lambda::exact) s.sweeps<Lambda::exact>(iterations);
    if (lambda == Lambda::secular) s.sweeps<Lambda::secular>(iterations);
    return s.store(lambda == Lambda::exact);
  }

 private:
  ChainSweep(const ChainGroup& g, const T* constants, bool damped, const StepView& view, void* scratch)
      : g_(g), constants_(constants), view_(view), rows_(g.rows), damped_(damped) {
    const auto n = static_cast<std::size_t>(rows_ + 2);
    row_ = static_cast<ChainRow<P>*>(scratch) + 1;
    damping_ = reinterpret_cast<ChainDamping<P>*>(row_ - 1 + n) + 1;
    flags_ = damped ? reinterpret_cast<RowFlags*>(damping_ - 1 + n) + 1 : reinterpret_cast<RowFlags*>(row_ - 1 + n) + 1;
  }

  template <class F>
  OSIER_FN static P per_lane(const F& f) {
    if constexpr (W == 1) {
      return f(0);
    } else {
      return [&]<int... I>(std::integer_sequence<int, I...>) { return P(typename P::Vector{f(I)...}); }
      (std::make_integer_sequence<int, W>{});
    }
  }
  template <class Array>
  OSIER_FN static Vec3<P> vectors(const Array* a, const Index* i) {
    return {per_lane([&](int k) { return static_cast<T>(a[i[k]].x); }),
            per_lane([&](int k) { return static_cast<T>(a[i[k]].y); }),
            per_lane([&](int k) { return static_cast<T>(a[i[k]].z); })};
  }
  OSIER_FN P constant(Index i, ChainConstant what) const {
    const int per_row = damped_ ? kDampedConstants : kUndampedConstants;
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * per_row + what) * W);
  }
  static Quat<T> lane_of(const Quat<P>& q, int k) { return {lane(q.x, k), lane(q.y, k), lane(q.z, k), lane(q.w, k)}; }
  static Vec3<T> lane_of(const Vec3<P>& v, int k) { return {lane(v.x, k), lane(v.y, k), lane(v.z, k)}; }
  static void set_lanes(Quat<P>& q, int k, const Quat<T>& value) {
    set_lane(q.x, k, value.x), set_lane(q.y, k, value.y), set_lane(q.z, k, value.z), set_lane(q.w, k, value.w);
  }
  static void set_lanes(Vec3<P>& v, int k, const Vec3<T>& value) {
    set_lane(v.x, k, value.x), set_lane(v.y, k, value.y), set_lane(v.z, k, value.z);
  }

  template <bool kDamped>
  void load();
  bool store(bool gamma);
  /// Ghost row -1 from the last row of the lane before; lane 0 keeps what it has.
  OSIER_FN static P from_before(P here, P last) {
    P moved = shifted_up(last);
    set_lane(moved, 0, lane(here, 0));
    return moved;
  }
  OSIER_FN static P from_after(P here, P first) {
    P moved = shifted_down(first);
    set_lane(moved, W - 1, lane(here, W - 1));
    return moved;
  }
  static void from_before(Vec3<P>& here, const Vec3<P>& last) {
    here = {from_before(here.x, last.x), from_before(here.y, last.y), from_before(here.z, last.z)};
  }
  static void from_before(Quat<P>& here, const Quat<P>& last) {
    here = {from_before(here.x, last.x), from_before(here.y, last.y), from_before(here.z, last.z), from_before(here.w, last.w)};
  }
  static void from_after(Vec3<P>& here, const Vec3<P>& first) {
    here = {from_after(here.x, first.x), from_after(here.y, first.y), from_after(here.z, first.z)};
  }
  static void from_after(Quat<P>& here, const Quat<P>& first) {
    here = {from_after(here.x, first.x), from_after(here.y, first.y), from_after(here.z, first.z), from_after(here.w, first.w)};
  }

  template <Lambda kLambda>
  void sweeps(int iterations) {
    for (int n = 0; n < iterations; ++n) {
      if (damped_) sweep<true, kLambda>();
      else sweep<false, kLambda>();
    }
  }
  template <bool kDamped, Lambda kLambda>
  void sweep();
  OSIER_FN void move_vertex(Index i);
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment(Index i);
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] void repair(Index i, std::uint32_t lanes, const Quat<P>& q_before, Quat<P>& q);
  [[gnu::noinline]] Quat<P> torque_at(Index i) const {
    Index s[W];
    for (int k = 0; k < W; ++k) s[k] = g_.first_segment[k] + (i < g_.segments[k] ? i : 0);
    return torque_pull(vectors(view_.torque, s), vectors(view_.torque_material, s), row_[i].q);
  }
  template <bool kDamped>
  OSIER_FN void pull(Index i) {
    ChainRow<P>& r = row_[i];
    const Vec3<P> image = kDamped ? axis_image_of<P, true>(r.q, damping_[i].eta) : director3(r.q);
    r.pull = segment_pull(r.k, r.inverse_length, kDamped ? damping_[i].stiffening : P(1), r.p0, image);
  }
  Index segment_frame(Index i, int k) const { return g_.first_segment[k] + i; }
  /// The frame in a lane's row: a segment, an anchor or nothing.
  Index frame_at(Index i, int k) const {
    if (i < 0) return g_.head[k];
    if (i < g_.segments[k]) return g_.first_segment[k] + i;
    return i == g_.segments[k] ? g_.tail[k] : -1;
  }

  const ChainGroup& g_;
  const T* constants_;
  const StepView& view_;
  Index rows_;
  bool damped_;
  ChainRow<P>* row_;
  ChainDamping<P>* damping_;
  RowFlags* flags_;
};

template <class P>
OSIER_FN MaskOf<P> mask_of_bits(std::uint32_t b) {
  if constexpr (lanes_of<P> == 1) {
    return (b & 1u) != 0;
  } else {
    using S = ScalarOf<P>;
    using M = PackMask<S, lanes_of<P>>;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const typename M::Vector bit{(typename M::Int(1) << I)...};
      return M{(bit & static_cast<typename M::Int>(b)) != 0};
    }
    (std::make_integer_sequence<int, lanes_of<P>>{});
  }
}

template <class P>
template <bool kDamped>
void ChainSweep<P>::load() {
  const P h(static_cast<T>(view_.h)), inverse_h(static_cast<T>(1 / view_.h)), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  row_[-1] = {}, row_[rows_] = {};
  if constexpr (kDamped) damping_[-1] = {}, damping_[rows_] = {};
  flags_[-1] = flags_[rows_] = {kAll, kAll, 0};
  for (Index i = 0; i < rows_; ++i) {
    ChainRow<P>& r = row_[i];
    RowFlags& f = flags_[i] = {0, 0, 0};
    Index v[W], next[W], s[W];
    for (int k = 0; k < W; ++k) {
      const bool vertex = i < g_.vertices[k], segment = i < g_.segments[k];
      v[k] = g_.first_vertex[k] + (vertex ? i : 0);
      next[k] = segment ? v[k] + 1 : v[k];
      s[k] = g_.first_segment[k] + (segment ? i : 0);
      f.vertex_held |= (!vertex || view_.vertex_fixed[v[k]] ? 1u : 0u) << k;
      f.frame_held |= (!segment || view_.frame_control[s[k]] == FrameControl::fixed ? 1u : 0u) << k;
      f.frame_hinged |= (segment && view_.frame_control[s[k]] == FrameControl::hinged ? 1u : 0u) << k;
    }
    const Vec3d* x = view_.position;
    const Vec3<P> velocity = vectors(view_.velocity, v), force = vectors(view_.force, v);
    const P mass = constant(i, kMass);
    const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
    r.u = expected_displacement(velocity, vectors(view_.velocity_previous, v), force, inverse_mass, h);
    if (f.vertex_held != 0)
      for (int k = 0; k < W; ++k)
        if (view_.vertex_fixed[v[k]]) set_lanes(r.u, k, cast<T>(view_.vertex_target[v[k]] - x[v[k]]));
    r.rhs = (mass * inverse_h) * velocity + force;
    r.inverse_hessian =
        mass * inverse_h2 + inverse_h * per_lane([&](int k) { return static_cast<T>(view_.damping[v[k]]); });  // so far the sum
    r.q.x = per_lane([&](int k) { return static_cast<T>(view_.rotation[s[k]].x); });
    r.q.y = per_lane([&](int k) { return static_cast<T>(view_.rotation[s[k]].y); });
    r.q.z = per_lane([&](int k) { return static_cast<T>(view_.rotation[s[k]].z); });
    r.q.w = per_lane([&](int k) { return static_cast<T>(view_.rotation[s[k]].w); });
    r.inverse_length = constant(i, kInverseLength);
    r.k = constant(i, kStretch);
    // Differences of positions in double (deviation 1).
    const Vec3<P> edge{per_lane([&](int k) { return static_cast<T>(x[next[k]].x - x[v[k]].x); }),
                       per_lane([&](int k) { return static_cast<T>(x[next[k]].y - x[v[k]].y); }),
                       per_lane([&](int k) { return static_cast<T>(x[next[k]].z - x[v[k]].z); })};
    r.p0 = r.inverse_length * edge;
    r.c = r.k * r.inverse_length * r.inverse_length;
    r.target = {constant(i, kTargetX), constant(i, kTargetY), constant(i, kTargetZ), constant(i, kTargetW)};
    r.gamma = per_lane([&](int k) { return static_cast<T>(view_.gamma[s[k]]); });
    if constexpr (kDamped) {
      const P alpha = constant(i, kTauStretch) * inverse_h;
      ChainDamping<P>& d = damping_[i];
      d.stiffening = P(1) + alpha;
      const Vec3<P> strain_prev = rotate(conj(r.q), r.p0 - director3(r.q));
      d.eta = stretch_shear::generalised_axis(alpha, strain_prev);
      r.c = r.c * d.stiffening;
    }
  }
  // Anchors stand in the row before the first segment and in the one after the last.
  const auto put_anchor = [&](Index i, int k, Index frame, bool at_end) {
    const Quatd q =
        at_end && view_.frame_control[frame] == FrameControl::fixed ? view_.frame_target[frame] : view_.rotation[frame];
    set_lanes(row_[i].q, k, cast<T>(q));
  };
  const auto put_anchors = [&](bool at_end) {
    for (int k = 0; k < W; ++k) {
      if (g_.head[k] >= 0) put_anchor(-1, k, g_.head[k], at_end);
      if (g_.tail[k] >= 0) put_anchor(g_.segments[k], k, g_.tail[k], at_end);
    }
  };
  put_anchors(false);
  if (g_.cut) {
    ChainRow<P>&before = row_[-1], &after = row_[rows_], &first = row_[0], &last = row_[rows_ - 1];
    before.c = from_before(before.c, last.c);
    from_before(before.q, last.q);
    from_after(after.q, first.q);
  }
  for (Index i = 0; i < rows_; ++i) {
    ChainRow<P>& r = row_[i];
    r.inverse_hessian = inverse(r.inverse_hessian + row_[i - 1].c + r.c);
    if constexpr (kDamped) {
      const Quat<P> elastic = r.target;
      fold_joint(elastic, root(norm2(elastic)), constant(i, kTauBend) * inverse_h, conj(row_[i - 1].q) * r.q, r.target,
                 damping_[i].bound);
    }
  }
  // From here on frames are those of the end of the step where they are prescribed.
  put_anchors(true);
  for (Index i = 0; i < rows_; ++i) {
    if (flags_[i].frame_held != 0)
      for (int k = 0; k < W; ++k) {
        const Index s = g_.first_segment[k] + i;
        if (i < g_.segments[k] && view_.frame_control[s] == FrameControl::fixed)
          set_lanes(row_[i].q, k, cast<T>(view_.frame_target[s]));
      }
    pull<kDamped>(i);
  }
  if (!g_.cut) return;
  from_after(row_[rows_].target, row_[0].target);
  if constexpr (kDamped) damping_[rows_].bound = from_after(P(-1), damping_[0].bound);
}

template <class P>
OSIER_FN void ChainSweep<P>::move_vertex(Index i) {
  const std::uint32_t held = flags_[i].vertex_held;
  if (held == kAll) return;
  ChainRow<P>& r = row_[i];
  const ChainRow<P>& before = row_[i - 1];
  Vec3<P> sum = r.rhs;
  add_segment(sum, P(1), before.pull, before.c, before.u);
  add_segment(sum, P(-1), r.pull, r.c, row_[i + 1].u);
  const Vec3<P> u = r.inverse_hessian * sum;
  if (held == 0) {
    r.u = u;
    return;
  }
  const MaskOf<P> keep = mask_of_bits<P>(held);
  r.u = {select(keep, r.u.x, u.x), select(keep, r.u.y, u.y), select(keep, r.u.z, u.z)};
}

template <class P>
template <bool kDamped, Lambda kLambda>
OSIER_FN void ChainSweep<P>::turn_segment(Index i) {
  const RowFlags f = flags_[i];
  if (f.frame_held == kAll) return;
  ChainRow<P>& r = row_[i];
  const ChainRow<P>&before = row_[i - 1], &after = row_[i + 1];
  OrientationProblem<P> o;
  o.v = stretch_shear::orientation_pull(r.k, r.p0 + r.inverse_length * (after.u - r.u));
  MaskOf<P> differ_before{}, differ_after{};
  o.b = joint_pull(before.q, r.target, kDamped ? damping_[i].bound : P(-1), r.q, differ_before) +
        joint_pull(after.q, conj(after.target), kDamped ? damping_[i + 1].bound : P(-1), r.q, differ_after);
  if (view_.torque) [[unlikely]]
    o.b += torque_at(i);
  o.eta = {P(0), P(0), P(1)};
  if constexpr (kDamped) o.eta = damping_[i].eta;
  complete_problem<P, kDamped>(o);
  MaskOf<P> degenerate{};
  P gamma = r.gamma;
  Quat<P> q = solve_orientation<P, kLambda>(o, gamma, degenerate);
  if (kLambda == Lambda::exact) r.gamma = select(degenerate, r.gamma, gamma);
  std::uint32_t special = bits(degenerate) | f.frame_hinged;
  if constexpr (kDamped) special |= bits(differ_before | differ_after);
  special &= ~f.frame_held;
  if (special != 0) [[unlikely]]
    repair<kDamped, kLambda>(i, special, r.q, q);
  if (f.frame_held != 0) {
    const MaskOf<P> keep = mask_of_bits<P>(f.frame_held);
    q = {select(keep, r.q.x, q.x), select(keep, r.q.y, q.y), select(keep, r.q.z, q.z), select(keep, r.q.w, q.w)};
  }
  r.q = q;
  pull<kDamped>(i);
}

/// Lane by lane, what the closed form leaves aside: hinges, undetermined frames, and elastic and viscous poles that differ.
template <class P>
template <bool kDamped, Lambda kLambda>
void ChainSweep<P>::repair(Index i, std::uint32_t lanes, const Quat<P>& q_before, Quat<P>& q) {
  const ChainRow<P>&r = row_[i], &before = row_[i - 1], &after = row_[i + 1];
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    const Quat<T> present = lane_of(q_before, k);
    const Index s = g_.first_segment[k] + i;
    OrientationProblem<T> o;
    const Vec3<T> ub = lane_of(after.u, k), ua = lane_of(r.u, k);
    o.v = stretch_shear::orientation_pull(lane(r.k, k), lane_of(r.p0, k) + lane(r.inverse_length, k) * (ub - ua));
    o.b = {T(0), T(0), T(0), T(0)};
    const auto joint = [&](const Quat<T>& other, Quat<T> target, T bound, Index frame_a, Index frame_b, T k_viscous,
                           bool second) {
      bool differ = false;
      if (!second) target = conj(target);
      const Quat<T> both = joint_pull(other, target, bound, present, differ);
      if (!differ) {
        o.b += both;
        return;
      }
      // target = k rest + alpha k sigma previous: take the viscous part out again. sigma is the sign of target.previous.
      Quat<T> previous = cast<T>(conj(view_.rotation[frame_a]) * view_.rotation[frame_b]);
      if (!second) previous = conj(previous);
      const Quat<T> viscous = k_viscous * previous;
      const Quat<T> elastic = dot(target, previous) < T(0) ? target + viscous : target - viscous;
      o.b += bend_twist::pull(other, elastic, present) + bend_twist::pull(other, viscous, present);
    };
    const auto previous_frame = [&](Index row) {  // the frame before that row's segment, across a cut as well
      return row == 0 && g_.cut && k > 0 ? g_.first_segment[k] - 1 : frame_at(row - 1, k);
    };
    const auto k_viscous = [&](Index row, int in_lane) {
      if constexpr (!kDamped) return T(0);
      const auto at = [&](ChainConstant what) { return lane(constant(row, what), in_lane); };
      const T size = std::sqrt(at(kTargetX) * at(kTargetX) + at(kTargetY) * at(kTargetY) + at(kTargetZ) * at(kTargetZ) +
                               at(kTargetW) * at(kTargetW));
      return size * at(kTauBend) * static_cast<T>(1 / view_.h);
    };
    const T none(-1);
    joint(lane_of(before.q, k), lane_of(r.target, k), kDamped ? lane(damping_[i].bound, k) : none, previous_frame(i), s,
          k_viscous(i, k), true);
    const bool wraps = g_.cut && i + 1 == rows_ && k + 1 < W;
    const bool beyond = i + 1 == rows_ && !wraps;
    if (!beyond)
      joint(lane_of(after.q, k), lane_of(after.target, k), kDamped ? lane(damping_[i + 1].bound, k) : none, s,
            wraps ? s + 1 : frame_at(i + 1, k), wraps ? k_viscous(0, k + 1) : k_viscous(i + 1, k), false);
    if (view_.torque) o.b += torque_pull(cast<T>(view_.torque[s]), cast<T>(view_.torque_material[s]), present);
    o.eta = {T(0), T(0), T(1)};
    if constexpr (kDamped) o.eta = lane_of(damping_[i].eta, k);
    complete_problem<T, kDamped>(o);
    Quat<T> result;
    if (flags_[i].frame_hinged >> k & 1u) {
      result = updated_hinge(o, present, cast<T>(view_.frame_target[s]), cast<T>(view_.hinge_axis[s]));
    } else {
      bool degenerate = false;
      T gamma = lane(r.gamma, k);
      result = solve_orientation<T, kLambda>(o, gamma, degenerate);
      if (degenerate) result = solve_degenerate<T, kLambda>(o, present);
    }
    set_lanes(q, k, result);
  }
}

template <class P>
template <bool kDamped, Lambda kLambda>
void ChainSweep<P>::sweep() {
  const bool cut = g_.cut;
  ChainRow<P>&before = row_[-1], &after = row_[rows_];
  const ChainRow<P>&first = row_[0], &last = row_[rows_ - 1];
  if (cut) {
    from_before(before.u, last.u);
    from_before(before.pull, last.pull);
    from_before(before.q, last.q);
  }
  move_vertex(0);
  if (cut) from_after(after.u, first.u);
  for (Index i = 0; i < rows_; i += 2) {
    if (i + 2 < rows_) move_vertex(i + 2);
    if (i + 1 < rows_) move_vertex(i + 1);
    turn_segment<kDamped, kLambda>(i);
    if (i > 0) turn_segment<kDamped, kLambda>(i - 1);
    else if (cut) from_after(after.q, first.q);
  }
  if (rows_ % 2 == 0) turn_segment<kDamped, kLambda>(rows_ - 1);
}

template <class P>
bool ChainSweep<P>::store(bool gamma) {
  const double inverse_h = 1 / view_.h;
  double sum = 0;  // not finite when anything is not; by the squares: a state whose energy overflows is as lost as a NaN
  for (Index i = 0; i < rows_; ++i) {
    const ChainRow<P>& r = row_[i];
    for (int k = 0; k < W; ++k) {
      if (i >= g_.vertices[k]) continue;
      const Index v = g_.first_vertex[k] + i;
      const Vec3d u{static_cast<double>(lane(r.u.x, k)), static_cast<double>(lane(r.u.y, k)),
                    static_cast<double>(lane(r.u.z, k))};
      const Vec3d x = view_.position[v] + u, velocity = inverse_h * u;
      view_.position[v] = x;
      view_.velocity_previous[v] = velocity;
      sum += norm2(x) + norm2(velocity);
    }
    for (int k = 0; k < W; ++k) {
      if (i >= g_.segments[k]) continue;
      const Index s = g_.first_segment[k] + i;
      const Quatd q{static_cast<double>(lane(r.q.x, k)), static_cast<double>(lane(r.q.y, k)), static_cast<double>(lane(r.q.z, k)),
                    static_cast<double>(lane(r.q.w, k))};
      view_.rotation[s] = q;
      sum += norm2(q);
      if (gamma) view_.gamma[s] = static_cast<double>(lane(r.gamma, k));
    }
  }
  return sum - sum == 0;
}

}  // namespace osier::stable_cosserat
