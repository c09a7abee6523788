// A spring and a damper between two places, one of which may be a place in space.
//
//   d    from one end to the other                         [m]
//   d_t  the same at the start of the step, as seen from the end that moves with the anchor
//   k    stiffness [N/m],  c  damping [N s/m],  L  rest length [m],  n  a unit direction,  h  the step [s]
//
//   with a length:  E = k/2 (|d| - L)^2   D = c/(2 h) (|d| - |d_t|)^2     along the line between the ends
//   without, L = 0: E = k/2 |d|^2         D = c/(2 h) |d - d_t|^2         in all directions
//   along n:        E = k/2 (n.d)^2       D = c/(2 h) (n.(d - d_t))^2
//
// D is the dissipation of one implicit Euler step: its gradient is c times the rate of change. Statics leave it out (c/h = 0).
#pragma once

#include "math/mat3.hpp"
#include "math/vec3.hpp"

namespace osier::vertex_spring {

enum class Law : unsigned char { length, all_directions, one_direction };

template <class T>
struct Terms {
  Law law = Law::all_directions;
  T k{};          ///< stiffness
  T damping{};    ///< c/h
  T rest{};       ///< L
  Vec3<T> axis;   ///< n
  Vec3<T> start;  ///< d_t
};

template <class T>
OSIER_FN T elastic_value(const Terms<T>& s, const Vec3<T>& d) {
  const T off = s.law == Law::length ? norm(d) - s.rest : s.law == Law::one_direction ? dot(s.axis, d) : norm(d);
  return T(0.5) * s.k * off * off;
}

template <class T>
OSIER_FN T viscous_value(const Terms<T>& s, const Vec3<T>& d) {
  const T off = s.law == Law::length          ? norm(d) - norm(s.start)
                : s.law == Law::one_direction ? dot(s.axis, d - s.start)
                                              : norm(d - s.start);
  return T(0.5) * s.damping * off * off;
}

/// The tension, positive when it pulls the ends together: dE/d|d| of both terms.
template <class T>
OSIER_FN T tension(const Terms<T>& s, const Vec3<T>& d) {
  const T length = norm(d);
  return s.k * (length - s.rest) + s.damping * (length - norm(s.start));
}

/// d(E + D)/dd: the force that pulls the first end towards the second.
template <class T>
OSIER_FN Vec3<T> gradient(const Terms<T>& s, const Vec3<T>& d) {
  if (s.law == Law::length) return tension(s, d) * normalized(d);
  if (s.law == Law::one_direction) return (s.k * dot(s.axis, d) + s.damping * dot(s.axis, d - s.start)) * s.axis;
  return s.k * d + s.damping * (d - s.start);
}

/// d2(E + D)/dd2. Across a spring with a length it is the tension over that length, negative where the spring is compressed.
template <class T>
OSIER_FN Mat3<T> hessian(const Terms<T>& s, const Vec3<T>& d) {
  const T stiff = s.k + s.damping;
  if (s.law == Law::one_direction) return stiff * outer(s.axis, s.axis);
  const T length = norm(d);
  if (s.law == Law::all_directions || !(length > T(0))) return identity3(stiff);
  const Vec3<T> n = normalized(d);
  const T across = tension(s, d) / length;
  return identity3(across) + (stiff - across) * outer(n, n);
}

/// A quadratic with the gradient at hand and this curvature is nowhere below the energy.
template <class T>
OSIER_FN Mat3<T> upper_hessian(const Terms<T>& s) {
  const T stiff = s.k + s.damping;
  return s.law == Law::one_direction ? stiff * outer(s.axis, s.axis) : identity3(stiff);
}

}  // namespace osier::vertex_spring
