// Time integration around implicit Euler steps.
//
// Every solver of the incremental potential makes one kind of step: implicit Euler of length H from a start (x, v). The
// first-order generalized-alpha method (Jansen, Whiting, Hulbert 2000; for structures Kadapa, Dettmer, Peric 2017) asks for
// nothing else. With y = (x, v), y' = f(y) and a stored rate r_n near y'(t_n), it evaluates
//
//   y_s = y_n + af (y_(n+1) - y_n)                      the stage, at time t_n + af h
//   f(y_s) = r_n + am (r_(n+1) - r_n)
//   y_(n+1) = y_n + h (r_n + g (r_(n+1) - r_n))
//
// which is f(y_s) = (y_s - y_ref)/H: an implicit Euler step from y_ref to the stage, with
//
//   H = g af h/am,   y_ref = y_n + H (am/g - 1) r_n                                            (prepare)
//   y_(n+1) = y_n + (y_s - y_n)/af,   r_(n+1) = r_n + ((y_(n+1) - y_n)/h - r_n)/g              (finish)
//
// Second order for g = 1/2 + am - af. One parameter, the share rho of the fastest oscillations that a step leaves over:
//
//   am = (3 - rho)/(2 (1 + rho)),   af = 1/(1 + rho),   g = af
//
// rho = 0 is BDF2 (the same numbers while h stays), rho = 1 the implicit midpoint rule, which needs no rates. Drag and
// Kelvin-Voigt damping are taken between y_ref and the stage, and so are of second order, too: the solvers know nothing of all
// this.
//
// Frames are turned by exponentials: y_ref = exp(H (am/g - 1) r_n) q_n. Their angular momentum, where they have some, goes up by
// the couple at the stage, which the solver's own terms of inertia tell (direction_terms.hpp): total angular momentum then
// changes by couples from outside alone.
#pragma once

#include <complex>

#include "core/describe.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/direction_terms.hpp"

namespace osier {

enum class IntegratorKind : std::uint8_t { implicit_euler, bdf2, midpoint, generalized_alpha };
template <>
struct Choices<IntegratorKind> {
  static constexpr std::array<const char*, 4> names{"implicit_euler", "bdf2", "midpoint", "generalized_alpha"};
};

class TimeIntegrator {
 public:
  /// rho: of generalized_alpha, 0 to 1.
  TimeIntegrator(IntegratorKind kind, double rho);

  bool is_implicit_euler() const { return implicit_euler_; }
  /// lambda of the linear motion y' = lambda y that becomes z times as large in a step of length h.
  std::complex<double> rate_of(std::complex<double> z, double h) const;
  /// Makes its arrays in State::memory, which rollback and continue_from keep.
  void declare_memory(const Model& model, State& state) const;
  /// The next step will be one of implicit Euler, which damps what a sudden change (a release, a break) sets off.
  void restart(const Model& model, State& state) const;

  /// Chooses the step of length h from the state, which is at y_n; `damped`: one of implicit Euler.
  void begin(const Model& model, State& state, double h, bool damped = false);
  /// The midpoint rule, which damps nothing.
  bool is_midpoint() const { return one_step_; }
  double stage_length() const { return stage_length_; }  ///< H
  double stage_share() const { return stage_share_; }    ///< af: loads and prescribed motion are those of t_n + af h
  /// Turns the state from y_n into y_ref. The torque of a motor with a torque-speed curve was found at the speed of y_n: the
  /// control is told the difference.
  void prepare(const Model& model, State& state, Control& control) const;
  /// Turns the state from the stage into y_(n+1). `start`: y_n; `end`: what is held at the end of the step.
  void finish(const Model& model, const Control& end, const State& start, State& state) const;

 private:
  struct FrameState {
    Quatd q;
    Vec3d omega;
  };
  bool has_reference() const { return !implicit_euler_ && !damps_ && !one_step_; }  ///< y_ref is not y_n
  double ahead() const { return stage_length_ * (am_ / g_ - 1); }
  /// A frame of y_ref; `memory`: the state whose memory has the rates.
  FrameState reference_frame(const Model& model, State& memory, const State& start, Index frame) const;

  static bool turns_too_far(const Model& model, const State& state, double h);
  void go_to_reference(const Model& model, State& state, Control& control) const;
  void straighten_damping(const Model& model, const State& state, Control& control) const;

  bool implicit_euler_;
  bool one_step_;  ///< the midpoint rule: no rates
  double am_, af_, g_;
  double h_ = 0, stage_length_ = 0, stage_share_ = 1;
  bool damps_ = false;  ///< the step at hand is one of implicit Euler
};

}  // namespace osier
