// The dynamic Cosserat equations on one cell of a rod, by the centred box scheme in space and generalized-alpha in time.
//
// In local axes, R = [d1 d2 d3], R_s = R [k]x, R_t = R [w]x, v = R u, with n and m what the part beyond s exerts on the part
// before it:
//
//   (a)  rhoA (u_t + w x u)          = n_s + k x n + f
//   (b)  rhoI w_t + w x (rhoI w)     = m_s + k x m + nu x n + l        m = K (k - k0) + C k_t
//   (c)  k_t                         = w_s + k x w
//   (d)  e_t                         = u_s + k x u - w x nu            nu = nu0 + e,  e + tau e_t = n/S
//
// [slides Eq. 12a-d; of Eq. 5 the sign holds for absolute derivatives only; rho is a volumetric density.] An inextensible,
// unshearable rod has 1/S = 0.
//
//   u     velocity                                  [m/s]      h     length of the cell                       [m]
//   w     angular velocity                          [rad/s]    rhoA  mass per length                          [kg/m]
//   k     change of curvature and twist, k - k0     [1/m]      rhoI  moments of inertia per length            [kg m]
//   n     force                                     [N]        k0    curvature and twist at rest              [1/m]
//   e     stretch and shear                         [-]        nu0   tangent at rest, in the middle's axes    [-]
//
// Deviations from the slides:
// 1. Nonlinear terms are those of the mean state of the cell at the weighted time, not means of the terms (Eq. 18): then the
//    work of all triple products cancels, and without dissipation (rho = 1) energy is kept to the last digits.
// 2. All weights in space are 1/2: the only ones that couple neighbours only and are of second order.
// 3. n is the force at the stage of the step, a multiplier; strains e are kept per cell instead of n_t.
// 4. A station's unknown is the change of curvature; the curvature at rest belongs to the cell, which the turn from one end to
//    the other at rest defines exactly. A rod at rest stays there whatever its shape.
// 5. Stiffness belongs to stations, so that moments are continuous where the section changes.
#pragma once

#include "math/mat3.hpp"
#include "math/sym3.hpp"
#include "math/vec3.hpp"

namespace osier::generalized_alpha {

/// [a]x, so that [a]x b = a x b.
template <class T>
OSIER_FN Mat3<T> cross_matrix(const Vec3<T>& a) {
  const T o(0);
  return {{{o, -a.z, a.y}, {a.z, o, -a.x}, {-a.y, a.x, o}}};
}

template <class T>
OSIER_FN Sym3<T> diagonal(const Vec3<T>& v) {
  const T o(0);
  return {v.x, o, v.y, o, o, v.z};
}

/// Unknowns of a station, or their rates.
template <class T>
struct Station {
  Vec3<T> u, w, k, n;
};
inline constexpr int kUnknowns = 12;

/// What does not change.
template <class T>
struct Cell {
  T h = T(1);
  T rhoA = T(1);
  Vec3<T> rhoI{}, k0{}, nu0{T(0), T(0), T(1)};
  Vec3<T> compliance{};  ///< 1/S [1/N]
  Vec3<T> tau{};         ///< of stretch and shear [s]
  T lumped = T(0);       ///< rhoA h^2/4 times the share of the mass that counts as standing at stations [kg m]
};

/// Strain and its rate at the stage as affine functions of the force there, e = before + share (n/S - offset),
/// e_t = (n/S - offset) pace, axis by axis.
template <class T>
struct StrainLaw {
  Vec3<T> before;  ///< strain that the step would end up with at the stage without a rate there
  Vec3<T> offset;  ///< and the force over S that it would take
  Vec3<T> share{T(1), T(1), T(1)};
  Vec3<T> pace;  ///< [1/s]
};

/// The stage at one end of a cell: values, rates of u, w and k in n's place unused, and the moment.
template <class T>
struct StageEnd {
  Station<T> y;
  Vec3<T> u_rate, w_rate, k_rate;
  Vec3<T> m;  ///< [N m]
};

/// Loads on a cell at the stage, local axes.
template <class T>
struct CellForce {
  Vec3<T> f, l;     ///< per length [N/m], [N]: sum of the shares of both ends
  T weighs = T(0);  ///< 1 where there are loads: then these, less inertia, have levers; less in cells that are turned far
  Vec3<T> df;       ///< share of the right end less that of the left
  T drag_left = T(0), drag_right = T(0);  ///< -drag u is added to f [kg/(s m)]
};

/// How much of the levers of loads counts: all of it but for cells that are turned far at rest, where they are those of no rod.
template <class T>
OSIER_FN T lever_share(const Cell<T>& cell) {
  const T square = T(1) + T(0.25) * cell.h * cell.h * norm2(cell.k0);
  return T(1) / (square * square);
}

/// What is left of the equations.
template <class T>
struct Residual {
  Vec3<T> a, b, c, d;
};

/// The curvature with which the box equations turn a cell whose curvature at rest changes by `change`: (2/h) tan(h |k|/2) along
/// k to fourth order, which turns the cell by h |k|. Of small changes what is across the curvature at rest counts as it is: so
/// (c) has it, and frames must not turn otherwise than their angular velocities do.
template <class T>
OSIER_FN Vec3<T> box_curvature(const Cell<T>& cell, const Vec3<T>& change) {
  const Vec3<T>& k0 = cell.k0;
  const Vec3<T> k = k0 + change;
  return k + (cell.h * cell.h / T(12)) * (norm2(k) * k - norm2(k0) * change + dot(k0, change) * k0);
}
/// Values in the middle of a cell.
template <class T>
struct Middle {
  Vec3<T> u, w, n, m, nu, e_rate;
  Vec3<T> curvature;  ///< of the rod
  Vec3<T> k;          ///< of the box
  Vec3<T> b;          ///< h k/2
  Vec3<T> f, df;      ///< loads less inertia: sum of both ends, and right less left
  Vec3<T> n_lever;    ///< force in the middle of the cell, where n changes by its load: what bends
  OSIER_FN Middle(const Cell<T>& cell, const StrainLaw<T>& law, const CellForce<T>& load, const StageEnd<T>& l,
                  const StageEnd<T>& r) {
    const T half(0.5);
    u = half * (l.y.u + r.y.u), w = half * (l.y.w + r.y.w), n = half * (l.y.n + r.y.n), m = half * (l.m + r.m);
    const Vec3<T> change = half * (l.y.k + r.y.k);
    curvature = cell.k0 + change;
    k = box_curvature(cell, change);
    const Vec3<T> ahead = times(cell.compliance, n) - law.offset;
    e_rate = times(law.pace, ahead);
    b = (half * cell.h) * k;
    const T mass = half * cell.rhoA;
    const Vec3<T> left = mass * (l.u_rate + cross(l.y.w, l.y.u)) + load.drag_left * l.y.u;
    const Vec3<T> right = mass * (r.u_rate + cross(r.y.w, r.y.u)) + load.drag_right * r.y.u;
    df = load.weighs * (load.df - (right - left));
    f = load.weighs * (load.f - (left + right)) + cross(b, df);
    n_lever = n - (half * cell.h) * cross(b, f);
    nu = cell.nu0 + law.before + times(law.share, ahead) + cross((cell.h / T(12)) * (l.y.k - r.y.k), cell.nu0);
  }
};

template <class T>
OSIER_FN Residual<T> residual(const Cell<T>& cell, const StrainLaw<T>& law, const CellForce<T>& load, const StageEnd<T>& l,
                              const StageEnd<T>& r) {
  const Middle<T> y(cell, law, load, l, r);
  const T half(0.5), over_h = T(1) / cell.h;
  const Vec3<T> f = load.f - load.drag_left * l.y.u - load.drag_right * r.y.u + cross(y.b, y.df);
  const Vec3<T> Jw = times(cell.rhoI, y.w);
  Residual<T> F;
  F.a = (half * cell.rhoA) * (l.u_rate + r.u_rate) + cell.rhoA * cross(y.w, y.u) - over_h * (r.y.n - l.y.n) - cross(y.k, y.n) - f;
  F.b = half * times(cell.rhoI, l.w_rate + r.w_rate) + cross(y.w, Jw) - over_h * (r.m - l.m) - cross(y.k, y.m) -
        cross(y.nu, y.n_lever) - load.l;
  F.c = half * (l.k_rate + r.k_rate) - over_h * (r.y.w - l.y.w) - cross(y.k, y.w);
  F.d = y.e_rate - over_h * (r.y.u - l.y.u) - cross(y.k, y.u) + cross(y.w, y.nu);
  return F;
}

/// Derivatives of the stage by the new values, and of loads by the angular velocities at both ends.
template <class T>
struct Slopes {
  T value;                  ///< of values by new values; that of n is 1
  T rate;                   ///< of rates [1/s]
  Sym3<T> m_left, m_right;  ///< of moments by new changes of curvature [N m^2]
  Mat3<T> f_left, f_right;  ///< of f by the new angular velocities
  Mat3<T> l_left, l_right;  ///< of l
};

enum Column : int { kU = 0, kW = 3, kK = 6, kN = 9 };

/// [a]x b
template <class T>
OSIER_FN Mat3<T> crossed(const Vec3<T>& a, const Mat3<T>& b) {
  Mat3<T> r;
  for (int j = 0; j < 3; ++j) {
    r.m[0][j] = a.y * b.m[2][j] - a.z * b.m[1][j];
    r.m[1][j] = a.z * b.m[0][j] - a.x * b.m[2][j];
    r.m[2][j] = a.x * b.m[1][j] - a.y * b.m[0][j];
  }
  return r;
}

/// Rows a to d of the derivative by the new unknowns of both ends, whose columns begin at 0 and at 12. `rows` has twelve rows of
/// `Stride` numbers, zero so far. `loaded`: whether there are loads that turn with the frames.
template <class T, int Stride>
OSIER_FN void jacobian(const Cell<T>& cell, const StrainLaw<T>& law, const CellForce<T>& load, const Middle<T>& y,
                       const Slopes<T>& s, const StageEnd<T>& l, const StageEnd<T>& r, bool loaded, T (*rows)[Stride]) {
  const T half(0.5), over_h = T(1) / cell.h, half_h = half * cell.h, B = s.value, Bh = half * B;
  const Mat3<T> k = cross_matrix(half * y.k), w = cross_matrix(y.w), u = cross_matrix((Bh * cell.rhoA) * y.u);
  const Mat3<T> nu = cross_matrix(y.nu), lever = cross_matrix(y.n_lever), Jw = cross_matrix(times(cell.rhoI, y.w));
  // The curvature of the box by the new one of an end is p + 2 q c c^T + q k0 k0^T; what turns with it, and loads.
  const Vec3<T>&c = y.curvature, &k0 = cell.k0;
  const T q = Bh * cell.h * cell.h / T(12), p = Bh + q * (norm2(c) - norm2(k0));
  const auto by_k = [&](const Vec3<T>& v) {
    return p * cross_matrix(v) + outer((q + q) * cross(v, c), c) + outer(q * cross(v, k0), k0);
  };
  Mat3<T> n_k = by_k(y.n), m_k = by_k(y.m), f_w[2], l_w[2], f_u[2], l_u[2];
  const Mat3<T> w_k = by_k(y.w), u_k = by_k(y.u);
  // The tangent is that of the cell's chord, which curvatures that differ at its ends turn away from its middle.
  const Mat3<T> tilt = cross_matrix((B * cell.h / T(12)) * cell.nu0);
  const Mat3<T> lever_tilt = crossed(y.n_lever, tilt), w_tilt = crossed(y.w, tilt);
  if (loaded) {
    const Mat3<T> f_k = by_k(-half_h * y.df);
    const Mat3<T> lever_k = by_k((half_h * half_h) * y.f) + (-half_h) * crossed(y.b, f_k);
    n_k = n_k + T(-1) * f_k, m_k = m_k + T(-1) * crossed(y.nu, lever_k);
    for (int end = 0; end < 2; ++end) {
      const Mat3<T>&slope = end == 0 ? s.f_left : s.f_right, &couple = end == 0 ? s.l_left : s.l_right;
      const StageEnd<T>& at = end == 0 ? l : r;
      const T sign(end == 0 ? -1 : 1), mass = half * cell.rhoA;
      // Of what an end weighs, load less inertia, by its angular velocity and its velocity.
      const Mat3<T> by_w = load.weighs * (slope + cross_matrix((B * mass) * at.y.u));
      const T straight = mass * s.rate + B * (end == 0 ? load.drag_left : load.drag_right);
      const Mat3<T> by_u = load.weighs * (cross_matrix((-B * mass) * at.y.w) + identity3<T>(-straight));
      const Mat3<T> aside_w = sign * crossed(y.b, by_w), aside_u = sign * crossed(y.b, by_u);
      f_w[end] = slope + aside_w, f_u[end] = aside_u;
      l_w[end] = couple + (-half_h) * crossed(y.nu, crossed(y.b, by_w + aside_w));
      l_u[end] = (-half_h) * crossed(y.nu, crossed(y.b, by_u + aside_u));
    }
  }
  const Vec3<T> e_n = times(law.share, cell.compliance), rate_n = times(law.pace, cell.compliance);
  const T J[3]{cell.rhoI.x, cell.rhoI.y, cell.rhoI.z};
  const T E[3]{e_n.x, e_n.y, e_n.z}, P[3]{rate_n.x, rate_n.y, rate_n.z};
  const T drag[2]{B * load.drag_left, B * load.drag_right};
  // Of D m + k x (mean m), by the change of curvature at either end.
  const Mat3<T> K[2]{full(s.m_left), full(s.m_right)};
  const Mat3<T> m_box[2]{k * K[0] + T(-over_h) * K[0], k * K[1] + over_h * K[1]};
  const T inertia = half * cell.rhoA * s.rate, rate = half * s.rate;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const bool one = i == j;
      T a_u = (Bh * cell.rhoA) * w.m[i][j], b_w = Bh * (w.m[i][j] * J[j] - Jw.m[i][j]), c_k = w_k.m[i][j];
      T d_n = half * w.m[i][j] * E[j];
      if (one) a_u += inertia, b_w += rate * J[i], c_k += rate, d_n += half * P[i];
      const T b_n = half * (lever.m[i][j] * E[j] - nu.m[i][j]), d_w = -Bh * nu.m[i][j];
      for (int end = 0; end < 2; ++end) {
        const int first = end * kUnknowns;
        const T box = one ? k.m[i][j] + (end == 0 ? -over_h : over_h) : k.m[i][j];  // of D + k x mean
        const T own = one ? a_u + drag[end] : a_u;
        rows[i][first + kU + j] = loaded ? own - f_u[end].m[i][j] : own;
        rows[3 + i][first + kU + j] = loaded ? -l_u[end].m[i][j] : T(0);
        rows[i][first + kW + j] = loaded ? -u.m[i][j] - f_w[end].m[i][j] : -u.m[i][j];
        rows[i][first + kK + j] = n_k.m[i][j];
        rows[i][first + kN + j] = -box;
        rows[3 + i][first + kW + j] = loaded ? b_w - l_w[end].m[i][j] : b_w;
        const T sign(end == 0 ? -1 : 1);
        rows[3 + i][first + kK + j] = m_k.m[i][j] - m_box[end].m[i][j] + sign * lever_tilt.m[i][j];
        rows[3 + i][first + kN + j] = b_n;
        rows[6 + i][first + kW + j] = -B * box;
        rows[6 + i][first + kK + j] = c_k;
        rows[9 + i][first + kU + j] = -B * box;
        rows[9 + i][first + kW + j] = d_w;
        rows[9 + i][first + kK + j] = u_k.m[i][j] + sign * w_tilt.m[i][j];
        rows[9 + i][first + kN + j] = d_n;
      }
    }
}

}  // namespace osier::generalized_alpha
