// One step of a fibre: the method of Gautschi with a stiffness K that is linearised anew in every step, and a filter that is
// saturated, so that modes which a step does not resolve stay bounded however K changes.
//
// Symbols: h step, y unknowns, w mean velocity over a step, f elastic and external force at y, Y = h^2 M^-1 K, alpha_0 drag
// [1/s], p_0 = (1 - e^(-alpha_0 h))/(alpha_0 h).
//
//   w' = e^(-alpha_0 h) [1 - (1 - rho) s(Y)] w + h p_0 phi(Y) M^-1 f(y),   y' = y + h w'
//
//   complex_pair: phi = (1 + Y/20)/(1 + 2 Y/15 + Y^2/40)     s = (Y^2/40)/(1 + 2 Y/15 + Y^2/40)
//   double_pole:  phi = (1 + b Y)/(1 + beta Y)^2             s = (beta Y/(1 + beta Y))^2        b = 2 beta - 1/12
//
// Both have Y phi = Y - Y^2/12 + O(Y^3), which is 2 (1 - cos w h) to fourth order, and stay below 4. A step begins with the move,
// by the w that the step before has found, and ends with the force at its end: that is where loads and prescribed motion are
// known.
#pragma once

#include <cmath>
#include <type_traits>

#include "solvers/deti/block_chain.hpp"
#include "solvers/deti/fibre_springs.hpp"

namespace osier::deti {

constexpr double kBeta = 0.6, kB = 2 * kBeta - 1.0 / 12;

/// 1 + 2 Y/15 + Y^2/40 = (Y - z)(Y - conj z)/40, and phi and 1 - s as 2 Re[r/(Y - z)].
struct PolePair {
  static constexpr double re = -8.0 / 3;
  double im = std::sqrt(40 - re * re);
  /// r = 40 (a + b z)/(z - conj z) for the numerator a + b Y.
  void residue(double a, double b, double& r_re, double& r_im) const {
    // (u + i v)/(2 i im) = v/(2 im) - i u/(2 im)
    r_re = 40 * b * im / (2 * im);
    r_im = -40 * (a + b * re) / (2 * im);
  }
};

/// Forces, stiffness and linear algebra of a fibre, or of equal ones in lanes.
template <class P>
class OneFibre : public Springs<P> {
 public:
  explicit OneFibre(const FibreView& fibre) : Springs<P>{fibre} {}
  /// S = M + K, of which the arrays hold K.
  void factor() const {
    constexpr int N = kUnknowns;
    const FibreView& v = this->f;
    BlockChain<P>(v.sections, v.diagonal, v.above).factor([&](Index k, Block<P>& S, Block<P>& U) {
      for (int r = 0; r < N; ++r) {
        for (int c = r; c < N; ++c) S.a[r][c] = this->at(v.diagonal, (k * N + r) * N + c);
        S.a[r][r] += this->at(v.mass, k);
        for (int c = 0; c < N && k + 1 < v.sections; ++c) U.a[r][c] = this->at(v.above, (k * N + r) * N + c);
      }
    });
  }
  template <int Count>
  void solve(double* const (&x)[Count]) const {
    BlockChain<P>(this->f.sections, this->f.diagonal, this->f.above).template solve<Count>(x);
  }
};

/// `Network`: OneFibre, or a reference to fibres that hang together (fibre_set.hpp).
template <class P, class Network = OneFibre<P>>
class FibreStep {
  static constexpr int N = kUnknowns, W = lanes_of<P>;

 public:
  explicit FibreStep(const FibreView& fibre) : f_(fibre), own_{f_} {}
  FibreStep(const FibreView& fibre, Network network) : f_(fibre), own_(network) {}

  void start(const StepRule& rule) {
    start_with(rule, [&](bool damps) { filter(rule, damps); });
  }
  void step(const StepRule& rule) {
    step_with(rule, [&](bool damps) { filter(rule, damps); });
  }

  /// The first w, where `starting` says so, from the velocity at the start: w = p_0 v + h (1 - p_0)/(alpha_0 h) phi(Y) M^-1 f.
  /// filter(damps): force <- phi(Y) M^-1 force, and with `damps` r2 <- s(Y) w, otherwise r2 <- 0.
  template <class Filter>
  void start_with(const StepRule& rule, const Filter& filter) {
    own_.forces();
    filter(false);
    for (Index k = 0; k < f_.sections; ++k) {
      const auto starts = own_.at(f_.starting, k) > P(0.5);
      const P lead = own_.at(f_.lead, k), reach = own_.at(f_.reach, k);
      for (Index i = k * N; i < (k + 1) * N; ++i) {
        const P w = reach * reach * own_.at(f_.velocity, i) + P(rule.h) * lead * own_.at(f_.force, i);
        own_.put(f_.w, i, select(starts, w, own_.at(f_.w, i)));
      }
    }
  }

  template <class Filter>
  void step_with(const StepRule& rule, const Filter& filter) {
    move(rule.h);
    own_.forces();
    for (Index k = 0; k < f_.sections; ++k) {
      const P reach = own_.at(f_.reach, k);
      for (Index i = k * N; i < (k + 1) * N; ++i) own_.put(f_.force, i, reach * own_.at(f_.force, i));
    }
    filter(true);
    for (Index k = 0; k < f_.sections; ++k) {
      const P reach = own_.at(f_.reach, k), decay = own_.at(f_.decay, k);
      for (Index i = k * N; i < (k + 1) * N; ++i) {
        const P now = own_.at(f_.w, i);
        const auto held = own_.at(f_.free, i) < P(0.5);
        own_.put(f_.w, i, select(held, now, decay * (now - P(1 - rule.rho) * own_.at(f_.r2, i))));
        own_.put(f_.force, i, P(rule.h) * reach * own_.at(f_.force, i));
      }
    }
    if (rule.viscous) dissipate(rule.h);
    for (Index i = 0; i < f_.sections * N; ++i) {
      const auto held = own_.at(f_.free, i) < P(0.5);
      const P now = own_.at(f_.w, i), next = select(held, now, now + own_.at(f_.force, i));
      own_.put(f_.velocity, i, P(0.5) * (own_.at(f_.velocity, i) + next));
      own_.put(f_.w, i, next);
    }
  }

 private:
  /// y <- y + h w, and what is held goes where it is led. `velocity` keeps w as it was.
  void move(double h) {
    for (Index i = 0; i < f_.sections * N; ++i) {
      const auto held = own_.at(f_.free, i) < P(0.5);
      const P y = own_.at(f_.y, i), w = own_.at(f_.w, i), target = own_.at(f_.target, i);
      const P led = P(1 / h) * (target - y), moves = select(held, led, w);
      own_.put(f_.w, i, moves);
      own_.put(f_.velocity, i, moves);
      own_.put(f_.y, i, select(held, target, y + P(h) * w));
    }
  }

  P mass(Index k) const { return own_.at(f_.mass, k); }

  void times_mass(double* x) const {
    for (Index k = 0; k < f_.sections; ++k)
      for (Index i = k * N; i < (k + 1) * N; ++i) own_.put(x, i, mass(k) * own_.at(x, i));
  }

  /// Damping in the springs, Z = h M^-1 K_v, to second order and implicit. With R = (1 + gamma Z)^-1, gamma = 1 - sqrt(1/2):
  ///
  ///   w <- (1 - (1 - 2 gamma) Z) R^2 w = w - [gamma R + (1 - gamma) R^2] Z w       (e^-Z)
  ///   kick <- [(1 - b) R + b R^2] kick, b = 1/(2 gamma) - 1                        ((1 - e^-Z)/Z)
  ///
  /// The kick of modes that are damped at once has to be damped, too, and both factors of it are positive: otherwise such modes
  /// would grow. What is held takes part in Z w with its motion.
  void dissipate(double h) {
    const double gamma = 1 - std::sqrt(0.5), b = 1 / (2 * gamma) - 1;
    own_.template product<Stiffness::viscous>(P(h), f_.w, f_.r1);
    own_.template assemble<Stiffness::viscous>(P(gamma * h));
    own_.factor();
    const Index n = f_.sections * N;
    for (Index i = 0; i < n; ++i) own_.put(f_.r2, i, own_.at(f_.force, i));
    times_mass(f_.r2);
    const auto take = [&](double share_of_w, double share_of_kick, bool first) {
      own_.template solve<2>({f_.r1, f_.r2});
      for (Index i = 0; i < n; ++i) {
        own_.put(f_.w, i, own_.at(f_.w, i) - P(share_of_w) * own_.at(f_.r1, i));
        const P kick = P(share_of_kick) * own_.at(f_.r2, i);
        own_.put(f_.force, i, first ? kick : own_.at(f_.force, i) + kick);
      }
    };
    take(gamma, 1 - b, true);
    times_mass(f_.r1);
    times_mass(f_.r2);
    take(1 - gamma, b, false);
  }

  void filter(const StepRule& rule, bool damps) {
    damps = damps && rule.rho < 1;
    if constexpr (std::is_same_v<Network, OneFibre<P>>) {
      if (rule.variant == Variant::double_pole) filter_double(rule, damps);
      else filter_pair(rule, damps);
    } else {
      filter_double(rule, damps);
    }
    if (damps) return;
    for (Index i = 0; i < f_.sections * N; ++i) own_.put(f_.r2, i, P(0));
  }

  /// With S = M + beta h^2 K: p = S^-1 f, phi M^-1 f = (b/beta) p + (1 - b/beta) S^-1 M p; and with z = S^-1 beta h^2 K w,
  /// s w = z - S^-1 M z.
  void filter_double(const StepRule& rule, bool damps) {
    const P scale(kBeta * rule.h * rule.h);
    if (damps) own_.template product<Stiffness::gauss_newton>(scale, f_.w, f_.r2);
    own_.template assemble<Stiffness::gauss_newton>(scale);
    own_.factor();
    const Index n = f_.sections * N;
    const auto solve = [&] {
      if (damps) own_.template solve<2>({f_.r1, f_.r2});
      else own_.template solve<1>({f_.r1});
    };
    for (Index i = 0; i < n; ++i) own_.put(f_.r1, i, own_.at(f_.force, i));
    solve();
    constexpr double kShare = kB / kBeta;
    for (Index i = 0; i < n; ++i) {
      own_.put(f_.force, i, P(kShare) * own_.at(f_.r1, i));
      if (damps) own_.put(f_.kept, i, own_.at(f_.r2, i));
    }
    times_mass(f_.r1);
    if (damps) times_mass(f_.r2);
    solve();
    for (Index i = 0; i < n; ++i) {
      own_.put(f_.force, i, own_.at(f_.force, i) + P(1 - kShare) * own_.at(f_.r1, i));
      if (damps) own_.put(f_.r2, i, own_.at(f_.kept, i) - own_.at(f_.r2, i));
    }
  }

  /// With S = h^2 K - z M: phi M^-1 f = 2 Re[r S^-1 f], and s w = 2 Re[t S^-1 h^2 K w] for the numerator Y/40.
  void filter_pair(const StepRule& rule, bool damps) {
    using C = Complex<P>;
    const P scale(rule.h * rule.h);
    if (damps) own_.template product<Stiffness::gauss_newton>(scale, f_.w, f_.kept);
    own_.template assemble<Stiffness::gauss_newton>(scale);
    const PolePair pole;
    BlockChain<C> chain(f_.sections, f_.pole_diagonal, f_.pole_above);
    chain.factor([&](Index k, Block<C>& S, Block<C>& U) {
      for (int r = 0; r < N; ++r) {
        for (int c = r; c < N; ++c) S.a[r][c] = {own_.at(f_.diagonal, (k * N + r) * N + c), P(0)};
        S.a[r][r] = S.a[r][r] - C{P(PolePair::re) * mass(k), P(pole.im) * mass(k)};
        for (int c = 0; c < N && k + 1 < f_.sections; ++c) U.a[r][c] = {own_.at(f_.above, (k * N + r) * N + c), P(0)};
      }
    });
    const Index n = f_.sections * N;
    for (Index i = 0; i < n; ++i) {
      own_.put(f_.r1, 2 * i, own_.at(f_.force, i));
      own_.put(f_.r1, 2 * i + 1, P(0));
      if (damps) own_.put(f_.r2, 2 * i, own_.at(f_.kept, i));
      if (damps) own_.put(f_.r2, 2 * i + 1, P(0));
    }
    if (damps) chain.template solve<2>({f_.r1, f_.r2});
    else chain.template solve<1>({f_.r1});
    double r_re = 0, r_im = 0, t_re = 0, t_im = 0;
    pole.residue(1, 1.0 / 20, r_re, r_im);
    pole.residue(0, 1.0 / 40, t_re, t_im);
    for (Index i = 0; i < n; ++i) {
      own_.put(f_.force, i, P(2 * r_re) * own_.at(f_.r1, 2 * i) - P(2 * r_im) * own_.at(f_.r1, 2 * i + 1));
      if (damps) own_.put(f_.r2, i, P(2 * t_re) * own_.at(f_.r2, 2 * i) - P(2 * t_im) * own_.at(f_.r2, 2 * i + 1));
    }
  }

  FibreView f_;
  Network own_;
};

}  // namespace osier::deti
