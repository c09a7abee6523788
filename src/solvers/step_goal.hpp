// Settings for the end of the iterations of a step, which several solvers share.
#pragma once

#include <optional>

namespace osier {

/// A fixed number of iterations, or a tolerance. Without either the default tolerance of the solver is used.
struct StepGoal {
  std::optional<int> iterations;
  std::optional<double> tolerance;
  std::optional<int> max_iterations;

  template <class F>
  void fields(F& f) {
    f("iterations", iterations, "A fixed number of Gauss–Newton iterations per time step, instead of a tolerance", {.min = 1});
    f("tolerance", tolerance,
      "Iterations go on until the error of positions, judged by how corrections decay, is below this fraction of the step's "
      "motion; 1e-3 unless `iterations` are given",
      {.min = 0, .max = 1, .above_min = true});
    f("max_iterations", max_iterations,
      "Most iterations per step when a tolerance decides; beyond, the step counts as not converged. 50 when left "
      "out. Steps in contact may take three times as many, because friction is solved for in rounds",
      {.min = 1});
    if (f.has("iterations") && f.has("tolerance")) f.problem("both `iterations` and `tolerance` are given", "keep one of them");
    if (f.has("max_iterations") && f.has("iterations"))
      f.problem("`max_iterations` beside a fixed number of `iterations`", "keep one of them");
  }
};

}  // namespace osier
