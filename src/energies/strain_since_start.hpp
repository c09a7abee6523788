// Strains of a segment and of a joint measured from the start of the time step, so that single precision keeps its digits for
// what happens within the step. A rod's strain is a small difference of large numbers; the part of it that was there at the start
// of the step (marked t) is formed once, in double, and every iteration adds only what the step has changed:
//
//   dq      turn of a frame within the step, dq = q conj(q_t): a small rotation, whose imaginary part has full relative precision
//   u       displacement of a vertex within the step, x = x_t + u
//
//   segment              l (p - axis) = l (p_t - axis_t) + (u_b - u_a) - l (dq axis_t dq' - axis_t)
//   joint, isotropic     q_b conj(q_a q0) = dq_b (q_b conj(q_a q0))_t conj(dq_a)
//   joint, anisotropic   D = D_t + c,  r = r_t + c,  c = conj(q_a) (Delta - 1) q_a r_t at t,  Delta = conj(dq_a) dq_b
//
// with D_t = r_t - phi q0 and r_t = conj(q_a) q_b, and Delta_w - 1 formed as -|Im Delta|^2/(1 + Delta_w). c is also the
// difference that Kelvin-Voigt damping works on. The sign phi is that of the start of the step.
//
//   p, axis, l           edge over rest length, material axis, rest length            (energies/stretch_shear.hpp)
//   q0, r, D, K          rest rotation, conj(q_a) q_b, Darboux difference, stiffness   (energies/bend_twist.hpp)
//   alpha                Kelvin-Voigt time over the length of the step
//
// Number types: T is float, double or a pack of lanes; what is formed at the start of the step is double, or a pack of doubles.
#pragma once

#include "energies/bend_twist.hpp"
#include "math/quat.hpp"

namespace osier::strain_since_start {

/// dq q, a unit again: both factors are units to within rounding, so one step of Newton's method for 1/sqrt is exact.
template <class D>
OSIER_FN Quat<D> turned(const Quat<D>& dq, const Quat<D>& q) {
  const Quat<D> product = dq * q;
  return (D(1.5) - D(0.5) * norm2(product)) * product;
}

/// dq a dq' - a for a small turn, without cancellation.
template <class T>
OSIER_FN Vec3<T> change_by(const Quat<T>& turn, const Vec3<T>& a) {
  const Vec3<T> v = imag(turn);
  const Vec3<T> t = T(2) * cross(v, a);
  return turn.w * t + cross(v, t);
}

/// A segment at the start of the step: `arm` = l axis_t and `stretch` = l (p_t - axis_t). With damping the axis at rest is moved
/// towards where the edge was, axis_t = d + share (p_t - d), share = alpha/(1 + alpha): then elasticity and damping together are
/// one spring (energies/stretch_shear.hpp, folded).
template <class D>
struct SegmentStart {
  Vec3<D> arm, stretch;
};
/// share (p_t - d), with one share in the axes of the world, or one for each axis of the segment's frame q.
template <class D>
OSIER_FN Vec3<D> viscous_offset(const Quat<D>&, const Vec3<D>& apart, D share) {
  return share * apart;
}
template <class D>
OSIER_FN Vec3<D> viscous_offset(const Quat<D>& q, const Vec3<D>& apart, const Vec3<D>& share) {
  return rotate(q, times(share, rotate(conj(q), apart)));
}
template <class D, class Share>
OSIER_FN SegmentStart<D> segment_start(const Quat<D>& q, const Vec3<D>& edge, D length, const Share& share) {
  const Vec3<D> along = length * director3(q);
  const Vec3<D> apart = edge - along;
  const Vec3<D> offset = viscous_offset(q, apart, share);
  return {along + offset, apart - offset};
}

/// l (p - axis): `arm_change` is l (dq axis_t dq' - axis_t), `u_far` and `u_near` are the displacements of the two ends.
template <class T>
OSIER_FN Vec3<T> segment_strain(const Vec3<T>& stretch0, const Vec3<T>& arm_change, const Vec3<T>& u_far, const Vec3<T>& u_near) {
  return stretch0 + (u_far - u_near) - arm_change;
}

/// A joint with one stiffness k.
template <class T>
struct IsotropicBend {
  Vec3<T> couple;  ///< gradient over k/2, elastic and viscous: sum of phi Im(.), world axes
  T energy;        ///< energy over k
};
/// `bend0` = (q_b conj(q_a q0))_t; `viscous` = alpha; `turn` and `turn_near` are dq_b and dq_a. E = k (1 - |c|) for the real part
/// c, formed as k |Im|^2/(1 + |c|).
template <bool kDamped, class T>
OSIER_FN IsotropicBend<T> isotropic_bend(const Quat<T>& bend0, const T& viscous, const Quat<T>& turn, const Quat<T>& turn_near) {
  const Quat<T> near_back = conj(turn_near), bend = turn * bend0 * near_back;
  const T phi = bend_twist::pole(bend.w);
  IsotropicBend<T> out{phi * imag(bend), norm2(imag(bend)) * inverse(T(1) + phi * bend.w)};
  if constexpr (kDamped) {
    const Quat<T> since = turn * near_back;
    const T psi = bend_twist::pole(since.w);
    out.couple += (viscous * psi) * imag(since);
    out.energy += viscous * norm2(imag(since)) * inverse(T(1) + psi * since.w);
  }
  return out;
}

/// A joint with a stiffness for each axis.
template <class T>
struct AnisotropicBend {
  Quat<T> r;         ///< conj(q_a) q_b now
  Quat<T> gradient;  ///< dE/dr: K D, and the viscous part
  T energy;
  T pole_margin;  ///< negative where phi should change its sign, which must not happen within a step
};
/// `difference0` = D_t; the frame before is q_a: `near_start` at t and turned by `turn_near` since; `frame0` is q_b at t.
template <bool kDamped, class T>
OSIER_FN AnisotropicBend<T> anisotropic_bend(const Quat<T>& K, const Quat<T>& K_viscous, const Quat<T>& difference0,
                                             const Quat<T>& turn, const Quat<T>& turn_near, const Quat<T>& near_start,
                                             const Quat<T>& frame0) {
  const Quat<T> r0 = conj(near_start) * frame0;
  const Quat<T> apart = conj(turn_near) * turn;
  const Vec3<T> v = rotate(conj(near_start), imag(apart));
  const Quat<T> change = Quat<T>{v.x, v.y, v.z, -norm2(v) * inverse(T(1) + apart.w)} * r0;
  const Quat<T> r = r0 + change, apart_from_rest = difference0 + change;
  Quat<T> gradient = bend_twist::times(K, apart_from_rest);
  T energy = T(0.5) * dot(apart_from_rest, gradient);
  T pole_margin = dot(r, bend_twist::times(K, r)) - dot(r, gradient);  // r.(K q0) with the phi of the start
  if constexpr (kDamped) {
    const Quat<T> viscous = bend_twist::times(K_viscous, change);
    energy += T(0.5) * dot(change, viscous);
    gradient += viscous;
    pole_margin = smaller(pole_margin, apart.w);
  }
  return {r, gradient, energy, pole_margin};
}

/// Half of the rotation r: of the two quaternions of a rotation the one whose root is half of it is taken.
template <class T>
OSIER_FN Quat<T> half_turn_of(const Quat<T>& r) {
  const T nearer = bend_twist::pole(r.w), c = nearer * r.w;
  const T scale = inverse_sqrt(T(2) + T(2) * c), side = nearer * scale;
  return {side * r.x, side * r.y, side * r.z, scale * (T(1) + c)};
}

}  // namespace osier::strain_since_start
