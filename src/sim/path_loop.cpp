#include "sim/path_loop.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "osier/error.hpp"
#include "scene/spec.hpp"
#include "sim/measure.hpp"
#include "sim/state_archive.hpp"

namespace osier {
namespace {

constexpr double kLeastStep = 1e-9;
bool is_bad(const PathReport& r) { return r.non_finite || r.not_converged; }

}  // namespace

void PathLoop::fail(const PathReport& r) const {
  if (const std::string free = host_.free_motion_at_hand(); !free.empty())
    throw RunError(fmt::format("there is no equilibrium: {}", free));
  throw RunError(
      fmt::format("the path of equilibria could not be followed beyond the load factor {:.6g}: steps shorter than {:g} do not "
                  "converge either (residual {:.3g} of the largest force)",
                  taken_.load, kLeastStep, r.residual_relative));
}

void PathLoop::carry(Archive& archive) {
  archive(taken_.load, taken_.most_load, taken_.is_complete);
  std::uint64_t points = taken_.critical_points.size();
  archive(points);
  if (archive.reads()) taken_.critical_points.assign(static_cast<std::size_t>(points), {});
  for (CriticalPoint& p : taken_.critical_points) archive(p.load, p.is_limit, p.modes_before, p.modes_after, p.loads);
  bool has_before = before_.has_value();
  archive(report_, has_before);
  if (has_before && !before_) before_.emplace();
  if (has_before) carry_state(archive, *before_);
  archive(load_before_, next_, grows_, modes_, iterations_, settled_, finished_, leapt_);
}

/// The state becomes an equilibrium: at the beginning, and where something broke.
void PathLoop::settle() {
  report_ = host_.solve_at(taken_.load * analysis_.duration, false);
  iterations_ += report_.iterations;
  if (report_.non_finite) host_.throw_non_finite(report_);
  if (report_.not_converged) {
    PathReport failed;
    static_cast<StaticReport&>(failed) = report_;
    fail(failed);
  }
  modes_ = std::max(report_.unstable_modes, 0);
  before_.reset();
  grows_ = true;
  settled_ = true;
}

PathReport PathLoop::follow(double length) {
  const PathReport r =
      host_.follow({.load = taken_.load, .length = length, .before = before_ ? &*before_ : nullptr, .load_before = load_before_});
  iterations_ += r.iterations;
  return r;
}

/// Whether a critical point lies between the present state and one further along.
bool PathLoop::is_beyond(const PathReport& r) const {
  return (r.slope > 0) != grows_ || (host_.has_potential() && r.unstable_modes != modes_);
}

/// Bisects the step. At a limit point the load is stationary, so that its error is the square of that of the length.
PathReport PathLoop::go_to_critical_point(double length, const PathReport& beyond, double& taken) {
  constexpr int kBisections = 22, kAtLimit = 14;
  constexpr double kGap = 1e-5, kShortAgain = 1e-3;
  double low = 0, high = length;
  PathReport after = beyond;
  State there = host_.state_at_hand();
  for (int i = 0; i < ((after.slope > 0) != grows_ ? kAtLimit : kBisections); ++i) {
    host_.roll_back();
    const double middle = 0.5 * (low + high);
    const PathReport r = follow(middle);
    if (is_bad(r)) break;
    if (is_beyond(r)) high = middle, after = r, there = host_.state_at_hand();
    else low = middle;
  }
  host_.roll_back();
  taken = low > 0 ? low : high;
  PathReport at = follow(taken);
  if (is_bad(at)) {
    host_.roll_back();
    taken = high;
    at = follow(taken);
  }
  if (is_bad(at)) return at;
  // A path that all but meets another one turns sharply, and longer steps leap over to the other: no two points of one path are
  // so far apart.
  const double gap = largest_bend(host_.model_at_hand(), host_.state_at_hand(), there);
  if (taken < high && gap > kGap + 100 * (high - taken)) {
    next_ = kShortAgain * length;
    leapt_ = true;
    return at;
  }
  taken_.critical_points.push_back({.load = at.load,
                                    .is_limit = (after.slope > 0) != grows_,
                                    .modes_before = modes_,
                                    .modes_after = after.unstable_modes,
                                    .loads = {}});
  grows_ = after.slope > 0;
  modes_ = after.unstable_modes;
  finished_ = analysis_.stop_at_instability;
  return at;
}

/// To the full load, where the path leads there without a critical point in between.
bool PathLoop::land(double load) {
  report_ = host_.solve_at(load * analysis_.duration, true);
  iterations_ += report_.iterations;
  const bool good = !report_.non_finite && !report_.not_converged && !report_.off_path &&
                    (!host_.has_potential() || report_.unstable_modes == modes_);
  if (!good) host_.roll_back();
  return good;
}

StepReport PathLoop::accept(const StaticReport& report, double length, double load) {
  State& state = host_.state_at_hand();
  before_ = host_.state_before();
  load_before_ = taken_.load;
  taken_.load = load;
  taken_.most_load = std::max(taken_.most_load, load);
  state.time += length;
  state.step_index += 1;
  report_ = report;
  report_.iterations = static_cast<int>(iterations_);
  if (host_.break_segments()) settled_ = finished_ = false;
  return report_;
}

StepReport PathLoop::step() {
  if (finished_) return report_;
  iterations_ = 0;
  if (!settled_) settle();
  const double longest = 1.0 / analysis_.load_steps;
  double length = next_ > 0 ? std::min(next_, longest) : longest;
  if (analysis_.stop_at_instability && modes_ > 0 && !before_) {
    finished_ = true;
    taken_.critical_points.push_back(
        {.load = taken_.load, .is_limit = false, .modes_before = 0, .modes_after = modes_, .loads = {}});
    return accept(report_, 0, taken_.load);
  }
  for (;; length *= 0.5) {
    PathReport r = follow(length);
    if (is_bad(r)) {
      host_.roll_back();
      if (length < kLeastStep) {
        if (r.non_finite) host_.throw_non_finite(r);
        fail(r);
      }
      continue;
    }
    if (r.load < 0 && !host_.goes_below_zero())
      throw RunError(
          fmt::format("after the load factor {:.6g} the path turns back to 0 and beyond, where keyframes and prescribed motion "
                      "say nothing",
                      taken_.most_load));
    if (std::abs(r.load) >= 1) {
      host_.roll_back();
      const double full = r.load > 0 ? 1 : -1;
      if (!land(full)) {
        if (length < kLeastStep) fail(r);
        continue;
      }
      finished_ = true;
      taken_.is_complete = true;
      return accept(report_, length, full);
    }
    double taken = length;
    if (is_beyond(r)) {
      r = go_to_critical_point(length, r, taken);
      if (is_bad(r)) fail(r);
    }
    constexpr int kFew = 3, kMany = 6;
    if (!std::exchange(leapt_, false)) next_ = r.iterations <= kFew ? 2 * length : r.iterations >= kMany ? 0.7 * length : length;
    return accept(r, taken, r.load);
  }
}

}  // namespace osier
