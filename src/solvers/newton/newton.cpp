#include "solvers/newton/newton.hpp"

#include "solvers/minimiser.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace osier::newton {

std::unique_ptr<Solver> Settings::make(const Model&) const {
  return systems::make_minimiser(std::make_unique<systems::SparseSystem>(),
                                 {.tolerance = tolerance, .max_iterations = max_iterations});
}

std::optional<std::size_t> Settings::bytes(const Model& m, const Control&, double) const {
  return systems::SparseSystem::bytes_of(whole_of(m));
}

}  // namespace osier::newton
