// The local orientation problem of one segment, solved on the unit sphere.
//
//   minimise  -1/2 q.(S q) - b.q   over |q| = 1,   S q = v q eta                        [SCR Eq. 14, VSCR Eq. 24]
//
// S is symmetric with S^2 = s^2 I, s = |v||eta|, and has no trace: its eigenvalues are +s and -s, twice each. Splitting
// b = b+ + b- along the two eigenspaces, the global minimiser is
//
//   q = b+/mu + b-/(mu + 2 s),   mu = lambda - s > 0 the root of  |b+|^2/mu^2 + |b-|^2/(mu + 2 s)^2 = 1.
//
// 1/|q(mu)| - 1 is concave and increasing, so Newton from a lower bound is monotone and needs no safeguard. When b+
// vanishes and 2 s > |b| there is no such root: the minimiser is then b-/(2 s) plus any vector of the + space that makes
// it a unit (the "hard case": a segment that points exactly backwards, or a cable without joints, b = 0). The + part of
// the present q decides which.
#pragma once

#include <limits>

#include "math/quat.hpp"

namespace osier {

template <class T>
struct OrientationProblem {
  Vec3<T> v, eta;
  Quat<T> b;
  Quat<T> Sb;  ///< v b eta
  T s;         ///< |v||eta|
};

/// q(lambda) = v b eta + lambda b, normalised  [SCR Eq. 18, VSCR Eq. 28; the denominator only scales]
template <class T>
OSIER_FN Quat<T> orientation_at(const OrientationProblem<T>& o, T lambda) {
  return normalized(o.Sb + lambda * o.b);
}

/// Hard case: no root above s. The + part of the current q completes b-/(2 s) to a unit.
template <class T>
OSIER_FN Quat<T> orientation_hard_case(const OrientationProblem<T>& o, const Quat<T>& q) {
  using std::sqrt;
  const T inv_s = T(1) / o.s;
  const Quat<T> b_minus = T(0.5) * (o.b - inv_s * o.Sb);
  Quat<T> t = q + inv_s * (o.v * q * o.eta);
  // A q inside the - space has no + part. Turning it about two axes of its own frame spans the rest of the sphere, and
  // the - space is only two-dimensional, so one of the two has.
  if (norm2(t) < T(1e-6)) {
    const Quat<T> i = q * Vec3<T>{1, 0, 0};
    t = i + inv_s * (o.v * i * o.eta);
  }
  if (norm2(t) < T(1e-6)) {
    const Quat<T> j = q * Vec3<T>{0, 1, 0};
    t = j + inv_s * (o.v * j * o.eta);
  }
  t = normalized(t);
  const T rest = T(1) - norm2(b_minus) * inv_s * inv_s * T(0.25);
  return normalized((T(0.5) * inv_s) * b_minus + sqrt(rest > T(0) ? rest : T(0)) * t);
}

/// The exact minimiser by Newton on the secular equation, without a branch, so that a loop over many problems becomes SIMD
/// code. From the lower bound the error falls from at worst 5e-3 to 1e-5, 1e-10, 1e-20 rad: three steps are below the rounding
/// of float, four below that of double. `hard` is set when the hard case applies and the result is not to be used.
/// kStopEarly: one problem at a time is bound by the latency of roots and divisions, so stop once a step is so short that the
/// quadratic convergence has reached rounding; mostly that is the first one.
template <bool kStopEarly = false, class T>
OSIER_FN Quat<T> orientation_secular(const OrientationProblem<T>& o, bool& hard) {
  using std::sqrt;
  constexpr int kNewtonSteps = sizeof(T) == 4 ? 3 : 4;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  constexpr T noise = T(64) * epsilon * epsilon;
  [[maybe_unused]] constexpr T short_step = sizeof(T) == 4 ? T(1e-4) : T(1e-8);
  const T two_s = T(2) * o.s;
  const T half_inverse = o.s > T(0) ? T(1) / two_s : T(0);
  const Quat<T> half_b = T(0.5) * o.b;
  const Quat<T> half_Sb = half_inverse * o.Sb;
  const Quat<T> b_plus = half_b + half_Sb;
  const Quat<T> b_minus = half_b - half_Sb;
  const T P = norm2(b_plus), M = norm2(b_minus);
  hard = (P <= noise * (P + M)) & (M < two_s * two_s);
  // Lower bounds of mu: |b| - 2 s and |b+|.
  const T low = sqrt(P + M) - two_s, root = sqrt(P);
  T mu = low > root ? low : root;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const T inverse = T(1) / (mu * (mu + two_s));
    const T a = inverse * (mu + two_s), c = inverse * mu;
    const T pa = P * a * a, mc = M * c * c;
    const T n2 = pa + mc;
    const T step = n2 * (sqrt(n2) - T(1)) / (pa * a + mc * c);
    mu += step;
    if constexpr (kStopEarly)
      if (!(step > short_step * mu)) break;
  }
  const Quat<T> q = (mu + two_s) * b_plus + mu * b_minus;
  return (T(1) / norm(q)) * q;
}

}  // namespace osier
