// Red-black sweeps over chains in lanes by the closed form (chain_pack.hpp has their order).
#pragma once

#include "solvers/stable_cosserat/chain_pack.hpp"

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

template <class P>
class ChainSweep : ChainPack<P, ChainRow<P>> {
  using Pack = ChainPack<P, ChainRow<P>>;
  using Pack::torque_at, Pack::g_, Pack::view_, Pack::rows_, Pack::row_, Pack::flags_;
  using Pack::W, Pack::kAll, Pack::constant, Pack::frame_at, Pack::frame_before, Pack::from_after, Pack::from_before;

 public:
  using T = ScalarOf<P>;

  static std::size_t scratch_bytes(Index rows, bool damped) {
    return static_cast<std::size_t>(rows + 2) *
               (sizeof(ChainRow<P>) + sizeof(P) + (damped ? sizeof(ChainDamping<P>) : 0) + sizeof(RowFlags)) +
           64;
  }

  /// One step of one group. False when something is no longer finite.
  static bool step(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view,
                   Lambda lambda, int iterations, void* scratch) {
    ChainSweep s(g, next, constants, damped, view, scratch);
    if (damped) s.load<true>(lambda == Lambda::exact);
    else s.load<false>(lambda == Lambda::exact);
    if (lambda == Lambda::approx) s.sweeps<Lambda::approx>(iterations);
    if (lambda == Lambda::exact) s.sweeps<Lambda::exact>(iterations);
    if (lambda == Lambda::secular) s.sweeps<Lambda::secular>(iterations);
    return s.store(lambda == Lambda::exact);
  }

 private:
  ChainSweep(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view, void* scratch)
      : Pack(g, next, constants, constants_per_row(StiffnessLaw::isotropic, damped), view), damped_(damped) {
    auto* memory = static_cast<std::byte*>(scratch);
    row_ = this->template take<ChainRow<P>>(memory);
    if (damped) damping_ = this->template take<ChainDamping<P>>(memory);
    gamma_ = this->template take<P>(memory);
    flags_ = this->template take<RowFlags>(memory);
  }

  template <bool kDamped>
  void load(bool gamma);
  bool store(bool gamma);
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
  template <bool kDamped>
  OSIER_FN void pull(Index i) {
    ChainRow<P>& r = row_[i];
    const Vec3<P> image = kDamped ? axis_image_of<P, true>(r.q, damping_[i].eta) : director3(r.q);
    r.pull = image_pull(r.k_over_length, image);
  }

  bool damped_;
  ChainDamping<P>* damping_ = nullptr;
  P* gamma_;  ///< for lambda `exact` alone
};

template <class P>
template <bool kDamped>
void ChainSweep<P>::load(bool gamma) {
  const P inverse_h(static_cast<T>(1 / view_.h));
  this->begin_load();
  if constexpr (kDamped) damping_[-1] = {}, damping_[rows_] = {};
  for (Index i = 0; i < rows_; ++i) {
    ChainRow<P>& r = row_[i];
    const auto n = this->numbers(i);
    r.inverse_hessian = this->load_start(i, n);  // so far the sum
    const P inverse_length = constant(i, kInverseLength), k_stretch = constant(i, kStretch);
    const Vec3<P> p0 = inverse_length * this->edge(n);
    P stiffening(1);
    r.k_over_length = k_stretch * inverse_length;
    r.v0 = stretch_shear::orientation_pull(k_stretch, p0);
    r.target = {constant(i, kTargetX), constant(i, kTargetY), constant(i, kTargetZ), constant(i, kTargetW)};
    if (gamma) gamma_[i] = gather<P>(view_.gamma, [&](int k) { return n.segment[k]; });
    if constexpr (kDamped) {
      const P alpha = constant(i, kTauStretch) * inverse_h;
      stiffening = P(1) + alpha;
      const Vec3<P> strain_prev = rotate(conj(r.q), p0 - director3(r.q));
      damping_[i].eta = stretch_shear::generalised_axis(alpha, strain_prev);
    }
    r.c = stiffening * r.k_over_length * inverse_length;
    r.pull = edge_pull(r.k_over_length, stiffening, p0);  // for now
  }
  this->put_anchors(false);
  if (g_.cut) {
    ChainRow<P>&before = row_[-1], &after = row_[rows_], &first = row_[0], &last = row_[rows_ - 1];
    from_before(before.c, last.c);
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
  this->put_anchors(true);
  for (Index i = 0; i < rows_; ++i) {
    this->hold_frame(i);
    pull<kDamped>(i);
  }
  if (!g_.cut) return;
  from_after(row_[rows_].target, row_[0].target);
  if constexpr (kDamped) {
    damping_[rows_].bound = P(-1);
    from_after(damping_[rows_].bound, damping_[0].bound);
  }
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
    const auto k_viscous = [&](Index row, int in_lane) {
      if constexpr (!kDamped) return T(0);
      const auto at = [&](ChainConstant what) { return lane(constant(row, what), in_lane); };
      const T size = std::sqrt(at(kTargetX) * at(kTargetX) + at(kTargetY) * at(kTargetY) + at(kTargetZ) * at(kTargetZ) +
                               at(kTargetW) * at(kTargetW));
      return size * at(kTauBend) * static_cast<T>(1 / view_.h);
    };
    const T none(-1);
    joint(lane_of(before.q, k), lane_of(r.target, k), kDamped ? lane(damping_[i].bound, k) : none, frame_before(i, k), s,
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
  this->sweep_rows([&](Index i) { move_vertex(i); }, [&](Index i) { turn_segment<kDamped, kLambda>(i); },
                   [&] { from_before(row_[-1].pull, row_[rows_ - 1].pull); });
}

template <class P>
bool ChainSweep<P>::store(bool gamma) {
  if (gamma)
    for (Index i = 0; i < rows_; ++i)
      for (int k = 0; k < W; ++k)
        if (i < g_.segments[k]) view_.gamma[g_.first_segment[k] + i] = static_cast<double>(lane(gamma_[i], k));
  return Pack::store();
}

}  // namespace osier::stable_cosserat
