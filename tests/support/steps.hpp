// One step by sweeps, and steps of which all but a chosen part is prescribed.
#pragma once

#include <gtest/gtest.h>
#include <type_traits>

#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/problem.hpp"

namespace osier::test {

template <class T>
constexpr Precision kNumber = std::is_same_v<T, float> ? Precision::single_precision : Precision::double_precision;

/// Where this many sweeps end.
inline Place stepped(const StepProblem& p, stable_cosserat::Order order, stable_cosserat::Lambda lambda, int iterations,
                     Precision number) {
  stable_cosserat::Settings s;
  s.order = order, s.lambda = lambda, s.iteration_count = iterations, s.execution.precision = number;
  State state = p.state;
  EXPECT_FALSE(s.make(p.model)->step(p.input(), state).non_finite);
  for (Quatd& q : state.frame_rotation)
    q = normalized(q);  // Phi is defined on units only; float keeps |q| = 1 to its own rounding
  return {state.vertex_position, state.frame_rotation};
}

/// A step that starts at p.state and ends at `at`, all of it prescribed: whatever a test sets free is the only unknown, so that
/// one sweep is one update.
inline StepProblem prescribed(StepProblem p, const Place& at) {
  p.control.vertex_fixed.assign(at.x.size(), 1);
  p.control.vertex_target = at.x;
  p.control.frame_control.assign(at.q.size(), FrameControl::fixed);
  p.control.frame_target = at.q;
  return p;
}

}  // namespace osier::test
