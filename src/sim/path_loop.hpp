// The loop of a static analysis by arc length: steps along a path of equilibria, forth and back in the load, up to the full load.
#pragma once

#include <optional>
#include <vector>

#include "osier/simulation.hpp"
#include "sim/statics.hpp"

namespace osier {

class PathLoop {
 public:
  PathLoop(StaticHost& host, const StaticAnalysis& analysis) : host_(host), analysis_(analysis) {}
  /// The next equilibrium on the path: a step further, at a critical point, or at the full load.
  StepReport step();
  /// The full load is reached, in either direction, or the critical point at which the analysis was to stop.
  bool finished() const { return finished_; }
  const PathTaken& taken() const { return taken_; }
  double load() const { return taken_.load; }
  void carry(Archive& archive);

 private:
  void settle();
  bool land(double load);
  bool is_beyond(const PathReport& report) const;
  PathReport follow(double length);
  PathReport go_to_critical_point(double length, const PathReport& beyond, double& taken);
  StepReport accept(const StaticReport& report, double length, double load);
  [[noreturn]] void fail(const PathReport& report) const;

  StaticHost& host_;
  const StaticAnalysis& analysis_;
  PathTaken taken_;
  StaticReport report_;
  std::optional<State> before_;  ///< the point before the present one
  double load_before_ = 0;
  double next_ = 0;    ///< length of the next step; 0: the longest
  bool grows_ = true;  ///< the load does, in the direction in which the path goes
  int modes_ = 0;      ///< unstable ones where the next step begins
  long iterations_ = 0;
  bool settled_ = false, finished_ = false;
  bool leapt_ = false;  ///< the last step was shortened because a longer one leads to another path
};

}  // namespace osier
