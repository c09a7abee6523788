// Weights of the generalized-alpha method in time, and what a step of length dt makes of them.
//
//   (1 - alpha) x'_i + alpha x'_(i-1) = f( (1 - beta) x_i + beta x_(i-1) )                     [slides Eq. 16-17]
//   x'_i = (x_i - x_(i-1))/(gamma dt) - (1 - gamma)/gamma x'_(i-1)                             [slides Eq. 19]
//
// Stable for alpha, beta <= 1/2 <= gamma; of second order for alpha - beta + gamma = 1/2. With rho, the share of the fastest
// oscillations that a step leaves over, alpha = (3 rho - 1)/(2 (1 + rho)), beta = rho/(1 + rho), gamma = 1/(1 + rho). The slides
// say that this choice does not apply to rods; it does. With alpha + gamma = 1 the method is a theta method: the slides'
// 0.3/0/0.7 is backward Euler.
#pragma once

#include "math/vec3.hpp"

namespace osier::generalized_alpha {

struct Weights {
  double alpha = 0, beta = 0, gamma = 1;
};
/// Starts and restarts: it needs no stored rates.
inline constexpr Weights kBackwardEuler{0, 0, 1};

constexpr Weights weights_of(double rho) { return {(3 * rho - 1) / (2 * (1 + rho)), rho / (1 + rho), 1 / (1 + rho)}; }

/// A quantity, which may be one of several lanes, times a number.
template <class T>
OSIER_FN T by(double s, const T& x) {
  return s * x;
}
template <class T>
OSIER_FN Vec3<T> by(double s, const Vec3<T>& x) {
  return T(s) * x;
}

/// A step with these weights. `T` is the quantity: a number or a vector.
struct Stage {
  Weights w;
  double dt = 1;  ///< [s]

  OSIER_FN double of_new() const { return 1 - w.beta; }                                 ///< d value/d x_i
  OSIER_FN double rate_of_new() const { return (1 - w.alpha) / (w.gamma * dt); }        ///< d rate/d x_i [1/s]
  OSIER_FN double gain() const { return dt * w.gamma * (1 - w.beta) / (1 - w.alpha); }  ///< d value/d rate at the stage [s]
  OSIER_FN double share_of_time() const { return 1 - w.beta; }                          ///< where in the step the stage is

  template <class T>
  OSIER_FN T value(const T& now, const T& before) const {
    return by(1 - w.beta, now) + by(w.beta, before);
  }
  template <class T>
  OSIER_FN T new_rate(const T& now, const T& before, const T& rate_before) const {
    return by(1 / (w.gamma * dt), now - before) - by((1 - w.gamma) / w.gamma, rate_before);
  }
  template <class T>
  OSIER_FN T rate(const T& rate_now, const T& rate_before) const {
    return by(1 - w.alpha, rate_now) + by(w.alpha, rate_before);
  }
  /// The new rate of a quantity whose rate at the stage is known.
  template <class T>
  OSIER_FN T rate_from_stage(const T& rate_at_stage, const T& rate_before) const {
    return by(1 / (1 - w.alpha), rate_at_stage - by(w.alpha, rate_before));
  }
  /// The rate of the rate at the stage, where that of the last step is known, or is to be taken as a plain difference.
  template <class T>
  OSIER_FN T second(const T& rate_at_stage, const T& rate_before, const T& second_before, bool known) const {
    const Stage own{known ? w : kBackwardEuler, dt};
    return own.rate(own.new_rate(rate_from_stage(rate_at_stage, rate_before), rate_before, second_before), second_before);
  }
  /// How it grows with the rate at the stage [1/s].
  OSIER_FN double second_of_rate(bool known) const {
    const Stage own{known ? w : kBackwardEuler, dt};
    return own.rate_of_new() / (1 - w.alpha);
  }
  /// Its growth over the step.
  template <class T>
  OSIER_FN T growth(const T& rate_now, const T& rate_before) const {
    return by(dt * w.gamma, rate_now) + by(dt * (1 - w.gamma), rate_before);
  }
  /// A stored rate stands for the time t_i + (1/2 - gamma) dt. Moves it to where a step of this length expects it.
  template <class T>
  OSIER_FN T moved(const T& rate, const T& rate_earlier, double dt_before) const {
    return rate + ((0.5 - w.gamma) * (dt - dt_before) / dt_before) * (rate - rate_earlier);
  }
};

}  // namespace osier::generalized_alpha
