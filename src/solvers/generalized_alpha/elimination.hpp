// The linear system of one Newton iteration: twelve rows per cell, which couple its two stations, between six boundary rows at
// either end. Gaussian elimination walks along the rod in panels of 18 rows and 24 columns: six rows that are left over from the
// cell before, and twelve of the cell, with pivots from any of the 18 rows. No transfer matrices are formed: those grow
// exponentially with the length of a rod.
//
// A closed rod is cut at a station, as if both of its ends there were held. Its six motions of that station are six more
// right-hand sides, and six equations between them say that the rod pulls and bends equally on either side of the cut
// (newton.hpp).
//
// Single rods take the largest pivot of a column. Lanes, which are equal rods in similar states, take the same row for all of
// them where that is a good pivot for each, and their own where it is not.
#pragma once

#include <cstddef>
#include <utility>

#include "exec/unroll.hpp"
#include "math/lane_access.hpp"
#include "solvers/generalized_alpha/panel_kernels.hpp"

namespace osier::generalized_alpha {

inline constexpr int kEnd = 6;     ///< boundary rows at an end
inline constexpr int kBlock = 12;  ///< unknowns of a station, rows of a cell
inline constexpr int kPanelRows = kEnd + kBlock;
inline constexpr int kRight = kBlock;  ///< first column of the right station
inline constexpr int kRhs = 2 * kBlock;
inline constexpr int kMotions = 6;           ///< of the station where a closed rod is cut
inline constexpr int kSides = 1 + kMotions;  ///< right-hand sides of a closed rod

template <class T>
class Elimination {
 public:
  /// Numbers of a row: lanes need no more than there are, single numbers whole cache lines.
  static constexpr int kWidth = lanes_of<T> == 1 ? kPanelStride : kRhs + 1;
  static constexpr std::size_t kKept = static_cast<std::size_t>(kBlock) * kWidth;  ///< numbers of a cell's pivot rows
  using Row = T[kWidth];
  using Mask = MaskOf<T>;

  /// `kept`: memory of kKept numbers per cell. `triangulate`: for single rods. `sides`: how many right-hand sides there are.
  OSIER_FN Elimination(T* kept, Triangulate by, int sides = 1) : kept_(kept), triangulate_(by), sides_(sides) {}

  /// Six rows of the first station: its twelve columns and the right-hand side.
  Row* begin(std::size_t cells) {
    cells_ = cells, done_ = 0;
    clear(panel_, kPanelRows);
    return panel_;
  }
  /// Twelve zero rows for the next cell.
  Row* cell() {
    clear(panel_ + kEnd, kBlock);
    return panel_ + kEnd;
  }
  /// Eliminates the left station of the cell that has been filled in. Which lanes are not singular.
  Mask eliminate(Mask active) {
    for (int r = done_ == 0 ? 0 : kEnd; r < kPanelRows; ++r) equilibrate(panel_[r]);
    const Mask good = triangulate(kPanelRows, active);
    T* const kept = kept_ + done_ * kKept;
    for (int r = 0; r < kBlock; ++r)
      for (int c = r; c < used(); ++c) kept[r * kWidth + c] = panel_[r][c];
    for (int r = 0; r < kEnd; ++r) {
      T* const to = panel_[r];
      const T* const from = panel_[kBlock + r];
      for (int c = 0; c < kBlock; ++c) to[c] = from[kRight + c];
      for (int c = kBlock; c < kRhs; ++c) to[c] = T(0);
      for (int c = kRhs; c < used(); ++c) to[c] = from[c];
    }
    ++done_;
    return good;
  }
  /// Six rows of the last station.
  Row* end() {
    clear(panel_ + kEnd, kBlock);
    return panel_ + kEnd;
  }
  /// Which lanes are not singular. `x`: twelve numbers per station.
  Mask solve(Mask active, T* x) {
    for (int r = 0; r < kBlock; ++r) equilibrate(panel_[r]);
    const Mask good = triangulate(kBlock, active);
    T* last = x + cells_ * kBlock;
    for (int p = kBlock - 1; p >= 0; --p) {
      T sum = panel_[p][kRhs];
      for (int q = p + 1; q < kBlock; ++q) sum -= panel_[p][q] * last[q];
      last[p] = sum / panel_[p][p];
    }
    for (std::size_t c = cells_; c-- > 0;) {
      const T* const kept = kept_ + c * kKept;
      T *const left = x + c * kBlock, *const right = left + kBlock;
      for (int p = kBlock - 1; p >= 0; --p) {
        const T* const row = kept + p * kWidth;
        T sum = row[kRhs], more(0);
        for (int q = 0; q < kBlock; q += 2) sum -= row[kRight + q] * right[q], more += row[kRight + q + 1] * right[q + 1];
        for (int q = p + 1; q < kBlock; ++q) sum -= row[q] * left[q];
        left[p] = (sum - more) / row[p];
      }
    }
    return good;
  }

  /// For all right-hand sides, single rods only; the solution stays here.
  bool solve_sides() {
    for (int r = 0; r < kBlock; ++r) equilibrate(panel_[r]);
    if (!triangulate_(panel_, kBlock, kBlock, used())) return false;
    for (int p = kBlock - 1; p >= 0; --p) {
      for (int q = p + 1; q < kBlock; ++q) subtract(panel_[p], panel_[p][q], panel_[q]);
      scale_sides(panel_[p], T(1) / panel_[p][p]);
    }
    for (std::size_t c = cells_; c-- > 0;) {
      for (int p = kBlock - 1; p >= 0; --p) {
        T* const row = kept_row(c, p);
        for (int q = 0; q < kBlock; ++q) subtract(row, row[kRight + q], c + 1 == cells_ ? panel_[q] : kept_row(c + 1, q));
        for (int q = p + 1; q < kBlock; ++q) subtract(row, row[q], kept_row(c, q));
        scale_sides(row, T(1) / row[p]);
      }
    }
    return true;
  }
  /// The six equations for the motions of the cut, right-hand side behind them.
  bool solve_few(Row* rows, T* x) const {
    for (int r = 0; r < kMotions; ++r) {
      using std::abs;
      T most(0);
      for (int c = 0; c < kMotions; ++c) most = larger(most, abs(rows[r][c]));
      for (int c = 0; c <= kMotions && most > T(0); ++c) rows[r][c] *= T(1) / most;
    }
    if (!triangulate_(rows, kMotions, kMotions, kMotions + 1)) return false;
    for (int p = kMotions - 1; p >= 0; --p) {
      x[p] = rows[p][kMotions];
      for (int q = p + 1; q < kMotions; ++q) x[p] -= rows[p][q] * x[q];
      x[p] /= rows[p][p];
    }
    return true;
  }
  /// Of unknown p of a station, for every right-hand side.
  const T* sides_of(std::size_t station, int p) const { return (station == cells_ ? panel_[p] : kept_row(station, p)) + kRhs; }

 private:
  OSIER_FN int used() const { return lanes_of<T> == 1 ? kRhs + sides_ : kRhs + 1; }
  T* kept_row(std::size_t cell, int p) const { return kept_ + cell * kKept + static_cast<std::size_t>(p * kWidth); }
  static void subtract(T* from, T factor, const T* what) {
    for (int s = kRhs; s < kRhs + kSides; ++s) from[s] -= factor * what[s];
  }
  static void scale_sides(T* row, T factor) {
    for (int s = kRhs; s < kRhs + kSides; ++s) row[s] *= factor;
  }
  static void clear(Row* rows, int count) {
    for (int r = 0; r < count; ++r)
      for (int c = 0; c < kWidth; ++c) rows[r][c] = T(0);
  }
  /// Rows of equations in different units are made alike, so that pivots can be compared.
  void equilibrate(Row& row) const {
    using std::abs;
    T most(0);
    for (int c = 0; c < kRhs; ++c) most = larger(most, abs(row[c]));
    const T scale = select(most > T(0), T(1) / most, T(1));
    for (int c = 0; c < used(); ++c) row[c] = scale * row[c];
  }
  /// Eliminates the first twelve columns of `count` rows below the diagonal.
  Mask triangulate(int count, Mask active) {
    if constexpr (lanes_of<T> == 1) {
      (void)active;
      return triangulate_(panel_, count, kBlock, used());
    } else {
      return triangulate_lanes(count, active, std::make_integer_sequence<int, kBlock>{});
    }
  }
  /// Column by column, each by code of its own, so that the pivot's row stays in registers.
  template <int... P>
  Mask triangulate_lanes(int count, Mask active, std::integer_sequence<int, P...>) {
    Mask good = active;
    (eliminate_column<P>(count, good), ...);
    return good;
  }
  template <int P>
  void eliminate_column(int count, Mask& good) {
    good = good & bring_pivot(P, count, good);
    constexpr int kMore = kRhs - P;
    T source[kMore];
    OSIER_UNROLL(32)
    for (int c = 0; c < kMore; ++c) source[c].v = panel_[P][P + 1 + c].v;
    const T over = T(1) / panel_[P][P];
    for (int r = P + 1; r < count; ++r) {
      T* const row = panel_[r] + P + 1;
      const T number = panel_[r][P];
      if (!any(!(number == T(0)))) continue;
      const T factor = number * over;
      OSIER_UNROLL(32)
      for (int c = 0; c < kMore; ++c) row[c].v -= factor.v * source[c].v;
    }
  }
  /// Puts a good pivot of column p into row p; which lanes have one.
  Mask bring_pivot(int p, int count, Mask active) {
    constexpr double kGood = 0.2;  ///< share of the largest number
    T most(0);
    for (int r = p; r < count; ++r) most = larger(most, abs(panel_[r][p]));
    const unsigned needed = bits(active);
    int first = 0;
    while (((needed >> first) & 1u) == 0 && first + 1 < lanes_of<T>) ++first;
    int row = p;
    for (int r = p + 1; r < count; ++r)
      if (lane(abs(panel_[r][p]), first) > lane(abs(panel_[row][p]), first)) row = r;
    const T enough = T(kGood) * most;
    if ((bits(abs(panel_[row][p]) >= enough) & needed) == needed) {
      if (row != p)
        for (int c = p; c <= kRhs; ++c) {
          const T kept = panel_[p][c];
          panel_[p][c] = panel_[row][c], panel_[row][c] = kept;
        }
    } else {
      for (int k = 0; k < lanes_of<T>; ++k) swap_lane(p, count, k);
    }
    return (most > T(0)) & (most < T(1e300));
  }
  void swap_lane(int p, int count, int k) {
    int row = p;
    for (int r = p + 1; r < count; ++r)
      if (lane(abs(panel_[r][p]), k) > lane(abs(panel_[row][p]), k)) row = r;
    for (int c = p; row != p && c <= kRhs; ++c) {
      const auto kept = lane(panel_[p][c], k);
      set_lane(panel_[p][c], k, lane(panel_[row][c], k));
      set_lane(panel_[row][c], k, kept);
    }
  }

  T* kept_;
  Triangulate triangulate_;
  int sides_;
  alignas(64) Row panel_[kPanelRows];
  std::size_t cells_ = 0, done_ = 0;
};

}  // namespace osier::generalized_alpha
