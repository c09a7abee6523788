#include "solvers/generalized_alpha/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace osier::generalized_alpha {

namespace {

constexpr std::size_t kKeptNumbers = static_cast<std::size_t>(kBlock) * kStride;

/// Rows of equations in different units are made alike, so that pivots can be compared.
void equilibrate(double* row) {
  double most = 0;
  for (int c = 0; c < kRhs; ++c) most = std::max(most, std::abs(row[c]));
  if (!(most > 0)) return;
  const double scale = 1 / most;
  for (int c = 0; c <= kRhs; ++c) row[c] *= scale;
}

}  // namespace

Elimination::Row* Elimination::begin(std::size_t cells) {
  cells_ = cells, done_ = 0;
  if (kept_.size() < cells * kKeptNumbers) kept_.resize(cells * kKeptNumbers);
  std::memset(panel_, 0, sizeof(panel_));
  return panel_;
}

Elimination::Row* Elimination::cell() {
  std::memset(panel_ + kEnd, 0, sizeof(Row) * kBlock);
  return panel_ + kEnd;
}

bool Elimination::eliminate() {
  for (int r = done_ == 0 ? 0 : kEnd; r < kPanelRows; ++r) equilibrate(panel_[r]);
  if (!triangulate_(panel_, kPanelRows, kBlock)) return false;
  std::memcpy(kept_.data() + done_ * kKeptNumbers, panel_, sizeof(Row) * kBlock);
  for (int r = 0; r < kEnd; ++r) {
    double* const to = panel_[r];
    const double* const from = panel_[kBlock + r];
    std::copy(from + kRight, from + kRhs, to);
    std::fill(to + kBlock, to + kRhs, 0.0);
    to[kRhs] = from[kRhs];
  }
  ++done_;
  return true;
}

Elimination::Row* Elimination::end() {
  std::memset(panel_ + kEnd, 0, sizeof(Row) * kBlock);
  return panel_ + kEnd;
}

bool Elimination::solve(double* x) {
  for (int r = 0; r < kBlock; ++r) equilibrate(panel_[r]);
  if (!triangulate_(panel_, kBlock, kBlock)) return false;
  double* last = x + cells_ * kBlock;
  for (int p = kBlock - 1; p >= 0; --p) {
    double sum = panel_[p][kRhs];
    for (int q = p + 1; q < kBlock; ++q) sum -= panel_[p][q] * last[q];
    last[p] = sum / panel_[p][p];
  }
  for (std::size_t c = cells_; c-- > 0;) {
    const double* const kept = kept_.data() + c * kKeptNumbers;
    double *const left = x + c * kBlock, *const right = left + kBlock;
    for (int p = kBlock - 1; p >= 0; --p) {
      const double* const row = kept + p * kStride;
      double sum = row[kRhs];
      for (int q = 0; q < kBlock; ++q) sum -= row[kRight + q] * right[q];
      for (int q = p + 1; q < kBlock; ++q) sum -= row[q] * left[q];
      left[p] = sum / row[p];
    }
  }
  return true;
}

}  // namespace osier::generalized_alpha
