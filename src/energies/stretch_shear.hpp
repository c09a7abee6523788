// Stretch and shear of one segment, and any energy of the same shape.
//
//   E(p, d) = k/2 |p - d|^2                                             [SCR Eq. 1, 5]
//
//   p  = (x_b - x_a)/l            edge over rest length                 [-]
//   d  = q a conj(q)              image of the material axis a          [-]   a = e3 for elasticity
//   k  = EA l                     stiffness k^ss                        [N m]
//
// The addendum's strain-rate damping is the same function with a = e3 + Gamma_prev and k = alpha k^ss [VSCR Eq. 12], and
// because both are quadratic in p they add up to one with the generalised axis eta = e3 + alpha (e3 + Gamma_prev):
//
//   k/2 |p - q e3 q'|^2 + alpha k/2 |p - q r q'|^2 :  gradient in p = k ((1 + alpha) p - q eta q')     [VSCR Eq. 20]
//
// The same with a stiffness for each material axis, k = (GA1, GA2, EA) l:
//
//   E(p, q) = 1/2 Gamma.(k Gamma),   Gamma = R' p - a,   a = e3 for elasticity, e3 + Gamma_prev for damping
//
// Equal stiffnesses give back the function above, because R does not change lengths.
//
// w is a rotation vector in the world, q <- exp(w/2) q, so that d changes by w x d. |d| does not depend on q.
#pragma once

#include "math/mat3.hpp"
#include "math/quat.hpp"

namespace osier::stretch_shear {

template <class T>
OSIER_FN T value(T k, const Vec3<T>& p, const Vec3<T>& d) {
  return T(0.5) * k * norm2(p - d);
}

/// dE/dp with `stiffening` = 1 + alpha and d the image of eta; undamped: 1 and d3. The force on x_a is +this/l [SCR Eq. 28].
template <class T>
OSIER_FN Vec3<T> gradient_p(T k, T stiffening, const Vec3<T>& p, const Vec3<T>& d) {
  return k * (stiffening * p - d);
}

/// dE/dw = k p x d: minus the couple that the edge exerts on the frame.
template <class T>
OSIER_FN Vec3<T> gradient_w(T k, const Vec3<T>& p, const Vec3<T>& d) {
  return k * cross(p, d);
}

/// d2E/dw2 = k [(p.d) I - (p d^T + d p^T)/2]; indefinite under strong compression.
template <class T>
OSIER_FN Mat3<T> hessian_ww(T k, const Vec3<T>& p, const Vec3<T>& d) {
  return k * (identity3(dot(p, d)) + T(-0.5) * (outer(p, d) + outer(d, p)));
}

/// d2E/(dp dw) = k [d]x
template <class T>
OSIER_FN Mat3<T> hessian_pw(T k, const Vec3<T>& d) {
  return k * skew(d);
}

/// The vector v of the local orientation problem: E = -1/2 q.(v q eta) + const with v = -2 k p  [SCR Eq. 15]
template <class T>
OSIER_FN Vec3<T> local_v(T k, const Vec3<T>& p) {
  return (T(-2) * k) * p;
}

/// Gamma for any rest vector a. The difference is formed first, in the world, so that a rod at rest has none.
template <class T>
OSIER_FN Vec3<T> strain(const Vec3<T>& p, const Quat<T>& q, const Vec3<T>& a) {
  const Vec3<T> d3 = director3(q);
  return rotate(conj(q), p - (a.x == T(0) && a.y == T(0) ? a.z * d3 : rotate(q, a)));
}

/// Strain in the material frame, Gamma = conj(q) p q - e3  [VSCR Eq. 8]
template <class T>
OSIER_FN Vec3<T> local_strain(const Vec3<T>& p, const Quat<T>& q) {
  return strain(p, q, Vec3<T>{T(0), T(0), T(1)});
}

/// The law with three stiffnesses; `strain` is Gamma above.
template <class T>
OSIER_FN T value(const Vec3<T>& k, const Vec3<T>& strain) {
  return T(0.5) * dot(strain, times(k, strain));
}

/// dE/dp = n, the section force in world axes; dE/dw = n x p.
template <class T>
OSIER_FN Vec3<T> section_force(const Vec3<T>& k, const Vec3<T>& strain, const Quat<T>& q) {
  return rotate(q, times(k, strain));
}
template <class T>
OSIER_FN Vec3<T> gradient_w(const Vec3<T>& n, const Vec3<T>& p) {
  return cross(n, p);
}

/// d2E/(dp dw) = C [p]x - [n]x with C = R k R' = d2E/dp2
template <class T>
OSIER_FN Mat3<T> hessian_pw(const Mat3<T>& C, const Vec3<T>& p, const Vec3<T>& n) {
  return C * skew(p) + skew(-n);
}

/// Of -dE/dw = p x n, what there is beside that of a spring whose axes stay, axis x n: (p - axis) x n, in the frame's own axes,
/// by the force n and the compliances c. None for equal ones.
template <class T>
OSIER_FN Vec3<T> couple_of_axes(const Vec3<T>& c, const Vec3<T>& n) {
  return {(c.y - c.z) * n.y * n.z, (c.z - c.x) * n.z * n.x, (c.x - c.y) * n.x * n.y};
}

/// d2E/dw2 = -[p]x C [p]x + (n p^T + p n^T)/2 - (n.p) I
template <class T>
OSIER_FN Mat3<T> hessian_ww(const Mat3<T>& C, const Vec3<T>& p, const Vec3<T>& n) {
  const Mat3<T> P = skew(p);
  return T(-1) * (P * C * P) + T(0.5) * (outer(n, p) + outer(p, n)) + identity3(-dot(n, p));
}

/// The same in the frame's own axes, where C is k itself.
template <class T>
OSIER_FN Mat3<T> hessian_ww(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& n) {
  const T np = dot(n, p), xx = p.x * p.x, yy = p.y * p.y, zz = p.z * p.z;
  const T xy = T(0.5) * (n.x * p.y + n.y * p.x) - k.z * p.x * p.y, xz = T(0.5) * (n.x * p.z + n.z * p.x) - k.y * p.x * p.z,
          yz = T(0.5) * (n.y * p.z + n.z * p.y) - k.x * p.y * p.z;
  return {{{k.y * zz + k.z * yy + n.x * p.x - np, xy, xz},
           {xy, k.x * zz + k.z * xx + n.y * p.y - np, yz},
           {xz, yz, k.x * yy + k.y * xx + n.z * p.z - np}}};
}

/// eta = (1 + alpha) e3 + alpha Gamma_prev  [VSCR Eq. 20]
template <class T>
OSIER_FN Vec3<T> generalised_axis(T alpha, const Vec3<T>& strain_prev) {
  return {alpha * strain_prev.x, alpha * strain_prev.y, T(1) + alpha + alpha * strain_prev.z};
}

/// Elasticity and damping as one spring: both are quadratic in p, so that they add up, but for a constant, to
///   k/2 |Gamma - ...|^2  with  (1 + alpha) k  and the rest vector  e3 + alpha/(1 + alpha) Gamma_prev,  axis by axis.
template <class T>
struct FoldedSpring {
  Vec3<T> k, rest;
};
template <class T>
OSIER_FN FoldedSpring<T> folded(const Vec3<T>& k, const Vec3<T>& alpha, const Vec3<T>& strain_prev) {
  const Vec3<T> stiffening{T(1) + alpha.x, T(1) + alpha.y, T(1) + alpha.z};
  return {times(k, stiffening),
          {alpha.x / stiffening.x * strain_prev.x, alpha.y / stiffening.y * strain_prev.y,
           T(1) + alpha.z / stiffening.z * strain_prev.z}};
}

}  // namespace osier::stretch_shear
