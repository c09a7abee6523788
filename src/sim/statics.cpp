#include "sim/statics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numbers>

#include "osier/error.hpp"
#include "scene/spec.hpp"

namespace osier {

/// The end of a piece that turns nothing so far that the sense of the turn could be mistaken.
double StaticLoop::end_of_piece(double from, double to) const {
  constexpr double kFarthest = 0.25 * std::numbers::pi;
  constexpr int kBisections = 40;
  if (!(host_.turn_between(from, to) > kFarthest)) return to;
  double low = from, high = to;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (host_.turn_between(from, middle) > kFarthest ? high : low) = middle;
  }
  return high;
}

void StaticLoop::fail(double t, bool off_path) const {
  const StepReport& r = report_;
  const std::string where =
      fmt::format("{} {}", r.worst_vertex >= 0 ? "vertex" : "segment", r.worst_vertex >= 0 ? r.worst_vertex : r.worst_segment);
  if (off_path)
    throw RunError(
        fmt::format("the path that is followed ends or turns back at {:.6g} of {:.4g} s pseudo-time: beyond there is no "
                    "equilibrium near; use `branch` stable, which goes to another one",
                    t, analysis_.duration));
  if (const std::string free = host_.free_motion_at_hand(); !free.empty())
    throw RunError(fmt::format("there is no equilibrium: {}", free));
  throw RunError(
      fmt::format("the static solve did not converge at load {:.4g} of {:.4g} s pseudo-time: residual {:.3g} N, {:.3g} of "
                  "the largest force, worst at {}; use more load steps, or dynamics with drag",
                  t, analysis_.duration, r.residual, r.residual_relative, where));
}

/// Before a path can be followed, the state has to be on it.
void StaticLoop::settle() {
  if (settled_) return;
  const double t = host_.state_at_hand().time;
  report_ = host_.solve_at(t, false);
  if (report_.non_finite) host_.throw_non_finite(report_);
  if (report_.not_converged) fail(t, false);
  settled_ = true;
}

/// The end of the search for an instability: the present state is the last one that is stable, and beyond it there are
/// `unstable_modes`, or none was found.
StepReport StaticLoop::finish(const StaticReport& total, int unstable_modes) {
  host_.state_at_hand().step_index += 1;
  finished_ = true;
  report_ = total;
  report_.unstable_modes = unstable_modes;
  return report_;
}

StepReport StaticLoop::step() {
  constexpr double kEndOfPath = 1e-7;  // of the duration
  if (finished_) return report_;
  State& state = host_.state_at_hand();
  if (host_.release(state.time)) settled_ = false;
  const double increment = analysis_.duration / analysis_.load_steps;
  const double end = static_cast<double>(state.step_index + 1) * increment;
  const bool along_path = analysis_.along_path(), stops = analysis_.stop_at_instability;
  StaticReport total;
  int beyond = -1;  // number of unstable modes that were seen there
  const auto count = [&](const StaticReport& r, double at) {
    total.iterations += r.iterations;
    if (r.branches_left > 0 && branches_left_ == 0) branch_left_at_ = at, branch_left_modes_ = r.modes_left;
    branches_left_ += r.branches_left;
  };
  if (along_path && !settled_) {
    settle();
    count(report_, state.time);
    accepted_ = report_;
    if (stops && report_.unstable_modes > 0) {
      total.residual = report_.residual, total.residual_relative = report_.residual_relative;
      return finish(total, report_.unstable_modes);
    }
  }
  // The load step is taken whole if it converges, otherwise in halves, up to 2^10 pieces. Where a path is followed, a piece may
  // become much shorter, and on the way to where one failed the gap is halved, instead of running into the same wall with every
  // second piece.
  double done = state.time, piece = end - state.time, wall = 2 * end;
  const double least = along_path ? 1e-9 * analysis_.duration : piece / 1024;
  while (done < end * (1 - 1e-12)) {
    const double t = end_of_piece(done, std::min(done + piece, end));
    piece = t - done;
    report_ = host_.solve_at(t, along_path);
    count(report_, t);
    count(report_, t);
    const bool bad = report_.non_finite || report_.not_converged || report_.off_path;
    if (bad || (stops && report_.unstable_modes > 0)) {
      if (report_.non_finite && piece * 0.5 < least) host_.throw_non_finite(report_);
      host_.roll_back();
      if (!bad && beyond < 0) beyond = report_.unstable_modes;
      wall = t;
      // Where a path ends, nothing is gained by walking up to the last digit of an end that a square root leads to.
      if (piece <= 1.01 * (bad && along_path ? kEndOfPath * analysis_.duration : least)) {
        if (!stops) fail(t, report_.off_path && !report_.not_converged);
        state.time = done;
        total.residual = accepted_.residual, total.residual_relative = accepted_.residual_relative;
        return finish(total, beyond);
      }
      piece = std::max(0.5 * piece, std::min(least, piece));
      continue;
    }
    if (host_.break_segments()) {  // the same load on what is left
      settled_ = false;
      if (along_path) settle();
      continue;
    }
    done = t;
    state.time = t;
    accepted_ = report_;
    if (!along_path && report_.unstable_modes > 0) unstable_at_ = t;
    piece *= 2;  // past the hard spot
    if (along_path && done < wall && done + piece >= wall)
      piece = wall - done > 2 * least ? 0.5 * (wall - done) : wall - done;  // the last one: was it only a hard spot?
  }
  total.residual = report_.residual;
  total.residual_relative = report_.residual_relative;
  total.unstable_modes = report_.unstable_modes;
  report_ = total;
  state.step_index += 1;
  state.time = end;
  return report_;
}

}  // namespace osier
