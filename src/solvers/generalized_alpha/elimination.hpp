// The linear system of one Newton iteration: twelve rows per cell, which couple its two stations, between six boundary rows at
// either end. Gaussian elimination walks along the rod in panels of 18 rows and 24 columns: six rows that are left over from the
// cell before, and twelve of the cell, with pivots from any of the 18 rows. No transfer matrices are formed: those grow
// exponentially with the length of a rod.
#pragma once

#include <array>
#include <cstddef>

#include "exec/aligned.hpp"
#include "solvers/generalized_alpha/panel_kernels.hpp"

namespace osier::generalized_alpha {

inline constexpr int kEnd = 6;     ///< boundary rows at an end
inline constexpr int kBlock = 12;  ///< unknowns of a station, rows of a cell
inline constexpr int kPanelRows = kEnd + kBlock;
inline constexpr int kRight = kBlock;  ///< first column of the right station
inline constexpr int kRhs = 2 * kBlock;
inline constexpr int kStride = kPanelStride;

class Elimination {
 public:
  using Row = double[kStride];
  /// Works on this instruction set, which the machine must have.
  explicit Elimination(Simd simd = Simd::off) : triangulate_(triangulate_by(simd)) {}
  /// Six rows of the first station: its twelve columns and the right-hand side.
  Row* begin(std::size_t cells);
  /// Twelve zero rows for the next cell.
  Row* cell();
  /// Eliminates the left station of the cell that has been filled in. False where the system is singular.
  bool eliminate();
  /// Six rows of the last station.
  Row* end();
  /// False where the system is singular. `x`: twelve numbers per station.
  bool solve(double* x);

 private:
  Triangulate triangulate_;
  alignas(64) Row panel_[kPanelRows];
  AlignedArray<double> kept_;  ///< pivot rows, twelve per cell
  std::size_t cells_ = 0, done_ = 0;
};

}  // namespace osier::generalized_alpha
