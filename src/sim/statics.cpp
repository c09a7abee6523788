#include "sim/statics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numbers>

#include "osier/error.hpp"
#include "scene/spec.hpp"
#include "sim/measure.hpp"

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
      fmt::format("the static solve did not converge at load {:.4g} of {:.4g} s pseudo-time, and not in 1024 pieces of the load "
                  "step either: residual {:.3g} N, {:.3g} of the largest force, worst at {}; {}",
                  t, analysis_.duration, r.residual, r.residual_relative, where, advice()));
}

/// The stiffness of stretching against that of bending over the whole length, EA L^2/EI: the largest of any segment.
static double stretch_over_bending(const Model& m) {
  double length = 0, most = 0;
  for (Index s = 0; s < m.segment_count(); ++s) length += m.segment_alive[s] ? m.segment_rest_length[s] : 0;
  for (Index j = 0; j < m.joint_count(); ++j) {
    const double bending = 0.25 * m.joint_stiffness[j].smallest() * m.joint_length[j];
    for (const Index f : m.joint_frames[j]) {
      if (!m.joint_alive[j] || m.is_anchor(f) || !(bending > 0)) continue;
      const double stretch = m.segment_stiffness[f].largest() / m.segment_rest_length[f];
      most = std::max(most, stretch * length * length / bending);
    }
  }
  return most;
}

/// The remedy that fits the cause.
std::string StaticLoop::advice() const {
  constexpr double kDigits = 1e8, kClose = 1e-4;
  constexpr int kEnough = 200;
  if (report_.iterations >= analysis_.max_iterations && analysis_.max_iterations < kEnough)
    return fmt::format("it ended after {} iterations: raise `max_iterations`", analysis_.max_iterations);
  const double ratio = stretch_over_bending(host_.model_at_hand());
  if (ratio > kDigits)
    return fmt::format(
        "stretching is {:.1g} times as stiff as bending (EA L^2/EI), so that rounding errors of lengths are forces that compare "
        "with those of bending where both ends are held. Make stretch and shear softer: at 1e7 times they still stretch by no "
        "more than 1e-7 of what bending moves",
        ratio);
  if (report_.residual_relative < kClose)
    return "the load is next to a critical one, where the rods buckle or snap: `control` arc_length follows the path through "
           "it, `stop_at_instability` ends there";
  return "`control` arc_length follows a path that turns back; otherwise let dynamics with drag find the equilibrium";
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

/// Whether the path of equilibria ends or branches off between two pseudo-times, and where: the interval is halved, with the half
/// kept in which the shape changes more. On a smooth path the change halves as well; at a bifurcation it goes with the square
/// root, and at a jump it stays.
void StaticLoop::look_for_jump(double from, double to) {
  constexpr int kHalvings = 18, kAtOnce = 3;
  constexpr double kSmooth = 0.19;  // 0.57 per halving
  constexpr double kSmallest = 1e-3, kJump = 0.1;
  State& state = host_.state_at_hand();
  const Model& m = host_.model_at_hand();
  const State first = host_.state_before(), last = state;
  const StaticReport report = report_;
  const double whole = largest_bend(m, first, last);
  State before = first, after = last;
  double low = from, high = to, change = whole, earlier = whole;
  bool found = whole > kSmallest;
  for (int i = 1; i <= kHalvings && found; ++i) {
    const double middle = 0.5 * (low + high);
    state = before;
    const StaticReport r = host_.solve_at(middle, false);
    if (r.non_finite || r.not_converged) found = false;
    else if (largest_bend(m, before, state) > largest_bend(m, state, after)) high = middle, after = state;
    else low = middle, before = state;
    change = largest_bend(m, before, after);
    if (i % kAtOnce != 0) continue;
    found = found && change > kSmooth * earlier;
    earlier = change;
  }
  if (found && snaps_.count++ == 0) {
    snaps_.at = low;
    snaps_.is_jump = change > kJump * whole;
    snaps_.turn = whole;
  }
  host_.put_back(first, last, to);
  report_ = report;
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
    if (looks_for_jumps_ && !along_path && report_.may_have_jumped && report_.branches_left == 0) look_for_jump(done, t);
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
