// Red-black sweeps over chains in lanes where stiffness differs between axes (chain_pack.hpp has their order, frame_problem.hpp
// the problem of a frame).
#pragma once

#include "math/sym3.hpp"
#include "solvers/stable_cosserat/chain_pack.hpp"
#include "solvers/stable_cosserat/frame_joints.hpp"

namespace osier::stable_cosserat {

template <class P>
struct ChainAxesRow {
  Vec3<P> u, rhs;
  P weight;  ///< m/h^2 + c/h
  Quat<P> q;
  Vec3<P> edge;       ///< at u = 0
  Sym3<P> C;          ///< R k R' [N/m]
  Vec3<P> pull;       ///< C (R rest - edge), on the second vertex at u = 0
  Quat<P> K, target;  ///< of the joint to the row before, damping folded in
};

/// Beyond that where something is damped.
template <class P>
struct ChainAxesDamping {
  Vec3<P> rest;
  P margin2;  ///< of the joint, see fold_joint
};

template <class P>
class ChainAxesSweep : ChainPack<P, ChainAxesRow<P>> {
  using Row = ChainAxesRow<P>;
  using Pack = ChainPack<P, Row>;
  using Pack::torque_at, Pack::g_, Pack::view_, Pack::rows_, Pack::row_, Pack::flags_;
  using Pack::W, Pack::kAll, Pack::constant, Pack::axes, Pack::frame_before, Pack::from_after, Pack::from_before;

 public:
  using T = ScalarOf<P>;

  static std::size_t scratch_bytes(Index rows, bool damped) {
    return static_cast<std::size_t>(rows + 2) * (sizeof(Row) + (damped ? sizeof(ChainAxesDamping<P>) : 0) + sizeof(RowFlags)) +
           64;
  }

  /// One step of one group. False when something is no longer finite. There is one lambda, that of the minimum.
  static bool step(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view, Lambda,
                   int iterations, void* scratch) {
    ChainAxesSweep s(g, next, constants, damped, view, scratch);
    if (damped) s.run<true>(iterations);
    else s.run<false>(iterations);
    return s.store();
  }

 private:
  ChainAxesSweep(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view,
                 void* scratch)
      : Pack(g, next, constants, constants_per_row(StiffnessLaw::anisotropic, damped), view) {
    auto* memory = static_cast<std::byte*>(scratch);
    row_ = this->template take<Row>(memory);
    if (damped) damping_ = this->template take<ChainAxesDamping<P>>(memory);
    flags_ = this->template take<RowFlags>(memory);
  }

  template <bool kDamped>
  void run(int iterations) {
    load<kDamped>();
    for (int n = 0; n < iterations; ++n)
      this->sweep_rows([&](Index i) { move_vertex(i); }, [&](Index i) { turn_segment<kDamped>(i); },
                       [&] {
                         Row &before = row_[-1], &last = row_[rows_ - 1];
                         from_before(before.C.xx, last.C.xx), from_before(before.C.yx, last.C.yx);
                         from_before(before.C.yy, last.C.yy), from_before(before.C.zx, last.C.zx);
                         from_before(before.C.zy, last.C.zy), from_before(before.C.zz, last.C.zz);
                         from_before(before.pull, last.pull);
                       });
  }
  template <bool kDamped>
  void load();
  OSIER_FN void move_vertex(Index i);
  template <bool kDamped>
  OSIER_FN void turn_segment(Index i);
  template <bool kDamped>
  [[gnu::noinline]] void careful_frames(Index i, std::uint32_t lanes, Quat<P>& q);

  OSIER_FN P inverse_step() const { return P(static_cast<T>(1 / view_.h)); }
  /// Stiffness, damping folded in [N/m], and rest vector [m].
  template <bool kDamped>
  OSIER_FN Vec3<P> stiffness(Index i) const {
    const Vec3<P> k = axes(i, kStretchOfSweep);
    if constexpr (!kDamped) return k;
    const Vec3<P> alpha = inverse_step() * axes(i, kTauStretchOfSweep);
    return k + times(alpha, k);
  }
  template <bool kDamped>
  OSIER_FN Vec3<P> rest_axis(Index i) const {
    if constexpr (kDamped) return damping_[i].rest;
    else return {P(0), P(0), constant(i, kLengthOfSweep)};
  }
  template <bool kDamped>
  OSIER_FN void put_spring(Index i) {
    Row& r = row_[i];
    r.C = packed(rotated_diagonal(rotation_matrix(r.q), stiffness<kDamped>(i)));
    r.pull = r.C * (rotate(r.q, rest_axis<kDamped>(i)) - r.edge);
  }
  /// The joint to the row before, damping folded in, from the model.
  template <bool kDamped>
  OSIER_FN void load_joint(Index i);

  ChainAxesDamping<P>* damping_ = nullptr;
};

template <class P>
template <bool kDamped>
OSIER_FN void ChainAxesSweep<P>::load_joint(Index i) {
  Index joint[W];
  T sign[W], there[W];
  for (int k = 0; k < W; ++k) {
    Index j = -1, anchor = -1;
    const bool tail = i == g_.segments[k] && g_.tail_joint[k] >= 0;  // in row 0 where a piece is a single vertex
    if (tail) j = g_.tail_joint[k], anchor = g_.tail[k];
    else if (i == 0 && !(g_.cut && k > 0)) j = g_.head_joint[k], anchor = g_.head[k];
    else if (i < g_.segments[k] && g_.jointed[k]) j = g_.first_joint[k] + i;
    // As this row sees it: the model may have it the other way round where an anchor is.
    const bool flipped = j >= 0 && anchor >= 0 && (view_.joint_frames[j][0] == anchor) == tail;
    joint[k] = j < 0 ? 0 : j, sign[k] = flipped ? T(-1) : T(1), there[k] = j < 0 ? T(0) : T(1);
  }
  Row& r = row_[i];
  if (!any(load_lanes<P>(there) > P(0))) {
    r.K = r.target = {P(0), P(0), P(0), P(0)};
    if constexpr (kDamped) damping_[i].margin2 = P(-1);
    return;
  }
  const auto joints = [&](int k) { return joint[k]; };
  const P imaginary = load_lanes<P>(sign);
  const Vec3<P> stiffness = load_lanes<P>(there) * gather<P>(view_.joint_stiffness, joints);
  Quat<P> rest = gather<P>(view_.joint_rest, joints);
  r.target = {imaginary * rest.x, imaginary * rest.y, imaginary * rest.z, rest.w};
  r.K = bend_twist::stiffness4(stiffness);
  if constexpr (kDamped) {
    const Quat<P> viscous = inverse_step() * bend_twist::viscous4(stiffness, gather<P>(view_.joint_tau, joints));
    const Quat<P> K = r.K;
    rest = r.target;
    fold_joint(K, rest, viscous, conj(row_[i - 1].q) * r.q, r.K, r.target, damping_[i].margin2);
  }
}

template <class P>
template <bool kDamped>
void ChainAxesSweep<P>::load() {
  this->begin_load();
  if constexpr (kDamped) damping_[-1] = {}, damping_[rows_] = {};
  for (Index i = 0; i < rows_; ++i) {
    Row& r = row_[i];
    const auto n = this->numbers(i);
    r.weight = this->load_start(i, n);
    r.edge = this->edge(n);
    if constexpr (kDamped) {
      const P length = constant(i, kLengthOfSweep), inverse_length = select(length > P(0), P(1) / length, P(0));
      const Vec3<P> strain = rotate(conj(r.q), inverse_length * r.edge - director3(r.q));
      damping_[i].rest =
          length * stretch_shear::folded(axes(i, kStretchOfSweep), inverse_step() * axes(i, kTauStretchOfSweep), strain).rest;
    }
  }
  this->put_anchors(false);
  if (g_.cut) {
    from_before(row_[-1].q, row_[rows_ - 1].q);
    from_after(row_[rows_].q, row_[0].q);
  }
  for (Index i = 0; i < rows_; ++i) load_joint<kDamped>(i);
  this->put_anchors(true);
  for (Index i = 0; i < rows_; ++i) {
    this->hold_frame(i);
    put_spring<kDamped>(i);
  }
  if (!g_.cut) return;
  from_after(row_[rows_].K, row_[0].K);
  from_after(row_[rows_].target, row_[0].target);
  if constexpr (kDamped) {
    damping_[rows_].margin2 = P(-1);
    from_after(damping_[rows_].margin2, damping_[0].margin2);
  }
}

template <class P>
OSIER_FN void ChainAxesSweep<P>::move_vertex(Index i) {
  const std::uint32_t held = flags_[i].vertex_held;
  if (held == kAll) return;
  Row& r = row_[i];
  const Row& before = row_[i - 1];
  const Vec3<P> gradient =
      (r.weight * r.u - r.rhs) + (before.C * (r.u - before.u) - before.pull) + (r.C * (r.u - row_[i + 1].u) + r.pull);
  Vec3<P> u = after_block_step(r.u, gradient, identity3(r.weight) + full(before.C + r.C));
  if (held != 0) u = select<P>(mask_of_bits<P>(held), r.u, u);
  r.u = u;
}

template <class P>
template <bool kDamped>
OSIER_FN void ChainAxesSweep<P>::turn_segment(Index i) {
  const RowFlags f = flags_[i];
  if (f.frame_held == kAll) return;
  Row& r = row_[i];
  const Row &before = row_[i - 1], &after = row_[i + 1];
  FrameProblem<P> problem(r.q, r.edge + (after.u - r.u), stiffness<kDamped>(i), rest_axis<kDamped>(i));
  Quat<P> pull_before, pull_after;
  P c_before, c_after;
  problem.add_joint(r.q, {before.q, r.K, r.target}, pull_before, c_before);
  problem.add_joint(r.q, {after.q, after.K, conj(after.target)}, pull_after, c_after);
  if (view_.torque) [[unlikely]]
    problem.add_torque(r.q, torque_at(i));
  MaskOf<P> refused{};
  Quat<P> q = newton_frame(problem, r.q, refused);
  std::uint32_t special = bits(refused) | f.frame_hinged;
  if constexpr (kDamped)
    special |= bits((c_before * c_before < damping_[i].margin2 * norm2(pull_before)) |
                    (c_after * c_after < damping_[i + 1].margin2 * norm2(pull_after)));
  special &= ~f.frame_held;
  if (special != 0) [[unlikely]] {  // by a copy: what has its address taken lives in memory from the start
    Quat<P> repaired = q;
    careful_frames<kDamped>(i, special, repaired);
    q = repaired;
  }
  if (f.frame_held != 0) q = select<P>(mask_of_bits<P>(f.frame_held), r.q, q);
  r.q = q;
  put_spring<kDamped>(i);
}

/// Lane by lane, where a Newton step is refused, for hinges, and where elastic and viscous poles may differ.
template <class P>
template <bool kDamped>
void ChainAxesSweep<P>::careful_frames(Index i, std::uint32_t lanes, Quat<P>& q) {
  const Row &r = row_[i], &before = row_[i - 1], &after = row_[i + 1];
  const Vec3<P> p = r.edge + (after.u - r.u), k = stiffness<kDamped>(i), rest = rest_axis<kDamped>(i);
  for (int l = 0; l < W; ++l)
    if (lanes >> l & 1u)
      set_lanes(q, l,
                careful_frame_of(view_, g_.first_segment[l] + i, lane_of(r.q, l), lane_of(p, l), lane_of(k, l), lane_of(rest, l),
                                 [&](Index f) { return lane_of(f == frame_before(i, l) ? before.q : after.q, l); }));
}

}  // namespace osier::stable_cosserat
