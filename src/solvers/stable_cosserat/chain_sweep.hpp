// Red-black sweeps over chains in lanes (chain_plan.hpp), all iterations of a step while the group is in cache.
//
// The four half-sweeps (even vertices, odd vertices, even segments, odd segments) run interleaved along the rows, each element as
// soon as the ones it must see are done:
//
//   v0 | v2 v1 s0 | v4 v3 s2 | v6 v5 s4 s1 | v8 v7 s6 s3 | ...
//
// Positions see frames of the last sweep, frames see new positions, odd elements see new even ones: the same numbers as four
// passes, in one. A chain that is cut meets itself in the next lane: ghost rows before the first and after the last row hold the
// neighbours' values, refreshed when the order asks for it.
#pragma once

#include "exec/lanes.hpp"
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
  Vec3<P> v0;       ///< v of the local problem at u = 0
  P k_over_length;  ///< k/l
  P c;              ///< k/l^2, stiffened by damping
  Vec3<P> pull;     ///< on the second vertex by the image of the axis; what the edge at u = 0 adds is in rhs
  Quat<P> target;   ///< of the joint to the row before
};

/// Beyond that where something is damped.
template <class P>
struct ChainDamping {
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
  static constexpr std::uint32_t kAll = all_lanes<P>;

  static std::size_t scratch_bytes(Index rows, bool damped) {
    return static_cast<std::size_t>(rows + 2) *
               (sizeof(ChainRow<P>) + sizeof(P) + (damped ? sizeof(ChainDamping<P>) : 0) + sizeof(RowFlags)) +
           64;
  }

  /// One step of one group. False when something is no longer finite.
  static bool step(const ChainGroup& g, const T* constants, bool damped, const StepView& view, Lambda lambda, int iterations,
                   void* scratch) {
    ChainSweep s(g, constants, damped, view, scratch);
    if (damped) s.load<true>(lambda == Lambda::exact);
    else s.load<false>(lambda == Lambda::exact);
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
    shortest_ = rows_;
    for (int k = 0; k < W; ++k) shortest_ = g.segments[k] < shortest_ ? g.segments[k] : shortest_;
    gamma_ = damped ? reinterpret_cast<P*>(damping_ - 1 + n) + 1 : reinterpret_cast<P*>(row_ - 1 + n) + 1;
    flags_ = reinterpret_cast<RowFlags*>(gamma_ - 1 + n) + 1;
  }

  OSIER_FN P constant(Index i, ChainConstant what) const {
    const int per_row = damped_ ? kDampedConstants : kUndampedConstants;
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * per_row + what) * W);
  }

  /// Of lanes that go on at row i, from the control; the others are held.
  OSIER_FN RowFlags flags_at(Index i, const Index (&v)[W], const Index (&s)[W]) const {
    RowFlags f{0, 0, 0};
    std::uint32_t any_control = 0;  // mostly nothing is
    for (int k = 0; k < W; ++k) any_control |= view_.vertex_fixed[v[k]] | static_cast<std::uint32_t>(view_.frame_control[s[k]]);
    if (any_control != 0) [[unlikely]]
      for (int k = 0; k < W; ++k) {
        f.vertex_held |= (view_.vertex_fixed[v[k]] ? 1u : 0u) << k;
        f.frame_held |= (view_.frame_control[s[k]] == FrameControl::fixed ? 1u : 0u) << k;
        f.frame_hinged |= (view_.frame_control[s[k]] == FrameControl::hinged ? 1u : 0u) << k;
      }
    if (i < shortest_) return f;
    for (int k = 0; k < W; ++k) {
      if (i >= g_.vertices[k]) f.vertex_held |= 1u << k;
      if (i >= g_.segments[k]) f.frame_held |= 1u << k, f.frame_hinged &= ~(1u << k);
    }
    return f;
  }
  template <bool kDamped>
  void load(bool gamma);
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
    const auto segments = [&](int k) { return g_.first_segment[k] + (i < g_.segments[k] ? i : 0); };
    return torque_pull(gather<P>(view_.torque, segments), gather<P>(view_.torque_material, segments), row_[i].q);
  }
  template <bool kDamped>
  OSIER_FN void pull(Index i) {
    ChainRow<P>& r = row_[i];
    const Vec3<P> image = kDamped ? axis_image_of<P, true>(r.q, damping_[i].eta) : director3(r.q);
    r.pull = image_pull(r.k_over_length, image);
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
  Index rows_, shortest_;  ///< of all lanes; segments of the shortest
  bool damped_;
  ChainRow<P>* row_;
  ChainDamping<P>* damping_;
  P* gamma_;  ///< for lambda `exact` alone
  RowFlags* flags_;
};

template <class P>
template <bool kDamped>
void ChainSweep<P>::load(bool gamma) {
  const P h(static_cast<T>(view_.h)), inverse_h(static_cast<T>(1 / view_.h)), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  row_[-1] = {}, row_[rows_] = {};
  if constexpr (kDamped) damping_[-1] = {}, damping_[rows_] = {};
  flags_[-1] = flags_[rows_] = {kAll, kAll, 0};
  for (Index i = 0; i < rows_; ++i) {
    ChainRow<P>& r = row_[i];
    Index v[W], next[W], s[W];
    for (int k = 0; k < W; ++k) {  // a lane that ends before this row reads its first one
      const bool vertex = i < g_.vertices[k], segment = i < g_.segments[k];
      v[k] = g_.first_vertex[k] + (vertex ? i : 0);
      next[k] = v[k] + (segment ? 1 : 0);
      s[k] = g_.first_segment[k] + (segment ? i : 0);
    }
    const RowFlags f = flags_[i] = flags_at(i, v, s);
    const auto vertices = [&](int k) { return v[k]; };
    const auto segments = [&](int k) { return s[k]; };
    const Vec3d* x = view_.position;
    const Vec3<P> velocity = gather<P>(view_.velocity, vertices), force = gather<P>(view_.force, vertices);
    const P mass = constant(i, kMass);
    const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
    r.u = expected_displacement(velocity, gather<P>(view_.velocity_previous, vertices), force, inverse_mass, h);
    if (f.vertex_held != 0)
      for (int k = 0; k < W; ++k)
        if (view_.vertex_fixed[v[k]]) set_lanes(r.u, k, cast<T>(view_.vertex_target[v[k]] - x[v[k]]));
    r.rhs = (mass * inverse_h) * velocity + force;
    r.inverse_hessian = mass * inverse_h2 + inverse_h * gather<P>(view_.damping, vertices);  // so far the sum
    r.q = gather<P>(view_.rotation, segments);
    const P inverse_length = constant(i, kInverseLength), k_stretch = constant(i, kStretch);
    const Vec3<P> p0 = inverse_length * gather_difference<P>(
                                            x, [&](int k) { return next[k]; }, vertices);  // in double (deviation 1)
    P stiffening(1);
    r.k_over_length = k_stretch * inverse_length;
    r.v0 = stretch_shear::orientation_pull(k_stretch, p0);
    r.target = {constant(i, kTargetX), constant(i, kTargetY), constant(i, kTargetZ), constant(i, kTargetW)};
    if (gamma) gamma_[i] = gather<P>(view_.gamma, segments);
    if constexpr (kDamped) {
      const P alpha = constant(i, kTauStretch) * inverse_h;
      stiffening = P(1) + alpha;
      const Vec3<P> strain_prev = rotate(conj(r.q), p0 - director3(r.q));
      damping_[i].eta = stretch_shear::generalised_axis(alpha, strain_prev);
    }
    r.c = stiffening * r.k_over_length * inverse_length;
    r.pull = edge_pull(r.k_over_length, stiffening, p0);  // for now
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
    from_before(before.pull, last.pull);
    from_before(before.q, last.q);
    from_after(after.q, first.q);
  }
  for (Index i = 0; i < rows_; ++i) {
    ChainRow<P>& r = row_[i];
    r.inverse_hessian = inverse(r.inverse_hessian + row_[i - 1].c + r.c);
    r.rhs += row_[i - 1].pull - r.pull;
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
  r.u = select<P>(keep, r.u, u);
}

template <class P>
template <bool kDamped, Lambda kLambda>
OSIER_FN void ChainSweep<P>::turn_segment(Index i) {
  const RowFlags f = flags_[i];
  if (f.frame_held == kAll) return;
  ChainRow<P>& r = row_[i];
  const ChainRow<P>&before = row_[i - 1], &after = row_[i + 1];
  OrientationProblem<P> o;
  o.v = r.v0 + stretch_shear::orientation_pull(r.k_over_length, after.u - r.u);
  MaskOf<P> differ_before{}, differ_after{};
  o.b = joint_pull(before.q, r.target, kDamped ? damping_[i].bound : P(-1), r.q, differ_before) +
        joint_pull(after.q, conj(after.target), kDamped ? damping_[i + 1].bound : P(-1), r.q, differ_after);
  if (view_.torque) [[unlikely]]
    o.b += torque_at(i);
  o.eta = {P(0), P(0), P(1)};
  if constexpr (kDamped) o.eta = damping_[i].eta;
  complete_problem<P, kDamped>(o);
  MaskOf<P> degenerate{};
  P gamma = kLambda == Lambda::exact ? gamma_[i] : P(0);
  Quat<P> q = solve_orientation<P, kLambda>(o, gamma, degenerate);
  if (kLambda == Lambda::exact) gamma_[i] = select(degenerate, gamma_[i], gamma);
  std::uint32_t special = bits(degenerate) | f.frame_hinged;
  if constexpr (kDamped) special |= bits(differ_before | differ_after);
  special &= ~f.frame_held;
  if (special != 0) [[unlikely]] {  // by a copy: what has its address taken lives in memory from the start
    Quat<P> repaired = q;
    repair<kDamped, kLambda>(i, special, r.q, repaired);
    q = repaired;
  }
  if (f.frame_held != 0) {
    const MaskOf<P> keep = mask_of_bits<P>(f.frame_held);
    q = select<P>(keep, r.q, q);
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
    o.v = lane_of(r.v0, k) + stretch_shear::orientation_pull(lane(r.k_over_length, k), ub - ua);
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
      T gamma = kLambda == Lambda::exact ? lane(gamma_[i], k) : T(0);
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
  // An odd segment could go right after the even one behind it, but would then wait for it; two rows later nothing does.
  for (Index i = 0; i < rows_; i += 2) {
    if (i + 2 < rows_) move_vertex(i + 2);
    if (i + 1 < rows_) move_vertex(i + 1);
    turn_segment<kDamped, kLambda>(i);
    if (i > 2) turn_segment<kDamped, kLambda>(i - 3);
    else if (i == 0 && cut) from_after(after.q, first.q);
  }
  for (Index i = rows_ % 2 == 0 ? rows_ - 3 : rows_ - 2; i < rows_; i += 2)
    if (i > 0) turn_segment<kDamped, kLambda>(i);
}

template <class P>
bool ChainSweep<P>::store(bool gamma) {
  using R = Four<P, double>;
  const R inverse_h = R::all(1 / view_.h);
  R sum = R::all(0);  // not finite when anything is not; by the squares: a state whose energy overflows is as lost as a NaN
  for (Index i = 0; i < rows_; ++i) {
    const ChainRow<P>& r = row_[i];
    const P moved[4] = {r.u.x, r.u.y, r.u.z, P(0)}, turned[4] = {r.q.x, r.q.y, r.q.z, r.q.w};
    rows_of_components(moved, [&](int k, const Four<P, T>& lane_u) {
      if (i >= shortest_ && i >= g_.vertices[k]) return;
      const Index v = g_.first_vertex[k] + i;
      const R u = cast_row<double>(lane_u), x = row<P>(view_.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view_.position[v]);
      put_row(velocity, view_.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    rows_of_components(turned, [&](int k, const Four<P, T>& lane_q) {
      if (i >= shortest_ && i >= g_.segments[k]) return;
      const R q = cast_row<double>(lane_q);
      put_row(q, view_.rotation[g_.first_segment[k] + i]);
      sum = sum + q * q;
    });
    if (gamma)
      for (int k = 0; k < W; ++k)
        if (i < g_.segments[k]) view_.gamma[g_.first_segment[k] + i] = static_cast<double>(lane(gamma_[i], k));
  }
  return is_finite(sum);
}

}  // namespace osier::stable_cosserat
