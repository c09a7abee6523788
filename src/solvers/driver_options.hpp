// What the iterations of a step are asked for.
#pragma once

#include "exec/simd.hpp"
#include "solvers/solver.hpp"

namespace osier::systems {

/// How the linear systems of graphs with loops are solved, where not in lanes of chains or trees.
enum class Loops : std::uint8_t {
  automatic,
  columns,  ///< carried along a tree to where they close: exact
  blocks,   ///< no tree, conjugate gradients
};

struct Options {
  int iterations = 0;       ///< fixed number, or 0: by tolerance
  double tolerance = 1e-3;  ///< error of positions over the whole motion of the step
  int max_iterations = 50;
  /// Of the linear systems. State, strains and energies are in double either way: they are differences of positions.
  Precision precision = Precision::double_precision;
  int threads = 1;
  Simd simd = Simd::automatic;  ///< of whatever is in lanes
  Loops loops = Loops::automatic;
  double loop_share = 1e-2;  ///< of a correction that conjugate gradients may leave
};

}  // namespace osier::systems
