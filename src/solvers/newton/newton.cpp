#include "solvers/newton/newton.hpp"

#include "solvers/minimiser.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace osier::newton {

std::unique_ptr<Solver> Settings::make(const Model&) const {
  return systems::make_minimiser(std::make_unique<systems::SparseSystem>(),
                                 {.tolerance = tolerance, .max_iterations = max_iterations});
}

std::optional<std::size_t> Settings::bytes(const Model& m, const Control&, double) const {
  // Triplets dominate: 9 blocks of 9 entries of 16 bytes per segment, 4 per joint, and about as much for matrix and factor.
  return 2 * 16 * 9 * (9 * static_cast<std::size_t>(m.segment_count()) + 4 * static_cast<std::size_t>(m.joint_count())) +
         400 * static_cast<std::size_t>(m.vertex_count());
}

}  // namespace osier::newton
