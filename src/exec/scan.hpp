// Sums over what comes before, of whole numbers: where every element of a list with rows of different lengths begins.
#pragma once

#include <vector>

#include "exec/buffer.hpp"

namespace osier {

/// Of chunks of a list, one thread each.
struct SumChunks {
  static constexpr Index kChunk = 32;
  const Index* from;
  Index n;
  Index* sum;
  OSIER_FN void operator()(Index chunk) const {
    Index all = 0;
    for (Index i = chunk * kChunk; i < n && i < (chunk + 1) * kChunk; ++i) all += from[i];
    sum[chunk] = all;
  }
};
/// `before`: what comes before every chunk; null: nothing.
struct SpreadSums {
  Index* list;
  Index n;
  const Index* before;
  OSIER_FN void operator()(Index chunk) const {
    Index all = before == nullptr ? 0 : before[chunk];
    for (Index i = chunk * SumChunks::kChunk; i < n && i < (chunk + 1) * SumChunks::kChunk; ++i) {
      const Index here = list[i];
      list[i] = all;
      all += here;
    }
  }
};

inline namespace OSIER_BACKEND_NAMESPACE {

class Scan {
 public:
  explicit Scan(Backend where) : where_(where) {}
  /// Puts in the place of every number the sum of those before it. With one more number at the end than there are rows, that one
  /// becomes the sum of all.
  void run(Index* list, Index n) { run(list, n, 0); }

 private:
  void run(Index* list, Index n, std::size_t level) {
    const Index chunks = (n + SumChunks::kChunk - 1) / SumChunks::kChunk;
    if (chunks <= 1) {
      launch(where_, chunks, SpreadSums{list, n, nullptr});
      return;
    }
    if (sums_.size() <= level) sums_.resize(level + 1);
    if (sums_[level].size() < static_cast<std::size_t>(chunks))
      sums_[level] = Buffer<Index>(where_, static_cast<std::size_t>(chunks));
    Index* sum = sums_[level].data();
    launch(where_, chunks, SumChunks{list, n, sum});
    run(sum, chunks, level + 1);
    launch(where_, chunks, SpreadSums{list, n, sum});
  }
  Backend where_;
  std::vector<Buffer<Index>> sums_;  ///< by level
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier
