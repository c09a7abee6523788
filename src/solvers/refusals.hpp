// What a scene asks of its solver, compared with what the solver can do. Every "cannot" that follows from Traits is said here.
#pragma once

#include <string>
#include <vector>

#include "solvers/solver.hpp"

namespace osier {

/// One thing that a scene asks for.
struct Need {
  bool Traits::*trait;
  std::string what;   ///< completes "`name` cannot ..."
  std::string where;  ///< JSON pointer of what asks for it
};

bool can(const Traits& traits, const std::vector<Need>& needs);

/// A problem for each need that the solver does not meet; the remedy names the solvers that meet all of them.
void refuse(const SolverSettings& solver, const std::vector<Need>& needs, Problems& problems);

}  // namespace osier
