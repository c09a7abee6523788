// Bending and twisting of one joint between the frames qa and qb.
//
//   E(qa, qb) = k/2 |conj(qa) qb - phi q0|^2,   phi = the sign that makes it smaller          [SCR Eq. 3-5]
//             = k (1 - |c|),   (c, u) = qb conj(qa q0)  (real part, imaginary part)
//
//   q0  rest rotation conj(qa) qb                      [-]
//   k   = 4 EI / l, l the length between the two segment midpoints   [N m]
//
// Damping of the addendum is the same function with q0 = conj(qa) qb of the previous step and k = alpha k  [VSCR Eq. 13].
// The same with a stiffness for each axis of the joint, k = 4 (EI1, EI2, GJ)/l, on the symmetric Darboux difference
//
//   E(qa, qb) = 1/2 D.(K D),   D = r - phi q0,   r = conj(qa) qb,   K = (k1, k2, k3 on the imaginary part; k0 on the real part)
//
// Im(r) = (l/2) kappa to third order, seen from halfway between the two frames, so that a curved rest shape costs no order
// of accuracy. The real part only matters at large angles; k0 = the smallest of k1, k2, k3 makes E the function above when
// they are equal, keeps the moment of the softest mode (the one that turns most) as it is there, and cannot stiffen it.
// phi = sign(r.(K q0)) makes E the smaller of its two values, and continuous.
//
// wa, wb are rotation vectors in the world: q <- exp(w/2) q.
#pragma once

#include "math/mat3.hpp"
#include "math/number.hpp"
#include "math/quat.hpp"

namespace osier::bend_twist {

/// r = qb conj(qa q0): the rotation from the rest position of b, as seen from a, to b.
template <class T>
OSIER_FN Quat<T> deviation(const Quat<T>& qa, const Quat<T>& qb, const Quat<T>& q0) {
  return qb * conj(qa * q0);
}

/// phi of Eq. 4: +1 or -1.
template <class T>
OSIER_FN T pole(T c) {
  return select(c < T(0), T(-1), T(1));
}

/// k1, k2, k3 and k0.
template <class T>
OSIER_FN Quat<T> stiffness4(const Vec3<T>& k) {
  return {k.x, k.y, k.z, smaller(smaller(k.x, k.y), k.z)};
}

/// k times its Kelvin-Voigt times, axis by axis; the real part goes with the axis whose stiffness it has.
template <class T>
OSIER_FN Quat<T> viscous4(const Vec3<T>& k, const Vec3<T>& tau) {
  const Quat<T> K = stiffness4(k);
  const T tau0 = select(K.w == K.x, tau.x, select(K.w == K.y, tau.y, tau.z));
  return {K.x * tau.x, K.y * tau.y, K.z * tau.z, K.w * tau0};
}

/// Component by component.
template <class T>
OSIER_FN Quat<T> times(const Quat<T>& K, const Quat<T>& r) {
  return {K.x * r.x, K.y * r.y, K.z * r.z, K.w * r.w};
}

/// Bending and twist of a joint of that length [1/m]: (2/l) Im r for the nearer of r and -r.
template <class T>
OSIER_FN Vec3<T> curvature(const Quat<T>& r, T length) {
  return (pole(r.w) * T(2) / length) * imag(r);
}

/// D, from r = conj(qa) qb.
template <class T>
OSIER_FN Quat<T> difference(const Quat<T>& K, const Quat<T>& r, const Quat<T>& q0) {
  return r - pole(dot(times(K, r), q0)) * q0;
}

template <class T>
OSIER_FN T value4(const Quat<T>& K, const Quat<T>& D) {
  return T(0.5) * dot(D, times(K, D));
}

/// Im(K D r')/2: the gradient in wb, in the axes of frame a; that in wa is its negative. `weighted` is K D, or a sum of such.
template <class T>
OSIER_FN Vec3<T> gradient_of_weighted(const Quat<T>& weighted, const Quat<T>& r) {
  return T(0.5) * imag(weighted * conj(r));
}
template <class T>
OSIER_FN Vec3<T> gradient_material(const Quat<T>& K, const Quat<T>& r, const Quat<T>& D) {
  return gradient_of_weighted(times(K, D), r);
}

/// The same from r and the rest rotation: the moment on frame a, in its axes.
template <class T>
OSIER_FN Vec3<T> moment(const Quat<T>& K, const Quat<T>& r, const Quat<T>& q0) {
  return gradient_material(K, r, difference(K, r, q0));
}

/// d2E/dwa2 = d2E/dwb2 = S, in the axes of frame a: S_ij = (e_i r/2).K (e_j r/2) - (K D.r)/4 I.
/// d2E/(dwa dwb) = -S + [g]x/2 with g the gradient in wb.
template <class T>
OSIER_FN Mat3<T> hessian_material(const Quat<T>& K, const Quat<T>& r, const Quat<T>& D) {
  const Quat<T> t[3] = {Vec3<T>{T(0.5), T(0), T(0)} * r, Vec3<T>{T(0), T(0.5), T(0)} * r, Vec3<T>{T(0), T(0), T(0.5)} * r};
  Mat3<T> S = identity3(T(-0.25) * dot(times(K, D), r));
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const T s = dot(t[i], times(K, t[j]));
      S.m[i][j] += s;
      if (j != i) S.m[j][i] += s;
    }
  return S;
}

/// This joint's term of the accumulator b for one of its frames, seen from the other one:
///   b += k phi q_other rest,   rest = q0 for the second frame, conj(q0) for the first     [SCR Algorithm 2, VSCR Eq. 6]
/// The paper's Eq. 12, 16 and 17 print a conjugate on both; the derivation from E and Algorithm 2 do not. The addendum's
/// bar in Eq. 17 and 22 means "previous step", so its first-frame term needs the conjugate on top.
/// `k_rest` is k rest, so that elasticity and damping can be added up beforehand (see joint_share() of stable_cosserat).
template <class T>
OSIER_FN Quat<T> local_b(const Quat<T>& q_other, const Quat<T>& k_rest, const Quat<T>& q) {
  const Quat<T> t = q_other * k_rest;
  return dot(t, q) < T(0) ? -t : t;
}

}  // namespace osier::bend_twist
