// Sparse symmetric positive systems of 12x12 blocks, S = R^T R, by the multifrontal method [Duff and Reid 1983].
//
// Sections are eliminated in an order that keeps R sparse (approximate minimum degree). Those that follow each other and meet the
// same sections later form a front: a dense symmetric matrix over its pivots and over what they meet. Rows of the pivots are rows
// of R; what the elimination leaves of the others is added to the front of the parent. Fronts without a common ancestor are
// independent, and so are the rows of a large front: threads take both, and the result does not depend on how many there are.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/deti/fibre.hpp"
#include "solvers/deti/kernels.hpp"

namespace osier::deti {

class BlockFronts {
 public:
  BlockFronts(int threads, Simd simd);

  /// Finds the order. Pairs are those of sections with a block between them; a pair may be named more than once.
  void arrange(Index sections, const std::vector<std::array<Index, 2>>& pairs);
  /// The matrix by its blocks, which `add` adds to what the 144 numbers hold: on_diagonal(section, numbers) the upper triangle,
  /// between(pair, numbers) rows of its first section and columns of its second.
  using Add = std::function<void(std::size_t, double*)>;
  /// False: the matrix is not positive.
  bool factor(const Add& on_diagonal, const Add& between);
  /// x <- S^-1 x.
  void solve(double* x) const;

  /// Blocks of the factor.
  std::size_t size() const { return rows_.size() / (kUnknowns * kUnknowns); }

 private:
  struct Front {
    Index pivots = 0;
    std::vector<Index> sections;     ///< the pivots, and what they meet
    std::vector<std::size_t> pairs;  ///< whose blocks begin in a row of a pivot
    std::vector<std::size_t> children;
    std::vector<std::size_t> place;  ///< of what the pivots meet, in the front of the parent
    std::size_t rows = 0;            ///< where the rows of the pivots begin
    double work = 0;                 ///< of the front and all below it
    AlignedArray<double> rest;       ///< what is left for the parent
    std::size_t size() const { return sections.size(); }
    std::size_t met() const { return sections.size() - static_cast<std::size_t>(pivots); }
  };
  struct Entry {
    std::size_t row = 0, column = 0;  ///< in the front
    bool turned = false;              ///< the pair's second section comes first
  };

  void find_fronts(const std::vector<Index>& order, const std::vector<std::array<Index, 2>>& pairs);
  void share_work();
  void eliminate(std::size_t front, const Add& on_diagonal, const Add& between, bool in_parallel);
  void forward(std::size_t front, double* x) const;
  void backward(std::size_t front, double* x) const;
  /// use(front, whether its rows may be shared) for every front, children first.
  template <class F>
  void upwards(const F& use) const;

  Executor executor_;
  const FibreKernel& kernel_;
  Index sections_ = 0;
  std::vector<Front> fronts_;  ///< children before their parents
  std::vector<Entry> entry_;   ///< per pair
  /// Fronts that a thread eliminates by itself, and those above them.
  std::vector<std::vector<std::size_t>> trees_;
  std::vector<std::size_t> top_;
  AlignedArray<double> rows_;
  mutable std::vector<std::vector<double>> carried_;  ///< per front: of a solution, for the parent
  std::atomic<bool> positive_ = true;
};

}  // namespace osier::deti
