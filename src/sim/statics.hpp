// The loop of a static analysis: load steps, cut into pieces where one does not converge, up to the full load or to where the
// equilibrium loses its stability.
#pragma once

#include "osier/state.hpp"

namespace osier {

class StaticAnalysis;

/// What the loop needs of the simulation that it belongs to.
class StaticHost {
 public:
  virtual ~StaticHost() = default;
  virtual State& state_at_hand() = 0;
  /// Equilibrium at pseudo-time t, from the present state, to which roll_back() returns.
  virtual StepReport solve_at(double t) = 0;
  virtual void roll_back() = 0;
  /// Lets constraints go whose time has come.
  virtual void release(double t) = 0;
  /// True when something broke.
  virtual bool break_segments() = 0;
  [[noreturn]] virtual void throw_non_finite(const StepReport& report) = 0;
};

class StaticLoop {
 public:
  StaticLoop(StaticHost& host, const StaticAnalysis& analysis) : host_(host), analysis_(analysis) {}
  /// One load step.
  StepReport step();
  /// The instability has been found at which the analysis was to stop.
  bool finished() const { return finished_; }
  void set_finished(bool on) { finished_ = on; }

 private:
  bool locate_instability(double stable, double unstable);

  StaticHost& host_;
  const StaticAnalysis& analysis_;
  StepReport report_;    ///< of the last solve
  StepReport accepted_;  ///< of the equilibrium that the state is in
  bool finished_ = false;
};

}  // namespace osier
