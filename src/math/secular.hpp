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

#include "math/number.hpp"
#include "math/quat.hpp"

namespace osier {

template <class T>
struct OrientationProblem {
  Vec3<T> v, eta;
  Quat<T> b;
  Quat<T> Sb;  ///< v b eta
  T s;         ///< |v||eta|
};

/// Direction of q(lambda), b + v b eta/lambda  [SCR Eq. 18, VSCR Eq. 28; the denominator only scales]. Divided by lambda: the
/// product as printed would overflow float for a concrete column in SI units.
template <class T>
OSIER_FN Quat<T> orientation_direction(const OrientationProblem<T>& o, T lambda) {
  return o.b + inverse(lambda) * o.Sb;
}

/// Hard case: no root above s. The + part of the current q completes b-/(2 s) to a unit.
template <class T>
OSIER_FN Quat<T> orientation_hard_case(const OrientationProblem<T>& o, const Quat<T>& q) {
  using std::sqrt;
  const T inv_s = T(1) / o.s;
  const auto plus = [&](const Quat<T>& p) { return p + inv_s * (o.v * p * o.eta); };
  const Quat<T> b_minus = T(0.5) * (o.b - inv_s * o.Sb);
  Quat<T> t = plus(q);
  // A q inside the - space has no + part. Turning it about two axes of its own frame spans the rest of the sphere, and
  // the - space is only two-dimensional, so one of the two has.
  if (norm2(t) < T(1e-6)) t = plus(q * Vec3<T>{1, 0, 0});
  if (norm2(t) < T(1e-6)) t = plus(q * Vec3<T>{0, 1, 0});
  t = normalized(plus(normalized(t)));  // a short + part is mostly rounding; projected twice it is not
  const T rest = T(1) - norm2(b_minus) * inv_s * inv_s * T(0.25);
  return normalized((T(0.5) * inv_s) * b_minus + sqrt(rest > T(0) ? rest : T(0)) * t);
}

/// The hard case of a cable, b = 0: the smallest turn of q that lines its axis up with the edge. `far` when q is so much
/// across that orientation_hard_case must decide.
template <class T>
OSIER_FN Quat<T> orientation_aligned(const OrientationProblem<T>& o, const Quat<T>& q, MaskOf<T>& far) {
  const Quat<T> t = o.s * q + o.v * q * o.eta;
  const T size2 = norm2(t);
  far = !(size2 > T(0.1) * o.s * o.s);
  return inverse_sqrt(size2) * t;
}

/// One Newton step on 1/|q(mu)| - 1.
template <class T>
OSIER_FN T secular_step(T P, T M, T two_s, T mu) {
  const T both = inverse(mu * (mu + two_s));
  const T a = both * (mu + two_s), c = both * mu;
  const T pa = P * a * a, mc = M * c * c;
  const T n2 = pa + mc;
  return n2 * (root(n2) - T(1)) * inverse(pa * a + mc * c);
}

/// Convergence is quadratic: after a step this short, relative to mu, the error is below rounding.
template <class T>
inline constexpr ScalarOf<T> kShortStep = sizeof(ScalarOf<T>) == 4 ? ScalarOf<T>(1e-4) : ScalarOf<T>(1e-8);

/// How small |b-|^2/(mu + 2 s)^2 must be for orientation_secular to do without Newton.
template <class T>
inline constexpr ScalarOf<T> kSmallShare = sizeof(ScalarOf<T>) == 4 ? ScalarOf<T>(1e-3) : ScalarOf<T>(4e-7);

/// The minimiser in ordinary states, from the lower bound mu = max(|b| - 2 s, |b+|). Written as mu^2 = |b+|^2 + r^2 |b-|^2 with
/// r = mu/(mu + 2 s), the secular equation maps a lower bound to a better one. Where b- hardly counts, as in every stiff rod
/// near its shape, one such step does: with e = r^2 |b-|^2/mu^2 it leaves an error of e^2 in mu and of e^2.5 in q, below
/// rounding. Elsewhere a few Newton steps follow. `needs_safeguard` asks for orientation_safeguarded instead: Newton is not
/// through (it creeps near |b-| = 2 s), or mu is so small against |b| that rounding of b- inside b+ would tilt the frame.
template <class T>
OSIER_FN Quat<T> orientation_secular(const OrientationProblem<T>& o, MaskOf<T>& needs_safeguard) {
  constexpr int kNewtonSteps = sizeof(ScalarOf<T>) == 4 ? 3 : 4;
  const T two_s = T(2) * o.s;
  const T half_inverse = select(o.s > T(0), inverse(two_s), T(0));
  const Quat<T> half_b = T(0.5) * o.b;
  const Quat<T> half_Sb = half_inverse * o.Sb;
  const Quat<T> b_plus = half_b + half_Sb;
  const Quat<T> b_minus = half_b - half_Sb;
  const T P = norm2(b_plus), M = norm2(b_minus);
  const T size = root(P + M);
  T mu = larger(size - two_s, root(P));
  T r = mu * inverse(mu + two_s);
  const T share = M * r * r, mu2 = mu * mu;
  needs_safeguard = !(mu > T(1e-3) * size);
  if (any(share > T(kSmallShare<T>) * mu2)) [[unlikely]] {
    T step = T(0);
    for (int i = 0; i < kNewtonSteps; ++i) {
      step = secular_step(P, M, two_s, mu);
      mu += step;
      if (!any(step > T(kShortStep<T>) * mu)) break;
    }
    needs_safeguard = !((step <= T(kShortStep<T>) * mu) & (mu > T(1e-3) * size));
    r = mu * inverse(mu + two_s);
  } else {
    r += (T(0.5) * r) * (T(1) - r) * ((P + share) * inverse(mu2) - T(1));
  }
  const Quat<T> q = b_plus + r * b_minus;
  return inverse_sqrt(norm2(q)) * q;
}

/// The minimiser in any state, one at a time; `q` is the present frame, which decides the hard case. b± are projected twice,
/// which removes their rounding inside each other, and Newton also knows the bound that counts near |b-| = 2 s: with
/// c = M/4s^2 and d = 1 - c the secular equation gives mu^2 (d + c mu/s) >= P.
template <class T>
OSIER_FN Quat<T> orientation_safeguarded(const OrientationProblem<T>& o, const Quat<T>& q) {
  using std::sqrt, std::cbrt;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  if (!(o.s > T(0))) return norm2(o.b) > T(0) ? normalized(o.b) : q;
  const T inv_s = T(1) / o.s, two_s = T(2) * o.s;
  if (norm2(o.b) == T(0)) {
    bool far = false;
    const Quat<T> aligned = orientation_aligned(o, q, far);
    return far ? orientation_hard_case(o, q) : aligned;
  }
  Quat<T> b_plus = T(0.5) * (o.b + inv_s * o.Sb), b_minus = T(0.5) * (o.b - inv_s * o.Sb);
  b_plus = T(0.5) * (b_plus + inv_s * (o.v * b_plus * o.eta));
  b_minus = T(0.5) * (b_minus - inv_s * (o.v * b_minus * o.eta));
  const T P = norm2(b_plus), M = norm2(b_minus);
  if (P <= T(64) * epsilon * epsilon * (P + M) && M <= two_s * two_s * (T(1) + T(16) * epsilon))
    return orientation_hard_case(o, q);
  const T c = M / (two_s * two_s), d = T(1) - c;
  T mu = larger(sqrt(P + M) - two_s, sqrt(P));
  if (c > T(0)) mu = larger(mu, d > T(0) ? smaller(sqrt(P / (T(2) * d)), cbrt(P * o.s / (T(2) * c))) : cbrt(P * o.s / c));
  for (int i = 0; i < 12; ++i) {
    const T step = secular_step(P, M, two_s, mu);
    mu += step;
    if (!(step > kShortStep<T> * mu)) break;
  }
  return normalized(b_plus + (mu / (mu + two_s)) * b_minus);
}

}  // namespace osier
