#include "sim/statics.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "osier/error.hpp"
#include "scene/spec.hpp"

namespace osier {

/// Between a pseudo-time whose equilibrium, the present state, is stable and one where it is not. A trial that does not converge
/// counts as unstable: near a limit point there is nothing to converge to. False, with the state at `unstable`, if from close by
/// that turns out to be stable after all.
bool StaticLoop::locate_instability(double stable, double unstable) {
  const double bound = unstable;
  report_.residual = accepted_.residual, report_.residual_relative = accepted_.residual_relative;
  while (unstable - stable > 1e-9 * analysis_.duration) {
    const double middle = 0.5 * (stable + unstable);
    const StepReport trial = host_.solve_at(middle);
    report_.iterations += trial.iterations;
    if (trial.not_converged || trial.non_finite || trial.unstable_modes > 0) {
      unstable = middle;
      host_.roll_back();
    } else {
      stable = middle;
      report_.residual = trial.residual, report_.residual_relative = trial.residual_relative;
    }
  }
  if (unstable == bound) {  // nobody has looked at it from close by
    const StepReport trial = host_.solve_at(bound);
    report_.iterations += trial.iterations;
    if (!trial.not_converged && !trial.non_finite && trial.unstable_modes == 0) {
      accepted_ = trial;
      return false;
    }
    host_.roll_back();
  }
  host_.state_at_hand().time = stable;
  host_.state_at_hand().step_index += 1;
  report_.not_converged = report_.non_finite = false;
  finished_ = true;
  return true;
}

StepReport StaticLoop::step() {
  if (finished_) return report_;
  State& state = host_.state_at_hand();
  host_.release(state.time);
  const double increment = analysis_.duration / analysis_.load_steps;
  const double end = static_cast<double>(state.step_index + 1) * increment;
  StepReport total;
  // The load step is taken whole if it converges, otherwise in halves, up to 2^10 pieces. On the way to an instability the
  // gap to where it failed is halved, instead of running into the same wall with every second piece.
  double done = state.time, piece = end - state.time, failed = end * 2;
  const double least = piece / 1024;
  while (done < end * (1 - 1e-12)) {
    piece = std::min(piece, end - done);
    const double t = done + piece;
    report_ = host_.solve_at(t);
    total.iterations += report_.iterations;
    if (report_.non_finite || report_.not_converged) {
      const bool lost = report_.non_finite && piece * 0.5 < least;
      if (lost) host_.throw_non_finite(report_);
      host_.roll_back();
      piece *= 0.5;
      failed = t;
      if (piece < least && analysis_.stop_at_instability) {  // a limit point: beyond it there is nothing to converge to
        if (!locate_instability(done, t)) {
          total.iterations += report_.iterations;
          done = state.time = t;
          piece = least;
          continue;
        }
        report_.iterations += total.iterations;
        return report_;
      }
      if (piece < least)
        throw RunError(fmt::format(
            "the static solve did not converge at load {:.4g} of {:.4g} s pseudo-time: residual {:.3g} N, {:.3g} of "
            "the largest force, worst at {} {}; use more load steps, or dynamics with drag",
            t, analysis_.duration, report_.residual, report_.residual_relative, report_.worst_vertex >= 0 ? "vertex" : "segment",
            report_.worst_vertex >= 0 ? report_.worst_vertex : report_.worst_segment));
      continue;
    }
    if (host_.break_segments()) continue;  // the same load on what is left
    if (analysis_.stop_at_instability && report_.unstable_modes > 0) {
      host_.roll_back();
      if (locate_instability(done, t)) {
        report_.iterations += total.iterations;
        return report_;
      }
    }
    done = t;
    state.time = t;
    accepted_ = report_;
    piece *= 2;  // past the hard spot
    if (analysis_.stop_at_instability && done < failed && done + piece >= failed)
      piece = failed - done > 2 * least ? 0.5 * (failed - done) : failed - done;  // the last one: was it only a hard spot?
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
