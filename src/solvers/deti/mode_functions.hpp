// What a step does to one mode: eigenvalue lambda of M^-1 K [1/s^2], step h, D = alpha_0 M + alpha_1 K.
//
//   w' = E w + (1/h) Psi f/m        delta = (alpha_0 + alpha_1 lambda)/2        E = e^(-2 h delta)
//
// The exact family, for which c = e^(-h delta) cos(h sqrt(lambda - delta^2)): Psi = (1 - 2 c + E)/lambda. It solves linear
// problems to the last digit, but is unstable where lambda h^2 >> 1 and K changes from step to step. The saturated functions of
// fibre_step.hpp take its place; where alpha_1 is given, 2 (1 - cos) becomes g = Y phi(Y) at Y = h^2 (lambda - delta^2).
#pragma once

#include <algorithm>
#include <cmath>

#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

struct ModeStep {
  double E = 1;    ///< factor of w
  double Psi = 0;  ///< [s^2]
};

/// (1 - e^(-x))/x
inline double mean_decay(double x) { return x > 0 ? -std::expm1(-x) / x : 1; }

inline ModeStep exact_mode(double lambda, double h, double alpha0, double alpha1) {
  const double delta = 0.5 * (alpha0 + alpha1 * lambda);
  ModeStep s;
  s.E = std::exp(-2 * h * delta);
  constexpr double kRigid = 1e-8;  // of lambda h^2
  if (lambda * h * h < kRigid) {
    s.Psi = h * h * mean_decay(2 * h * delta);
    return s;
  }
  const double square = lambda - delta * delta;
  if (square >= 0) {
    // 1 - 2 c + E = (1 - e)^2 + 4 e sin^2(h omega/2)
    const double e = std::exp(-h * delta), half = std::sin(0.5 * h * std::sqrt(square));
    const double loss = std::expm1(-h * delta);
    s.Psi = (loss * loss + 4 * e * half * half) / lambda;
  } else {
    const double sum = delta + std::sqrt(-square), difference = lambda / sum;
    s.Psi = std::expm1(-h * difference) * std::expm1(-h * sum) / lambda;
  }
  return s;
}

/// g = Y phi(Y), which is 2 (1 - cos sqrt Y) to fourth order and bounded, and s(Y).
inline double saturated(Variant variant, double y) {
  if (variant == Variant::complex_pair) return y * (1 + y / 20) / (1 + 2 * y / 15 + y * y / 40);
  constexpr double beta = 0.6, b = 2 * beta - 1.0 / 12;
  return y * (1 + b * y) / ((1 + beta * y) * (1 + beta * y));
}
inline double saturated_phi(Variant variant, double y) {
  if (variant == Variant::complex_pair) return (1 + y / 20) / (1 + 2 * y / 15 + y * y / 40);
  constexpr double beta = 0.6, b = 2 * beta - 1.0 / 12;
  return (1 + b * y) / ((1 + beta * y) * (1 + beta * y));
}
inline double unresolved(Variant variant, double y) {
  if (variant == Variant::complex_pair) return y * y / 40 / (1 + 2 * y / 15 + y * y / 40);
  const double s = 0.6 * y / (1 + 0.6 * y);
  return s * s;
}

inline ModeStep saturated_mode(Variant variant, double rho, double lambda, double h, double alpha0, double alpha1) {
  const double y = h * h * lambda;
  const double kept = 1 - (1 - rho) * unresolved(variant, y);
  ModeStep s;
  if (alpha1 == 0) {
    s.E = std::exp(-alpha0 * h) * kept;
    s.Psi = h * h * mean_decay(alpha0 * h) * saturated_phi(variant, y);
    return s;
  }
  const ModeStep exact = exact_mode(lambda, h, alpha0, alpha1);
  const double delta = 0.5 * (alpha0 + alpha1 * lambda), square = lambda - delta * delta;
  s.E = exact.E * kept;
  s.Psi = exact.Psi;
  if (square <= 0 || y < 1e-8) return s;
  const double loss = std::expm1(-h * delta);
  s.Psi = (loss * loss + std::exp(-h * delta) * saturated(variant, h * h * square)) / lambda;
  return s;
}

}  // namespace osier::deti
