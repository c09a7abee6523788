// The elastic law of one row of chain_step.hpp, in lanes: what it keeps of a step, its strains, and the axes along which its
// springs act.
//
//   IsotropicLink     one stiffness for position and one for rotation, so that the axes of the world will do
//   AnisotropicLink   a stiffness and a Kelvin-Voigt time for each axis: those of the segment (d1, d2, d3) for position, those
//                     halfway between the two frames for rotation. It knows the frames, so torques are its business too,
//                     whatever the stiffness
//
// Both measure everything from the start of the step, marked t, so that float keeps its digits for what happens within it:
//
//   bend (isotropic)     q_b conj(q_a q0) = dq_b (q_b conj(q_a q0))_t conj(dq_a)
//   bend (anisotropic)   D = D_t + c,  r = r_t + c,  c = conj(q_a) (Delta - 1) q_a r_t at t,  Delta = conj(dq_a) dq_b
//
// with the brackets, r_t = conj(q_a) q_b and D_t = r_t - phi q0 formed in double, and Delta_w - 1 as -|Im Delta|^2/(1 + Delta_w).
// c itself is the difference that damping works on. phi is that of the start: a lane where it should change is given up.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "exec/lanes.hpp"
#include "solvers/direct/joint_model.hpp"
#include "solvers/direct/link_algebra.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"

namespace osier::direct {

/// The segment at the start of the step, formed in double: l axis_t and l (p_t - axis_t). With damping the axis at rest leans
/// towards where the edge was, axis_t = d + share (p_t - d), share = alpha/(1 + alpha), along the world's axes or those of q.
template <class D>
struct SegmentStart {
  Vec3<D> arm, stretch;
};
template <class D>
OSIER_FN Vec3<D> leaning(const Quat<D>&, const Vec3<D>& apart, D share) {
  return share * apart;
}
template <class D>
OSIER_FN Vec3<D> leaning(const Quat<D>& q, const Vec3<D>& apart, const Vec3<D>& share) {
  return rotate(q, times(share, rotate(conj(q), apart)));
}
template <class D, class Share>
OSIER_FN SegmentStart<D> segment_start(const Quat<D>& q, const Vec3<D>& edge, D length, const Share& share) {
  const Vec3<D> along = length * director3(q), apart = edge - along, leant = leaning(q, apart, share);
  return {along + leant, apart - leant};
}

template <class P>
OSIER_FN void widen3(const Vec3<P>& v, Vec3<typename InDouble<P>::type> (&part)[InDouble<P>::parts]) {
  typename InDouble<P>::type x[InDouble<P>::parts], y[InDouble<P>::parts], z[InDouble<P>::parts];
  widen(v.x, x), widen(v.y, y), widen(v.z, z);
  for (int g = 0; g < InDouble<P>::parts; ++g) part[g] = {x[g], y[g], z[g]};
}

template <class P>
struct IsotropicLink {
  using T = ScalarOf<P>;
  using D = typename InDouble<P>::type;
  static constexpr int kParts = InDouble<P>::parts;
  static constexpr StiffnessLaw kLaw = StiffnessLaw::isotropic;
  static constexpr bool kOwnAxes = false;

  using Damping = P;
  P x_compliance;
  Quat<P> bend0;
  P k, w_compliance;  ///< the joint: k^bt, 4/(k (1 + viscous))
  Vec3<P> lean;       ///< of the iteration: see moment_turn()

  /// tau/h of the segment and of the joint.
  template <class Constant>
  OSIER_FN static Damping stretch_damping(const Constant& constant, P inverse_h, bool damped) {
    return damped ? inverse_h * constant(stable_cosserat::kTauStretchDirect) : P(0);
  }
  template <class Constant>
  OSIER_FN static P joint_damping(const Constant& constant, P inverse_h) {
    return inverse_h * constant(stable_cosserat::kTauBendDirect);
  }
  template <class Constant>
  OSIER_FN void load_constants(const Constant& constant, P length, P, P inverse_h, P stretch_viscous, bool damped) {
    k = constant(stable_cosserat::kBend);
    const MaskOf<P> jointed = k > P(0);
    const P viscous = damped ? joint_damping(constant, inverse_h) : P(0);
    const P stiff = constant(stable_cosserat::kStretch) * (P(1) + stretch_viscous);
    x_compliance = select(length > P(0), length * length * inverse(stiff), P(0));
    w_compliance = select(jointed, P(4) * inverse(k * (P(1) + viscous)), P(0));
  }
  /// Of the joint in row i of one lane.
  template <class Constant>
  OSIER_FN static JointSpring joint_of(const Constant& constant, double h, bool damped) {
    const double k = constant(stable_cosserat::kBend), alpha = damped ? constant(stable_cosserat::kTauBendDirect) / h : 0;
    return {{k, k, k}, {alpha, alpha, alpha}, {}, {}};
  }

  /// The start of the step in double; Number is D or, for a single lane, double.
  template <class Number>
  struct Start {
    Number share;
    SegmentStart<Number> segment;
    Quat<Number> bend;
    OSIER_FN void form(const Quat<Number>& q, const Quat<Number>& before, const Quat<Number>& rest, const Vec3<Number>& edge,
                       Number length) {
      segment = segment_start(q, edge, length, share);
      bend = q * conj(before * rest);
    }
  };
  OSIER_FN void begin(Start<D> (&start)[kParts], P stretch_viscous) const {
    D share[kParts];
    widen(stretch_viscous * inverse(P(1) + stretch_viscous), share);
    for (int g = 0; g < kParts; ++g) start[g].share = share[g];
  }
  OSIER_FN Start<double> begin_lane(int lane_index, P stretch_viscous) const {
    const double alpha = static_cast<double>(lane(stretch_viscous, lane_index));
    return {alpha / (1 + alpha), {}, {}};
  }
  OSIER_FN void take(const Start<D> (&start)[kParts]) {
    D c[4][kParts];
    for (int g = 0; g < kParts; ++g) {
      const Quat<D>& b = start[g].bend;
      c[0][g] = b.x, c[1][g] = b.y, c[2][g] = b.z, c[3][g] = b.w;
    }
    bend0 = {narrow<P>(c[0]), narrow<P>(c[1]), narrow<P>(c[2]), narrow<P>(c[3])};
  }
  OSIER_FN void take_lane(int lane_index, const Start<double>& start) { set_lanes(bend0, lane_index, cast<T>(start.bend)); }

  OSIER_FN P compliance(int axis) const { return axis < 3 ? x_compliance : w_compliance; }
  OSIER_FN const Vec3<P>& moment() const { return lean; }
  /// Stiffness of the joint, 0 where there is none.
  OSIER_FN P joint_stiffness() const { return k; }
  /// No joint in this lane, but a rigid hold or nothing at all.
  OSIER_FN void replace_joint(int lane_index, T w) {
    set_lane(w_compliance, lane_index, w);
    set_lane(k, lane_index, T(0));
  }

  /// Strain of the joint, e_x being that of the segment, and both energies. `viscous`: tau/h of the joint.
  template <bool kDamped>
  OSIER_FN void strain(const Quat<P>& turn, const Quat<P>& turn_near, [[maybe_unused]] P viscous, const Vec3<P>& e_x,
                       Vec3<P>& e_w, P& stretched, P& bent_energy) {
    const Quat<P> near_back = conj(turn_near), bend = turn * bend0 * near_back;
    const P phi = bend_twist::pole(bend.w);
    Vec3<P> couple = phi * imag(bend);
    P bent = norm2(imag(bend)) * inverse(P(1) + phi * bend.w);
    if constexpr (kDamped) {
      const Quat<P> since = turn * near_back;
      const P psi = bend_twist::pole(since.w);
      couple += (viscous * psi) * imag(since);
      bent += viscous * norm2(imag(since)) * inverse(P(1) + psi * since.w);
    }
    e_w = (P(0.5) * k * w_compliance) * couple;  // 2/(1 + viscous), or 0 without a joint
    lean = moment_turn(e_w);
    stretched = select(x_compliance > P(0), P(0.5) * norm2(e_x) * inverse(x_compliance), P(0)), bent_energy = k * bent;
  }
};

template <class P>
struct AnisotropicLink {
  using T = ScalarOf<P>;
  using D = typename InDouble<P>::type;
  static constexpr int kParts = InDouble<P>::parts;
  static constexpr StiffnessLaw kLaw = StiffnessLaw::anisotropic;
  static constexpr bool kOwnAxes = true;

  using Damping = Vec3<P>;
  Vec3<P> x_stiffness, x_compliance;
  Quat<P> frame0;  ///< q_t
  Quat<P> r0, difference0;
  Quat<P> K, K_viscous;
  Vec3<P> w_compliance;
  Vec3<P> torque, torque_material;  ///< on the frame, where there are any: fixed in the world, and turning with it
  // Of the iteration.
  Mat3<P> x_axes, w_axes;
  Vec3<P> lean;
  Vec3<P> drive;  ///< both torques, world axes

  template <class Constant>
  OSIER_FN static Vec3<P> three(const Constant& constant, int first) {
    return {constant(first), constant(first + 1), constant(first + 2)};
  }
  template <class Constant>
  OSIER_FN static Damping stretch_damping(const Constant& constant, P inverse_h, bool damped) {
    return damped ? inverse_h * three(constant, stable_cosserat::kTauStretchAxes) : Vec3<P>{P(0), P(0), P(0)};
  }
  template <class Constant>
  OSIER_FN void load_constants(const Constant& constant, P length, P inverse_length, P inverse_h, const Vec3<P>& stretch_viscous,
                               bool damped) {
    const Vec3<P> none{P(0), P(0), P(0)}, one{P(1), P(1), P(1)};
    const Vec3<P> k = three(constant, stable_cosserat::kBendAxes);
    const Vec3<P> viscous = damped ? inverse_h * three(constant, stable_cosserat::kTauBendAxes) : none;
    const Vec3<P> stiff = times(three(constant, stable_cosserat::kStretchAxes), one + stretch_viscous);
    const Vec3<P> bending = times(k, one + viscous);
    const P l2 = length * length;
    x_stiffness = (inverse_length * inverse_length) * stiff;
    x_compliance = select(length > P(0), Vec3<P>{l2 * inverse(stiff.x), l2 * inverse(stiff.y), l2 * inverse(stiff.z)}, none);
    w_compliance =
        select(k.z > P(0), Vec3<P>{P(4) * inverse(bending.x), P(4) * inverse(bending.y), P(4) * inverse(bending.z)}, none);
    K = bend_twist::stiffness4(k);
    K_viscous = bend_twist::viscous4(k, viscous);
  }
  template <class Constant>
  OSIER_FN static JointSpring joint_of(const Constant& constant, double h, bool damped) {
    const auto axes = [&](int first) { return Vec3d{constant(first), constant(first + 1), constant(first + 2)}; };
    return {axes(stable_cosserat::kBendAxes), damped ? (1 / h) * axes(stable_cosserat::kTauBendAxes) : Vec3d{}, {}, {}};
  }

  template <class Number>
  struct Start {
    Vec3<Number> share;
    Quat<Number> K;
    SegmentStart<Number> segment;
    Quat<Number> frame, r, difference;
    OSIER_FN void form(const Quat<Number>& q, const Quat<Number>& before, const Quat<Number>& rest, const Vec3<Number>& edge,
                       Number length) {
      segment = segment_start(q, edge, length, share);
      frame = q;
      // Of the two quaternions of a rotation the one whose root is half of it.
      r = conj(before) * q;
      r = bend_twist::pole(r.w) * r;
      difference = bend_twist::difference(K, r, rest);
    }
  };
  OSIER_FN void begin(Start<D> (&start)[kParts], const Vec3<P>& stretch_viscous) const {
    Vec3<D> share[kParts], bend[kParts];
    D real[kParts];
    const auto part = [](P alpha) { return alpha * inverse(P(1) + alpha); };
    widen3(Vec3<P>{part(stretch_viscous.x), part(stretch_viscous.y), part(stretch_viscous.z)}, share);
    widen3(imag(K), bend);
    widen(K.w, real);
    for (int g = 0; g < kParts; ++g) start[g].share = share[g], start[g].K = {bend[g].x, bend[g].y, bend[g].z, real[g]};
  }
  OSIER_FN Start<double> begin_lane(int lane_index, const Vec3<P>& stretch_viscous) const {
    const Vec3d alpha = cast<double>(lane_of(stretch_viscous, lane_index));
    Start<double> start{};
    start.share = {alpha.x / (1 + alpha.x), alpha.y / (1 + alpha.y), alpha.z / (1 + alpha.z)};
    start.K = cast<double>(lane_of(K, lane_index));
    start.difference = {0, 0, 0, 0};
    return start;
  }
  OSIER_FN static Quat<P> narrowed(const Start<D> (&start)[kParts], Quat<D> Start<D>::*what) {
    D c[4][kParts];
    for (int g = 0; g < kParts; ++g) {
      const Quat<D>& q = start[g].*what;
      c[0][g] = q.x, c[1][g] = q.y, c[2][g] = q.z, c[3][g] = q.w;
    }
    return {narrow<P>(c[0]), narrow<P>(c[1]), narrow<P>(c[2]), narrow<P>(c[3])};
  }
  OSIER_FN void take(const Start<D> (&start)[kParts]) {
    frame0 = narrowed(start, &Start<D>::frame);
    r0 = narrowed(start, &Start<D>::r);
    difference0 = narrowed(start, &Start<D>::difference);
  }
  OSIER_FN void take_lane(int lane_index, const Start<double>& start) {
    set_lanes(frame0, lane_index, cast<T>(start.frame));
    set_lanes(r0, lane_index, cast<T>(start.r));
    set_lanes(difference0, lane_index, cast<T>(start.difference));
  }

  OSIER_FN P compliance(int axis) const { return axis < 3 ? component(x_compliance, axis) : component(w_compliance, axis - 3); }
  OSIER_FN Lean<P> moment() const { return {lean, w_compliance}; }
  OSIER_FN P joint_stiffness() const { return K.w; }
  OSIER_FN void replace_joint(int lane_index, T w) {
    set_lanes(w_compliance, lane_index, {w, w, w});
    set_lanes(K, lane_index, {T(0), T(0), T(0), T(0)});
    set_lanes(K_viscous, lane_index, {T(0), T(0), T(0), T(0)});
  }

  /// `frame0_near` and `frame_near` are the frame before at the start and now, `frame` this one now; e_x comes in the axes of the
  /// world and leaves along the springs. Sets the axes. `room` becomes negative where a pole should change. Returns what the
  /// segment's springs add to the couple on the frame.
  template <bool kDamped>
  OSIER_FN Vec3<P> strain(const Quat<P>& turn, const Quat<P>& turn_near, const Quat<P>& frame0_near, const Quat<P>& frame_near,
                          const Quat<P>& frame, Vec3<P>& e_x, Vec3<P>& e_w, P& stretched, P& bent, P& room) {
    const Quat<P> apart = conj(turn_near) * turn;
    const Vec3<P> v = rotate(conj(frame0_near), imag(apart));
    const Quat<P> change = Quat<P>{v.x, v.y, v.z, -norm2(v) * inverse(P(1) + apart.w)} * r0;
    const Quat<P> r = r0 + change, apart_from_rest = difference0 + change;
    Quat<P> pull = bend_twist::times(K, apart_from_rest);
    bent = P(0.5) * dot(apart_from_rest, pull);
    room = smaller(room, dot(r, bend_twist::times(K, r)) - dot(r, pull));  // r.(K q0) with the pole of the start
    if constexpr (kDamped) {
      const Quat<P> viscous = bend_twist::times(K_viscous, change);
      bent += P(0.5) * dot(change, viscous);
      pull += viscous;
      room = smaller(room, apart.w);
    }
    const P scale = inverse_sqrt(P(2) + P(2) * r.w);
    const Quat<P> half{scale * r.x, scale * r.y, scale * r.z, scale * (P(1) + r.w)};
    w_axes = rotation_matrix(frame_near * half);
    x_axes = rotation_matrix(frame);
    const Vec3<P> m = rotate(conj(half), bend_twist::gradient_of_pull(pull, r));
    e_w = times(w_compliance, m);
    lean = moment_lean(m, w_compliance);
    e_x = transposed_times(x_axes, e_x);
    const Vec3<P> force = times(x_stiffness, e_x);
    stretched = P(0.5) * dot(force, e_x);
    // The part of the exact couple n x p that the model of a straight spring does not have: n x (p - axis).
    return x_axes * cross(e_x, force);
  }
};

}  // namespace osier::direct
