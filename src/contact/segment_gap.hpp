// The distance of two segments a0-a1 and b0-b1: the regularised one that contact energy is made of, and the plain one that the
// guard needs.
//
//   D^2 = min over s, t in [0, 1] of |d|^2 + e^2 (la^2 (s - 1/2)^2 + lb^2 (t - 1/2)^2),   d = p_b(t) - p_a(s)
//
//   s, t   places of the nearest points along a and b           [-]
//   la, lb rest lengths                                          [m]
//   e      kRegularisation
//
// The second term makes the quadratic program strictly convex: nearest points are unique and move continuously, for parallel
// segments, too, so that the energy needs no mollifier. It adds at most e^2 (la^2 + lb^2)/4 to D^2. By the envelope theorem the
// gradient of D is that at fixed s and t:
//
//   dD/dx_j = w_j n,   w = (-(1 - s), -s, 1 - t, t),   n = d/D
//
// and the second derivative, with f = -E'(D) the force, M the Hessian over those of s, t that are inside their interval, and C
// the mixed derivative:
//
//   d2E = (E'' + f/D) w w' (x) n n' - (f/D) w w' (x) 1 + (f/D) C' M^-1 C
//   C_s = -w_j ua + (d, -d, 0, 0),   C_t = w_j ub + (0, 0, -d, d),   ua = a1 - a0, ub = b1 - b0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "exec/unroll.hpp"
#include "math/mat3.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

constexpr double kRegularisation = 0.1;

/// The ends of two segments. Differences between them are what counts: `a` and `b` may be relative to any common point.
struct TwoSegments {
  std::array<Vec3d, 2> a, b;
  OSIER_FN Vec3d edge_a() const { return a[1] - a[0]; }
  OSIER_FN Vec3d edge_b() const { return b[1] - b[0]; }
};

struct Nearest {
  double s = 0.5, t = 0.5;
  Vec3d d;                              ///< p_b - p_a
  double distance = 0;                  ///< D, or |d| without regularisation
  bool s_free = false, t_free = false;  ///< inside the interval
  OSIER_FN std::array<double, 4> weights() const { return {s - 1, -s, 1 - t, t}; }
};

/// `ra2`, `rb2`: e^2 la^2 and e^2 lb^2; 0 for the plain distance.
OSIER_CALL inline Nearest nearest_points(const TwoSegments& p, double ra2, double rb2) {
  const Vec3d ua = p.edge_a(), ub = p.edge_b(), r = p.b[0] - p.a[0];
  const double aa = norm2(ua) + ra2, bb = norm2(ub) + rb2, ab = dot(ua, ub);
  const double ga = dot(ua, r) + 0.5 * ra2, gb = -dot(ub, r) + 0.5 * rb2;
  // aa s - ab t = ga, bb t - ab s = gb
  const auto value = [&](double s, double t) {
    return norm2(r + t * ub - s * ua) + ra2 * (s - 0.5) * (s - 0.5) + rb2 * (t - 0.5) * (t - 0.5);
  };
  const auto clamped = [](double x, double size) { return size > 0 ? std::clamp(x / size, 0.0, 1.0) : 0.5; };
  Nearest best;
  const double det = aa * bb - ab * ab;
  bool found = false;
  if (det > 1e-14 * aa * bb) {
    // Of almost parallel segments, s has an error of rounding over det. With the t that belongs to it, d is at right angles to
    // both edges all the same, and separates them by all of their distance.
    best.s = (ga * bb + gb * ab) / det;
    best.t = (gb + ab * best.s) / bb;
    found = best.s >= 0 && best.s <= 1 && best.t >= 0 && best.t <= 1;
  }
  if (!found) {  // on one of the four edges of the square
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](double s, double t) {
      const double v = value(s, t);
      if (v < least) least = v, best.s = s, best.t = t;
    };
    for (int k = 0; k < 2; ++k) {
      const double end = k;
      consider(end, clamped(gb + ab * end, bb));
      consider(clamped(ga + ab * end, aa), end);
    }
  }
  best.s_free = best.s > 0 && best.s < 1;
  best.t_free = best.t > 0 && best.t < 1;
  best.d = r + best.t * ub - best.s * ua;
  best.distance = std::sqrt(value(best.s, best.t));
  return best;
}

/// What the plain distance is at least, where the regularised one is D.
OSIER_FN double plain_distance_of(double D, double ra2, double rb2) {
  const double d2 = D * D - 0.25 * (ra2 + rb2);
  return d2 > 0 ? std::sqrt(d2) : 0;
}

/// The curvature of the distance as an outer product: C' M^-1 C = sum over k of y_k y_k', one 12-vector for each free parameter.
struct Sliding {
  int count = 0;
  std::array<std::array<Vec3d, 4>, 2> y{};
};

OSIER_CALL inline Sliding sliding(const TwoSegments& p, const Nearest& at, double ra2, double rb2) {
  const Vec3d ua = p.edge_a(), ub = p.edge_b();
  const std::array<double, 4> w = at.weights();
  std::array<Vec3d, 4> cs, ct;
  for (std::size_t j = 0; j < 4; ++j) cs[j] = -w[j] * ua, ct[j] = w[j] * ub;
  cs[0] += at.d, cs[1] -= at.d;
  ct[2] -= at.d, ct[3] += at.d;
  const double aa = norm2(ua) + ra2, bb = norm2(ub) + rb2, ab = -dot(ua, ub);
  Sliding out;
  // C L^-T with L L' = M, row by row
  if (at.s_free) {
    const double l = 1 / std::sqrt(aa);
    for (std::size_t j = 0; j < 4; ++j) out.y[0][j] = l * cs[j];
    out.count = 1;
    if (at.t_free) {
      const double lower = ab * l, pivot = bb - lower * lower;
      if (pivot > 1e-14 * bb) {
        const double m = 1 / std::sqrt(pivot);
        for (std::size_t j = 0; j < 4; ++j) out.y[1][j] = m * (ct[j] - lower * out.y[0][j]);
        out.count = 2;
      }
    }
  } else if (at.t_free) {
    const double l = 1 / std::sqrt(bb);
    for (std::size_t j = 0; j < 4; ++j) out.y[0][j] = l * ct[j];
    out.count = 1;
  }
  return out;
}

}  // namespace osier::contact
