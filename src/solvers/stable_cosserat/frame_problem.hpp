// The local problem of one frame where stiffness differs between axes, with its neighbours held:
//
//   E(q) = 1/2 S.(k S)                        S = R' p - rest, stretch and shear; p and rest in any one unit, k to match
//        + sum_joints 1/2 D.(K D)             D = r - phi rest_j, r = conj(q_other) q
//        + sum 1/2 k_y |y - R a|^2            rotational inertia, motors
//        - torque.q                           2 M q at the present q
//
// which is of fourth degree in q when shears differ. A joint is seen from either of its frames by the same formula: from the
// first one r and the rest rotation are the conjugates of what they are from the second, and K does not know the difference.
//
// Everything is taken in the frame's own axes, as a turn by a unit quaternion t, q <- q t, because stretching is many orders
// stiffer than twisting: there they do not mix, in float either. As t = 1 + delta, and r t = r + r delta, what changes is
//
//   E(q t) - E(q) = n.dP + 1/2 dP.(k dP) + G.delta + 1/2 delta.(A delta),
//
//   P = R' p,  n = k S,  dP = conj(t) P t - P,     G = sum conj(r) K D + ...,  A = sum L' K L + ...,  L delta = r delta
//
// with poles as they are now: where one would change, E is lower still. In that form a change far smaller than E itself is
// known to all its digits. One number or a pack of them, like all formulas.
#pragma once

#include <limits>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "linalg/small_ldl.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"

namespace osier::stable_cosserat {

/// A joint as the frame at hand sees it; elasticity and damping are one each, or folded into one (kelvin_voigt.hpp).
template <class T>
struct JointTerm {
  Quat<T> other, K, rest;
};

/// 1/2 k |y - R a|^2: what DirectionTerm is, in T.
template <class T>
struct Direction {
  T k;
  Vec3<T> y, a;
};

/// s + a.b, in fused multiply-adds alone.
template <class T>
OSIER_FN T plus_dot(T s, const Quat<T>& a, const Quat<T>& b) {
  return s + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/// A turn t = 1 + delta.
template <class T>
struct SmallTurn {
  Quat<T> t, delta;
};
/// By w, to second order: with h = w/4, t = (2 h, 1 - h^2)/(1 + h^2).
template <class T>
OSIER_FN SmallTurn<T> small_turn(const Vec3<T>& w) {
  const Vec3<T> h = T(0.25) * w;
  const T size2 = norm2(h), twice = T(2) * inverse(T(1) + size2), less = twice * size2;
  const Vec3<T> u = twice * h;
  return {{u.x, u.y, u.z, T(1) - less}, {u.x, u.y, u.z, -less}};
}

/// A quadratic model reaches no further than a radian.
template <class T>
OSIER_FN Vec3<T> within_reach(const Vec3<T>& w) {
  const T length2 = norm2(w);
  const MaskOf<T> far = length2 > T(1);
  if (!any(far)) [[likely]]
    return w;
  return select(far, inverse_sqrt(length2), T(1)) * w;
}

template <class T>
class FrameProblem {
 public:
  OSIER_FN FrameProblem(const Quat<T>& q, const Vec3<T>& p, const Vec3<T>& stiffness, const Vec3<T>& rest)
      : k_(stiffness), rest_(rest) {
    // The difference is formed in the world, so that a rod at rest has none.
    const Vec3<T> strain = rotate(conj(q), p - rotate(q, rest));
    P_ = rest + strain;
    n_ = times(k_, strain);
  }

  /// c = r.(K rest), whose sign is the pole.
  OSIER_FN void add_joint(const Quat<T>& q, const JointTerm<T>& j, Quat<T>& weighed_rest, T& c) {
    const Quat<T> r = conj(j.other) * q;
    weighed_rest = bend_twist::times(j.K, j.rest);
    c = dot(weighed_rest, r);
    G_ += conj(r) * bend_twist::times(j.K, r - bend_twist::pole(c) * j.rest);
    const Quat<T> columns[4] = {{r.w, r.z, -r.y, -r.x}, {-r.z, r.w, r.x, -r.y}, {r.y, -r.x, r.w, -r.z}, r};  // r e_i, r
    for (int i = 0, at = 0; i < 4; ++i) {
      const Quat<T> K_column = bend_twist::times(j.K, columns[i]);
      for (int l = 0; l <= i; ++l, ++at) A_[at] = plus_dot(A_[at], columns[l], K_column);
    }
  }
  OSIER_FN void add_joint(const Quat<T>& q, const JointTerm<T>& j) {
    Quat<T> weighed_rest;
    T c;
    add_joint(q, j, weighed_rest, c);
  }
  /// k_y t.(y' t a) with y' = R' y, up to a constant.
  OSIER_FN void add_direction(const Quat<T>& q, const Direction<T>& d) {
    const Vec3<T> y = rotate(conj(q), d.y);
    const Quat<T> units[4] = {{T(1), T(0), T(0), T(0)}, {T(0), T(1), T(0), T(0)}, {T(0), T(0), T(1), T(0)}, {}};
    for (int i = 0, at = 0; i < 4; ++i) {
      const Quat<T> column = (T(2) * d.k) * (y * units[i] * d.a);
      for (int l = 0; l <= i; ++l) A_[at++] += dot(units[l], column);
      if (i == 3) G_ += column;
    }
  }
  OSIER_FN void add_torque(const Quat<T>& q, const Quat<T>& torque) { G_ = G_ - conj(q) * torque; }

  /// In the rotation vector of t. Where no joint asks for a twist it is as stiff as the rest: torques and unequal shears twist
  /// too.
  OSIER_FN Vec3<T> gradient() const { return stretch_shear::gradient_w(n_, P_) + T(0.5) * imag(G_); }
  OSIER_FN Mat3<T> hessian() const {
    Mat3<T> h = stretch_shear::hessian_ww(k_, P_, n_);
    for (int i = 0, at = 0; i < 3; ++i) {
      for (int l = 0; l <= i; ++l) h.m[i][l] += T(0.25) * A_[at++];
      h.m[i][i] -= T(0.25) * G_.w;
    }
    h.m[2][2] += select((A_[5] == T(0)) & (A_[9] == T(0)), h.m[0][0] + h.m[1][1], T(0));
    h.m[0][1] = h.m[1][0], h.m[0][2] = h.m[2][0], h.m[1][2] = h.m[2][1];
    return h;
  }

  /// E(q t) - E(q), and the size of the terms that it is the sum of.
  OSIER_FN T change(const SmallTurn<T>& turn, T& size) const {
    using std::abs;
    const Vec3<T> u = -imag(turn.t), across = T(2) * cross(u, P_), dP = turn.t.w * across + cross(u, across);
    const Quat<T>& d = turn.delta;
    const T edge = dot(n_, dP), edge2 = T(0.5) * dot(dP, times(k_, dP)), rest = dot(G_, d);
    const T rest2 = T(0.5) * (A_[0] * d.x * d.x + A_[2] * d.y * d.y + A_[5] * d.z * d.z + A_[9] * d.w * d.w) +
                    d.y * (A_[1] * d.x) + d.z * (A_[3] * d.x + A_[4] * d.y) + d.w * (A_[6] * d.x + A_[7] * d.y + A_[8] * d.z);
    size = abs(edge) + edge2 + abs(rest) + abs(rest2);
    return (edge + rest) + (edge2 + rest2);
  }
  /// Not by more than rounding.
  OSIER_FN MaskOf<T> rises(const SmallTurn<T>& turn) const {
    T size;
    const T rise = change(turn, size);
    return !(rise <= T(16 * std::numeric_limits<ScalarOf<T>>::epsilon()) * size);
  }

  /// The closed-form problem of math/secular.hpp for t that lies above E(q t) and touches it at t = 1, so that its minimiser
  /// cannot have a higher energy: every term that is concave once its largest stiffness is taken out is replaced by its tangent.
  ///
  ///   v = -2 P,  eta = kappa rest + (kappa - k) S,  kappa = max k
  ///   b = mu - G,  mu no less than any eigenvalue of A (by its rows)
  ///
  /// With equal stiffnesses it is the paper's problem.
  OSIER_FN OrientationProblem<T> majoriser() const {
    using std::abs;
    OrientationProblem<T> o;
    const T kappa = larger(larger(k_.x, k_.y), k_.z);
    o.v = T(-2) * P_;
    o.eta = kappa * rest_ + times(Vec3<T>{kappa - k_.x, kappa - k_.y, kappa - k_.z}, P_ - rest_);
    T mu(0);
    for (int i = 0; i < 4; ++i) {
      T row = A_[place(i, i)];
      for (int l = 0; l < 4; ++l)
        if (l != i) row += abs(A_[place(i, l)]);
      mu = larger(mu, row);
    }
    o.b = {-G_.x, -G_.y, -G_.z, mu - G_.w};
    complete_problem<T, true>(o);
    return o;
  }

 private:
  OSIER_FN static constexpr int place(int i, int l) { return i < l ? l * (l + 1) / 2 + i : i * (i + 1) / 2 + l; }

  Vec3<T> k_, rest_, P_, n_;
  Quat<T> G_{T(0), T(0), T(0), T(0)};
  T A_[10] = {T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0)};  ///< by rows up to the diagonal
};

/// q t, of two units: what rounding has left of that is mended to first order.
template <class T>
OSIER_FN Quat<T> turned(const Quat<T>& q, const Quat<T>& t) {
  const Quat<T> product = q * t;
  return (T(1.5) - T(0.5) * norm2(product)) * product;
}

/// A Newton step. `refused` where there is none or the energy would rise: safeguarded_frame has other ways.
template <class T>
OSIER_FN Quat<T> newton_frame(const FrameProblem<T>& problem, const Quat<T>& q, MaskOf<T>& refused) {
  Vec3<T> w;
  const MaskOf<T> positive = solve_positive(problem.hessian(), -problem.gradient(), T(1e-4), w);
  const SmallTurn<T> turn = small_turn(within_reach(w));
  refused = (!positive) | problem.rises(turn);
  return turned(q, turn.t);
}

/// One frame at a time: a Newton step, shortened until the energy does not rise, or the minimiser of the majorising problem.
/// `hinge` is the world axis of its hinge and c0 its frame at angle 0, or null.
template <class T>
OSIER_FN Quat<T> safeguarded_frame(const FrameProblem<T>& problem, const Quat<T>& q, const Vec3<T>* hinge, const Quat<T>& c0) {
  constexpr int kShortenings = 3;
  const Mat3<T> hessian = problem.hessian();
  Vec3<T> w{}, axis{};
  bool newton = false;
  if (hinge) {
    axis = rotate(conj(q), *hinge);
    const T curvature = dot(axis, hessian * axis);
    newton = curvature > T(0);
    if (newton) w = (-dot(axis, problem.gradient()) / curvature) * axis;
  } else {
    newton = solve_positive(hessian, -problem.gradient(), T(1e-4), w);
  }
  w = within_reach(w);
  for (int i = 0; newton && i < kShortenings; ++i, w = T(0.25) * w)
    if (const SmallTurn<T> turn = small_turn(w); !problem.rises(turn)) return turned(q, turn.t);
  const OrientationProblem<T> above = problem.majoriser();
  constexpr Quat<T> here{T(0), T(0), T(0), T(1)};
  Quat<T> t = hinge ? updated_hinge(above, here, conj(q) * c0, axis) : orientation_safeguarded(above, here);
  if (t.w < T(0)) t = -t;
  return problem.rises({t, {t.x, t.y, t.z, t.w - T(1)}}) ? q : turned(q, t);
}

}  // namespace osier::stable_cosserat
