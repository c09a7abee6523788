// Kelvin-Voigt damping of a joint folded into its elasticity. Both are quadratic in r = conj(q_other) q and have the same pole
// phi except near the equator, so that they add up to one spring:
//
//   1/2 (r - phi q0).K (r - phi q0) + 1/2 (r - psi p).Kv (r - psi p) = 1/2 (r - phi t).(K + Kv)(r - phi t) + constant,
//
//   (K + Kv) t = n = a + b,   a = K q0,   b = Kv p or its negative, whichever is nearer to a
//
//   p    conj(q_other) q at the start of the step                        [-]
//   K    elastic stiffness of the joint, see bend_twist.hpp              [N m]
//   Kv   viscous stiffness: K times the Kelvin-Voigt time over h         [N m]
//
// as long as r.a and r.b have one sign. With w the part of a (and of -b) across n they can only differ where
// |r.n| <= |w| |n|^2/min(a.n, b.n). The margin is that bound over |n|.
#pragma once

#include "energies/bend_twist.hpp"

namespace osier::kelvin_voigt {

/// Stiffness times a rotation, for one stiffness or for one per component.
template <class T>
OSIER_FN Quat<T> weighted(T k, const Quat<T>& r) {
  return k * r;
}
template <class T>
OSIER_FN Quat<T> weighted(const Quat<T>& K, const Quat<T>& r) {
  return bend_twist::times(K, r);
}

/// n from a, Kv (a number or one per component) and p. `margin2` is the square of the margin, a little more than rounding can
/// hide, and negative without damping: elasticity and damping must be taken one by one where (r.n)^2 < margin2 |n|^2.
template <class T, class Stiffness>
OSIER_FN Quat<T> fold_joint(const Quat<T>& elastic, const Stiffness& viscous, const Quat<T>& previous, T& margin2) {
  const Quat<T> damping = weighted(viscous, previous);
  const T sign = bend_twist::pole(dot(elastic, damping));
  const Quat<T> n = elastic + weighted(sign * viscous, previous);
  const T size2 = norm2(n), inverse2 = select(size2 > T(0), T(1) / size2, T(0)), along = dot(elastic, n);
  const T across = root(norm2(elastic - (along * inverse2) * n)), least = smaller(along, sign * dot(damping, n));
  const T margin = across * root(size2) / least + T(1e-6);
  margin2 = select(norm2(damping) > T(0), select(least > T(0), margin * margin, T(2)), T(-1));
  return n;
}

/// The folded joint as a spring: its stiffness K + Kv and its rest rotation t.
template <class T>
OSIER_FN void fold_joint(const Quat<T>& K, const Quat<T>& rest, const Quat<T>& viscous, const Quat<T>& previous, Quat<T>& sum,
                         Quat<T>& target, T& margin2) {
  const Quat<T> n = fold_joint(bend_twist::times(K, rest), viscous, previous, margin2);
  sum = K + viscous;
  const auto over = [](T x, T k) { return select(k > T(0), x / k, T(0)); };
  target = {over(n.x, sum.x), over(n.y, sum.y), over(n.z, sum.z), over(n.w, sum.w)};
}

}  // namespace osier::kelvin_voigt
