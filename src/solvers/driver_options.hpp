// Settings of the Newton driver.
#pragma once

#include "exec/simd.hpp"
#include "solvers/solver.hpp"

namespace osier::systems {

/// How the linear systems of graphs with loops are solved that chains and trees in lanes do not take.
enum class Loops : std::uint8_t {
  automatic,
  columns,  ///< loops are columns that are carried along a tree to the place where they close: exact
  blocks,   ///< conjugate gradients, without a tree
  sparse,   ///< a general sparse factor, which knows springs and vertices held along single directions
};

struct Options {
  int iterations = 0;       ///< fixed number, or 0: by tolerance
  double tolerance = 1e-3;  ///< error of positions over the whole motion of the step
  int max_iterations = 50;
  /// Number type of the linear systems. State, strains and energies are always in double: they are differences of positions.
  Precision precision = Precision::double_precision;
  int threads = 1;
  Simd simd = Simd::automatic;  ///< instruction set of all kernels
  Loops loops = Loops::automatic;
  double loop_share = 1e-2;  ///< share of a correction that conjugate gradients may leave as error
};

}  // namespace osier::systems
