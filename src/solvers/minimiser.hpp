// Minimises the potential of a step, or of statics, to a residual tolerance: Newton's method with a line search on (x, rotation
// vector) and a shift where the Hessian is indefinite. Slower than the driver of time steps (newton_driver.hpp), which stops by
// its corrections, and exact: it serves `analysis: static`, and other solvers are compared with it.
#pragma once

#include <memory>

#include "linalg/linear_system.hpp"
#include "solvers/solver.hpp"

namespace osier::systems {

struct MinimiserOptions {
  double tolerance = 1e-9;  ///< largest left-over force of a step, relative to the largest force at work
  int max_iterations = 100;
};

std::unique_ptr<Solver> make_minimiser(std::unique_ptr<LinearSystem> system, const MinimiserOptions& options = {});

}  // namespace osier::systems
