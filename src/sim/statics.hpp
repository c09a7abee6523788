// The loop of a static analysis: load steps, cut into pieces where one does not converge, up to the full load or to where the
// equilibrium loses its stability.
#pragma once

#include "core/archive.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"
#include "solvers/solver.hpp"

namespace osier {

class StaticAnalysis;

/// What the loop needs of the simulation that it belongs to.
class StaticHost {
 public:
  virtual ~StaticHost() = default;
  virtual State& state_at_hand() = 0;
  virtual const Model& model_at_hand() const = 0;
  /// Equilibrium at pseudo-time t, from the present state, to which roll_back() returns.
  virtual StaticReport solve_at(double t, bool along_path) = 0;
  /// The equilibrium a step further along the path of load factors, likewise.
  virtual PathReport follow(const PathStep& step) = 0;
  virtual void roll_back() = 0;
  virtual const State& state_before() const = 0;
  /// Goes to a state that solve_at(t) has led to from another.
  virtual void put_back(const State& before, const State& now, double t) = 0;
  /// Whether the equilibria are those of an energy.
  virtual bool has_potential() const = 0;
  /// Whether negative load factors mean something.
  virtual bool goes_below_zero() const = 0;
  /// Lets constraints go whose time has come; true when there was one.
  virtual bool release(double t) = 0;
  /// How far prescribed motion turns anything between two pseudo-times [rad].
  virtual double turn_between(double from, double to) const = 0;
  /// True when something broke.
  virtual bool break_segments() = 0;
  /// A sentence about a piece that has no equilibrium because nothing holds it; empty: there is none.
  virtual std::string free_motion_at_hand() const = 0;
  [[noreturn]] virtual void throw_non_finite(const StepReport& report) = 0;
};

class StaticLoop {
 public:
  StaticLoop(StaticHost& host, const StaticAnalysis& analysis) : host_(host), analysis_(analysis) {}
  /// One load step.
  StepReport step();
  /// The instability has been found at which the analysis was to stop.
  bool finished() const { return finished_; }
  /// Unstable equilibria that were left for stable ones, when the first one was, and in how many directions it was unstable.
  long branches_left() const { return branches_left_; }
  double branch_left_at() const { return branch_left_at_; }
  int branch_left_modes() const { return branch_left_modes_; }
  /// The last pseudo-time whose equilibrium was unstable; negative: none was.
  double unstable_at() const { return unstable_at_; }
  void set_finished(bool on) { finished_ = on; }
  const Snaps& snaps() const { return snaps_; }
  /// The state at the start is not one from which the load grew.
  void expect_jumps() { looks_for_jumps_ = false; }
  void carry(Archive& archive) {
    archive(report_, accepted_, branches_left_, branch_left_at_, branch_left_modes_, unstable_at_, snaps_, looks_for_jumps_,
            finished_, settled_);
  }

 private:
  double end_of_piece(double from, double to) const;
  void settle();
  StepReport finish(const StaticReport& total, int unstable_modes);
  [[noreturn]] void fail(double t, bool off_path) const;
  void look_for_jump(double from, double to);
  std::string advice() const;

  StaticHost& host_;
  const StaticAnalysis& analysis_;
  StaticReport report_;    ///< of the last solve
  StaticReport accepted_;  ///< of the equilibrium that the state is in
  long branches_left_ = 0;
  double branch_left_at_ = -1;
  int branch_left_modes_ = 0;
  double unstable_at_ = -1;
  Snaps snaps_;
  bool looks_for_jumps_ = true;
  bool finished_ = false;
  bool settled_ = false;  ///< the state is an equilibrium, from which a path may be followed
};

}  // namespace osier
