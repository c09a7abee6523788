// Orientation update of one segment in closed form  (SCR Algorithm 2, inner loop; VSCR section 8).
//
//   v <- -2 k^ss (x_b - x_a)/l                                            SCR Eq. 15
//   b <- sum k phi q_j q0  (+ alpha k psi q_j Omega_prev)  (+ 2 M q)      SCR Eq. 17, VSCR Eq. 21, 22
//   lambda <- approx | exact | secular                                    SCR Eq. 22 | Algorithm 1 | math/secular.hpp
//   q <- normalise( v b eta + lambda b )                                  SCR Eq. 18, VSCR Eq. 28
//
// Deviations:
//  2. Eq. 12, 16, 17 of SCR and Eq. 17, 22, 23 of VSCR have misprinted conjugates; see energies/bend_twist.hpp.
//  3. A torque M on the segment enters b as 2 M q at the present q; at the fixed point this is the exact equilibrium.
//  4. b = 0 (a cable without joints) leaves the paper's q(lambda) undefined; so does a segment pointing exactly backwards.
//     Both are the hard case of math/secular.hpp: the smallest turn of the present frame that lines d3 up with the edge.
//  5. A hinged segment has one angle left; its local problem is solved on that circle.
#pragma once

#include <limits>

#include "energies/bend_twist.hpp"
#include "energies/torque.hpp"
#include "math/secular.hpp"
#include "solvers/stable_cosserat/lambda.hpp"

namespace osier::stable_cosserat {

/// One joint's share of b: phi q_other target, where target = k rest or, with damping, the sum of kelvin_voigt.hpp, as the second
/// frame of the joint sees it; the first one sees its conjugate. c = q.(q_other target) tells which pole it is.
template <class T>
OSIER_FN Quat<T> joint_share(const Quat<T>& other, const Quat<T>& target, const Quat<T>& q, T& c) {
  const Quat<T> t = other * target;
  c = dot(t, q);
  const T sign = bend_twist::pole(c);
  return sign * t;
}

/// An upper limit of the margin of kelvin_voigt::fold_joint, squared, from a joint's target and `most_alpha` >= alpha alone. With
/// theta the angle between rest and the nearer of the two previous, phi that between target and previous:
///
///   margin |target| <= (1 + alpha) k sin theta,   k sin theta = |target| sin phi,   |target| >= k sqrt(1 + alpha^2)
///
/// so that margin <= sqrt(2) (1 + alpha) sin phi. Where the limit says that poles may differ and they do not, elasticity and
/// damping one by one give the same result.
template <class T>
OSIER_FN T pole_margin2(const Quat<T>& target, const Quat<T>& previous, T most_alpha) {
  const T size2 = norm2(target), sine2 = norm2(imag(conj(target) * previous));
  const T margin = (T(1) + most_alpha) * root(sine2 / select(size2 > T(0), size2, T(1))) + T(1e-6);
  return T(2) * margin * margin;
}

/// Couples enter b as 2 M q (deviation 3).
template <class T>
OSIER_FN Quat<T> torque_share(const Vec3<T>& torque, const Vec3<T>& torque_material, const Quat<T>& q) {
  return T(2) * (torque::total(torque, torque_material, q) * q);
}

/// q eta conj(q): where the material axis points.
template <class T, bool kAxial>
OSIER_FN Vec3<T> axis_image_of(const Quat<T>& q, const Vec3<T>& eta) {
  return kAxial ? rotate(q, eta) : director3(q);
}

/// |v||eta|
template <class T, bool kAxial>
OSIER_FN T problem_scale(const OrientationProblem<T>& o) {
  return root(kAxial ? norm2(o.v) * norm2(o.eta) : norm2(o.v));
}

/// Completes v b eta and |v||eta| of a problem.
template <class T, bool kAxial>
OSIER_FN void complete_problem(OrientationProblem<T>& o) {
  o.Sb = kAxial ? o.v * o.b * o.eta : times_e3(o.v * o.b);
  o.s = problem_scale<T, kAxial>(o);
}

/// Eq. 25 of SCR, one application per sweep; gamma remembers lambda between the bounds s and s + |b|.
template <class T>
OSIER_FN T iterate_lambda(const OrientationProblem<T>& o, T norm_b, T& gamma) {
  const T lambda0 = o.s + smaller(larger(gamma, T(1e-3)), T(1)) * norm_b;
  // = |v b eta + lambda b|, without overflow
  const T lambda = root(lambda0 * root(norm2(orientation_direction(o, lambda0))) + o.s * o.s);
  gamma = (lambda - o.s) * inverse(norm_b);
  return lambda;
}

/// The new q of one local problem, for ordinary states. `degenerate`: lanes that need solve_degenerate() instead.
template <class T, Lambda kLambda>
OSIER_FN Quat<T> solve_orientation(const OrientationProblem<T>& o, T& gamma, MaskOf<T>& degenerate) {
  if constexpr (kLambda == Lambda::secular) {
    return orientation_secular(o, degenerate);
  } else {
    const T tiny(std::numeric_limits<ScalarOf<T>>::min());
    const T norm2_b = norm2(o.b), norm_b = root(norm2_b);
    const T lambda = kLambda == Lambda::approx ? o.s + norm_b : iterate_lambda(o, norm_b, gamma);
    const Quat<T> n = orientation_direction(o, lambda);
    const T size2 = norm2(n);
    degenerate = !((norm2_b > tiny) & (size2 > tiny));
    return inverse_sqrt(size2) * n;
  }
}

/// The update for the remaining states: b = 0 and the hard case (deviation 4), and states in which the secular root needs a
/// safeguard.
template <class T, Lambda kLambda>
OSIER_FN Quat<T> solve_degenerate(const OrientationProblem<T>& o, const Quat<T>& q) {
  if constexpr (kLambda == Lambda::secular) return orientation_safeguarded(o, q);
  return o.s > T(0) ? orientation_hard_case(o, q) : q;
}

/// The update of a hinged frame: the local problem on the circle q = cos(t) c0 + sin(t) c1 of a hinge: Newton in t, with the
/// bound on f'' as a fallback that always descends.
template <class T>
OSIER_FN Quat<T> updated_hinge(const OrientationProblem<T>& o, const Quat<T>& q, const Quat<T>& c0, const Vec3<T>& axis) {
  using std::abs, std::atan2, std::cos, std::sin;
  const Quat<T> c1 = axis * c0;
  const Quat<T> S0 = o.v * c0 * o.eta, S1 = o.v * c1 * o.eta;
  const T s00 = dot(c0, S0), s01 = dot(c0, S1), s11 = dot(c1, S1), b0 = dot(o.b, c0), b1 = dot(o.b, c1);
  const T bound = abs(s00 - s11) + T(2) * abs(s01) + abs(b0) + abs(b1);
  T t = atan2(dot(q, c1), dot(q, c0));
  if (!(bound > T(0))) return q;
  const auto f = [&](T a) {
    const T c = cos(a), s = sin(a);
    return T(-0.5) * (s00 * c * c + T(2) * s01 * c * s + s11 * s * s) - b0 * c - b1 * s;
  };
  for (int i = 0; i < 8; ++i) {
    const T c = cos(t), s = sin(t);
    const T slope = (s00 - s11) * c * s - s01 * (c * c - s * s) + b0 * s - b1 * c;
    const T curve = (s00 - s11) * (c * c - s * s) + T(4) * s01 * c * s + b0 * c + b1 * s;
    T next = t - slope / (curve > T(0.1) * bound ? curve : bound);
    if (f(next) > f(t)) next = t - slope / bound;
    const bool done = abs(next - t) <= T(4) * std::numeric_limits<T>::epsilon();
    t = next;
    if (done) break;
  }
  return normalized(cos(t) * c0 + sin(t) * c1);
}

}  // namespace osier::stable_cosserat
