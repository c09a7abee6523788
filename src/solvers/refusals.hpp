// The needs of a scene compared with the traits of its solver. All refusals that follow from Traits are written here.
#pragma once

#include <string>
#include <vector>

#include "solvers/solver.hpp"

namespace osier {

/// One need of a scene.
struct Need {
  bool Traits::*trait;
  std::string what;   ///< completes "`name` cannot ..."
  std::string where;  ///< JSON pointer of the place that has the need
};

bool can(const Traits& traits, const std::vector<Need>& needs);

/// A problem for each need that the solver does not meet; the remedy names the solvers that meet all of them.
void refuse(const SolverSettings& solver, const std::vector<Need>& needs, Problems& problems);

}  // namespace osier
