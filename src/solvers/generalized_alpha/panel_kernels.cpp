// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/generalized_alpha/panel_kernels.hpp"

#include "exec/simd_target.hpp"

namespace osier::generalized_alpha {

namespace {

constexpr int kLine = kSimdTarget == Simd::avx512 ? 8 : kSimdTarget == Simd::avx2 ? 4 : 2;  ///< numbers of a register
constexpr int kUsual = (25 + kLine - 1) / kLine * kLine;                                    ///< of one right-hand side

double size_of(double x) { return x < 0 ? -x : x; }

template <int kColumns>
bool triangulate_columns(double (*rows)[kPanelStride], int count, int columns) {
  for (int p = 0; p < columns; ++p) {
    int pivot = p;
    for (int r = p + 1; r < count; ++r)
      if (size_of(rows[r][p]) > size_of(rows[pivot][p])) pivot = r;
    const double value = rows[pivot][p];
    if (!(size_of(value) > 0) || !(size_of(value) < 1e300)) return false;
    const int first = p / kLine * kLine;
    double* const source = rows[p];
    if (pivot != p)
      for (int c = first; c < kColumns; ++c) {
        const double kept = source[c];
        source[c] = rows[pivot][c];
        rows[pivot][c] = kept;
      }
    const double over = 1 / value;
    for (int r = p + 1; r < count; ++r) {
      double* const row = rows[r];
      const double factor = row[p] * over;
      if (factor == 0) continue;
      for (int line = first; line < kColumns; line += kLine)
        for (int c = line; c < line + kLine; ++c) row[c] -= factor * source[c];
    }
  }
  return true;
}

bool triangulate(double (*rows)[kPanelStride], int count, int columns, int used) {
  if (used <= kUsual) return triangulate_columns<kUsual>(rows, count, columns);
  return triangulate_columns<kPanelStride>(rows, count, columns);
}

}  // namespace

template <Simd S>
Triangulate triangulate_for() {
  return &triangulate;
}
template Triangulate triangulate_for<kSimdTarget>();

}  // namespace osier::generalized_alpha
