// The elastic law of one link, for a number or for a pack of lanes: what it keeps of a step, and the axes along which its springs
// act. The strains themselves are those of energies/strain_since_start.hpp.
//
//   IsotropicLink     one stiffness for position and one for rotation, so that the axes of the world can be used
//   AnisotropicLink   a stiffness and a Kelvin-Voigt time for each axis: those of the segment (d1, d2, d3) for position, those
//                     halfway between the two frames for rotation. It knows the frames, so chains with torques take this law,
//                     whatever their stiffness
//
// No packs, containers or matrices of a library are included here: a graphics card compiles this file as it is.
#pragma once

#include "energies/strain_since_start.hpp"
#include "energies/stretch_shear.hpp"
#include "exec/strided.hpp"
#include "linalg/link_algebra.hpp"
#include "math/lane_access.hpp"
#include "solvers/joint_model.hpp"
#include "solvers/lanes/chain_constants.hpp"

namespace osier::systems {

using strain_since_start::segment_start;
using strain_since_start::SegmentStart;

/// Axes along which the springs of a link act, as columns. The isotropic law has those of the world.
template <class P>
struct LinkAxes {
  Mat3<P> x, w;
};
struct WorldAxes {};

/// The frame before: its turn since the start of the step, and its rotation then and now where the law needs them. The members
/// are references, so that numbers that are not needed yet take no registers.
template <class P>
struct NearFrame {
  const Quat<P>& turn;
  const Quat<P>&start, &now;
};

template <class P>
struct IsotropicJoint {
  using T = ScalarOf<P>;
  Quat<P> bend0;
  P k, w_compliance;  ///< k^bt, 4/(k (1 + viscous))

  /// Constants that the row does not keep; `viscous` = tau/h.
  struct Springs {
    P viscous;
  };
  template <class Constant>
  OSIER_FN static Springs springs(const Constant& constant, P inverse_h, bool damped) {
    return {damped ? inverse_h * constant(lanes::kTauBendDirect) : P(0)};
  }
  template <class Constant>
  OSIER_FN void load_joint(const Constant& constant, const Springs& springs) {
    k = constant(lanes::kBend);
    w_compliance = select(k > P(0), P(4) * inverse(k * (P(1) + springs.viscous)), P(0));
  }
  /// Stiffness of the joint, 0 where there is none.
  OSIER_FN P joint_stiffness() const { return k; }
  /// Puts a rigid hold (w = 0) or nothing at all (w = kLoose) in the place of one lane's joint.
  OSIER_FN void replace_joint(int lane_index, T w) {
    set_lane(w_compliance, lane_index, w);
    set_lane(k, lane_index, T(0));
  }
  /// Strain e_w of the joint, and its energy.
  template <bool kDamped>
  OSIER_FN void bend(const Springs& springs, const Quat<P>& turn, const Quat<P>& turn_near, Vec3<P>& e_w, P& energy) const {
    const auto bent = strain_since_start::isotropic_bend<kDamped>(bend0, springs.viscous, turn, turn_near);
    e_w = (P(0.5) * k * w_compliance) * bent.couple;  // 2/(1 + viscous), or 0 without a joint
    energy = k * bent.energy;
  }
};

template <class P>
struct IsotropicLink : IsotropicJoint<P> {
  using T = ScalarOf<P>;
  using Joint = IsotropicJoint<P>;
  using Springs = typename Joint::Springs;
  using Axes = WorldAxes;
  static constexpr StiffnessLaw kLaw = StiffnessLaw::isotropic;
  static constexpr bool kOwnAxes = false;
  static constexpr int kForces = 1;  ///< how many numbers of the force through a link are kept: its tension

  using Damping = P;
  P x_compliance;
  static constexpr int kChanging = numbers_in<Joint, P> + 1;  ///< how many numbers come before those that iterations change
  Vec3<P> half_strain;  ///< half of the joint's strain, which is its moment turn (link_algebra.hpp); changes in every iteration

  /// tau/h of the segment.
  template <class Constant>
  OSIER_FN static Damping stretch_damping(const Constant& constant, P inverse_h, bool damped) {
    return damped ? inverse_h * constant(lanes::kTauStretchDirect) : P(0);
  }
  template <class Constant>
  OSIER_FN void load_segment(const Constant& constant, P length, P stretch_viscous) {
    const P stiff = constant(lanes::kStretch) * (P(1) + stretch_viscous);
    x_compliance = select(length > P(0), length * length * inverse(stiff), P(0));
  }
  /// The joint of one lane in double, from that lane's constants.
  template <class Constant>
  OSIER_FN static JointSpring joint_of(const Constant& constant, double h, bool damped) {
    const double k = constant(lanes::kBend), alpha = damped ? constant(lanes::kTauBendDirect) / h : 0;
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
  OSIER_FN P compliance(int axis) const { return axis < 3 ? x_compliance : this->w_compliance; }
  OSIER_FN const Vec3<P>& moment() const { return half_strain; }
  OSIER_FN Vec3<P> joint_strain() const { return P(2) * half_strain; }
  OSIER_FN static Axes axes(const Quat<P>&) { return {}; }

  /// Strain of the joint, e_x being that of the segment, and both energies.
  template <bool kDamped, class Force>
  OSIER_FN void strain(const Springs& springs, const Quat<P>& turn, const NearFrame<P>& near, const Quat<P>&, const Quat<P>&,
                       const Force&, const Vec3<P>& e_x, Vec3<P>& e_w, Axes&, P& stretched, P& bent, P&) {
    this->template bend<kDamped>(springs, turn, near.turn, e_w, bent);
    half_strain = moment_turn(e_w);
    stretched = select(x_compliance > P(0), P(0.5) * norm2(e_x) * inverse(x_compliance), P(0));
  }
};

/// Keeps only numbers that would lose digits: the axes follow from the frames, strains and the moment turn from m.
template <class P>
struct AnisotropicJoint {
  using T = ScalarOf<P>;
  Vec3<P> w_compliance;
  Quat<P> difference0;  ///< D_t

  /// Constants that the row does not keep.
  struct Springs {
    Quat<P> K, K_viscous;
  };
  template <class Constant>
  OSIER_FN static Vec3<P> three(const Constant& constant, int first) {
    return {constant(first), constant(first + 1), constant(first + 2)};
  }
  OSIER_FN static Springs springs(const Vec3<P>& k, const Vec3<P>& viscous) {
    return {bend_twist::stiffness4(k), bend_twist::viscous4(k, viscous)};
  }
  template <class Constant>
  OSIER_FN static Springs springs(const Constant& constant, P inverse_h, bool damped) {
    return springs(three(constant, lanes::kBendAxes),
                   damped ? inverse_h * three(constant, lanes::kTauBendAxes) : Vec3<P>{P(0), P(0), P(0)});
  }
  template <class Constant>
  OSIER_FN void load_joint(const Constant&, const Springs& springs) {
    const Vec3<P> k = imag(springs.K) + imag(springs.K_viscous);
    w_compliance = select(springs.K.w > P(0), Vec3<P>{P(4) * inverse(k.x), P(4) * inverse(k.y), P(4) * inverse(k.z)},
                          Vec3<P>{P(0), P(0), P(0)});
  }
  OSIER_FN MaskOf<P> is_jointed() const { return (w_compliance.z > P(0)) & (w_compliance.z < P(kLoose<T>)); }
  OSIER_FN P joint_stiffness() const {
    const P softest = larger(larger(w_compliance.x, w_compliance.y), w_compliance.z);
    return select(is_jointed(), P(4) * inverse(softest), P(0));
  }
  OSIER_FN void replace_joint(int lane_index, T w) { set_lanes(w_compliance, lane_index, {w, w, w}); }

  /// Moment m along the springs, energy, and the frame of the springs' axes, which is returned. `pole_margin` becomes negative
  /// where a pole should change. A lane without a joint, or with a rigid hold in its place, has no springs.
  template <bool kDamped>
  OSIER_FN Quat<P> bend(const Springs& springs, const Quat<P>& turn, const NearFrame<P>& near, const Quat<P>& frame0, Vec3<P>& m,
                        P& energy, P& pole_margin) const {
    const auto bent = strain_since_start::anisotropic_bend<kDamped>(springs.K, springs.K_viscous, difference0, turn, near.turn,
                                                                    near.start, frame0);
    const Quat<P> half = strain_since_start::half_turn_of(bent.r);
    const MaskOf<P> jointed = is_jointed();
    pole_margin = smaller(pole_margin, select(jointed, bent.pole_margin, P(0)));
    energy = select(jointed, bent.energy, P(0));
    m = select(jointed, rotate(conj(half), bend_twist::gradient_of_weighted(bent.gradient, bent.r)), Vec3<P>{P(0), P(0), P(0)});
    return near.now * half;
  }
};

template <class P>
struct AnisotropicLink : AnisotropicJoint<P> {
  using T = ScalarOf<P>;
  using Joint = AnisotropicJoint<P>;
  using Springs = typename Joint::Springs;
  using Axes = LinkAxes<P>;
  static constexpr StiffnessLaw kLaw = StiffnessLaw::anisotropic;
  static constexpr bool kOwnAxes = true;
  static constexpr int kForces = 3;

  using Damping = Vec3<P>;
  Vec3<P> x_compliance;
  static constexpr int kChanging = numbers_in<Joint, P> + 3;
  // Changed by every iteration:
  Vec3<P> m;        ///< moment of the joint, along its springs
  Quat<P> w_frame;  ///< frame of those springs

  template <class Constant>
  OSIER_FN static Damping stretch_damping(const Constant& constant, P inverse_h, bool damped) {
    return damped ? inverse_h * Joint::three(constant, lanes::kTauStretchAxes) : Vec3<P>{P(0), P(0), P(0)};
  }
  template <class Constant>
  OSIER_FN void load_segment(const Constant& constant, P length, const Vec3<P>& stretch_viscous) {
    const Vec3<P> none{P(0), P(0), P(0)}, one{P(1), P(1), P(1)};
    const Vec3<P> stiff = times(Joint::three(constant, lanes::kStretchAxes), one + stretch_viscous);
    const P l2 = length * length;
    x_compliance = select(length > P(0), Vec3<P>{l2 * inverse(stiff.x), l2 * inverse(stiff.y), l2 * inverse(stiff.z)}, none);
  }
  template <class Constant>
  OSIER_FN static JointSpring joint_of(const Constant& constant, double h, bool damped) {
    const auto axes = [&](int first) { return Vec3d{constant(first), constant(first + 1), constant(first + 2)}; };
    return {axes(lanes::kBendAxes), damped ? (1 / h) * axes(lanes::kTauBendAxes) : Vec3d{}, {}, {}};
  }

  template <class Number>
  struct Start {
    Vec3<Number> share;
    Quat<Number> K;
    SegmentStart<Number> segment;
    Quat<Number> difference;
    OSIER_FN void form(const Quat<Number>& q, const Quat<Number>& before, const Quat<Number>& rest, const Vec3<Number>& edge,
                       Number length) {
      segment = segment_start(q, edge, length, share);
      difference = bend_twist::difference(K, conj(before) * q, rest);
    }
  };
  OSIER_FN P compliance(int axis) const {
    return axis < 3 ? component(x_compliance, axis) : component(this->w_compliance, axis - 3);
  }
  OSIER_FN AnisotropicTurn<P> moment() const { return {limited_half_moment(m, this->w_compliance), this->w_compliance}; }
  OSIER_FN Vec3<P> joint_strain() const { return times(this->w_compliance, m); }
  /// The axes of the springs; `frame` is that of the segment now.
  OSIER_FN Axes axes(const Quat<P>& frame) const { return {rotation_matrix(frame), rotation_matrix(w_frame)}; }

  /// `frame0` and `frame` are the segment's at the start and now; e_x comes in the axes of the world and leaves along the
  /// springs; force(axes): that through the segment in the last solve, along the springs. Returns what the segment's springs add
  /// to the couple on the frame.
  ///
  /// That couple is formed with the force of the last solve, which converges to the force of the strain and is never far from it.
  /// At the first guess the force of the strain itself is far too large in stiff segments, and so would be its couple.
  template <bool kDamped, class Force>
  OSIER_FN Vec3<P> strain(const Springs& springs, const Quat<P>& turn, const NearFrame<P>& near, const Quat<P>& frame0,
                          const Quat<P>& frame, const Force& force, Vec3<P>& e_x, Vec3<P>& e_w, Axes& axes_now, P& stretched,
                          P& bent, P& pole_margin) {
    w_frame = this->template bend<kDamped>(springs, turn, near, frame0, m, bent, pole_margin);
    axes_now = axes(frame);
    e_w = joint_strain();
    e_x = transposed_times(axes_now.x, e_x);
    const auto stiffness = [](P c) { return select(c > P(0), inverse(c), P(0)); };
    const Vec3<P>& c = x_compliance;
    stretched = P(0.5) * (stiffness(c.x) * e_x.x * e_x.x + stiffness(c.y) * e_x.y * e_x.y + stiffness(c.z) * e_x.z * e_x.z);
    return axes_now.x * stretch_shear::couple_of_axes(c, force(axes_now));
  }
};

}  // namespace osier::systems
