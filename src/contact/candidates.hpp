// Broad phase: the pairs that may touch while every vertex stays within a ball around the place where it was when the list was
// made. The list is then exact and not a guess: a pair that is not on it is further apart than contact reaches.
//
// Boxes around the segments, inflated by balls and reach, are sorted into the cells of a uniform grid, kept as a hash table that
// is filled by counting. A box is entered into every cell that it overlaps; a pair is reported in the first cell that both share.
// Boxes that would take many cells, of long segments, are compared with all others instead. The order of the list depends on
// neither the grid nor the number of threads.
#pragma once

#include <vector>

#include "contact/contacts.hpp"
#include "contact/pair.hpp"
#include "exec/parallel.hpp"

namespace osier::contact {

class Candidates {
 public:
  /// `x`: positions; `ball`: per vertex, how far it may move [m]. Ascending.
  void find(const Contacts& contacts, const Model& model, const std::vector<Vec3d>& x, const std::vector<double>& ball,
            const Executor& executor, std::vector<Pair>& pairs);
  /// The same by comparing everything with everything: the oracle of the tests.
  static void find_by_brute_force(const Contacts& contacts, const Model& model, const std::vector<Vec3d>& x,
                                  const std::vector<double>& ball, std::vector<Pair>& pairs);

 private:
  struct Cells {
    std::array<std::int32_t, 3> low, high;
    double count() const;
  };
  struct Entry {
    std::array<std::int32_t, 3> cell;
    Index segment;
  };
  Cells cells_of(const Box& box) const;
  std::size_t bucket_of(const std::array<std::int32_t, 3>& cell) const;
  void choose_cell(const Model& model);
  void fill(const Model& model);

  static constexpr std::size_t kChunk = 128;  ///< segments whose pairs are found together
  std::vector<Box> box_;                      ///< per segment
  std::vector<Cells> cells_;
  std::vector<std::uint8_t> is_long_;
  std::vector<Index> long_;
  std::vector<std::size_t> start_;  ///< of each bucket
  std::vector<Entry> entry_;
  std::vector<std::vector<Pair>> found_;  ///< per chunk
  double cell_ = 1;
  Vec3d origin_;
};

}  // namespace osier::contact
