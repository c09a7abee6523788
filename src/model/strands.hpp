// Segments of a graph put together to strands: lines that can be drawn, or written to a file, without a seam. A rod of a scene
// is one strand; what a structure calls a rod may be a whole tree, and its groups list segments of others again.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"

namespace osier {

struct Strand {
  std::vector<Index> segments;         ///< in order
  std::vector<std::uint8_t> reversed;  ///< per segment: its second vertex comes first
  bool closed = false;

  /// One more than there are segments; of a closed strand the first comes again at the end.
  std::vector<Index> vertices(const Model& model) const;
};

/// For each segment the rod it belongs to: the first that lists it, else the first that lists its vertices, else -1.
std::vector<Index> rod_of_segments(const Model& model);

/// Every living segment is in exactly one strand. A strand goes on through a vertex where two segments of one rod meet; where
/// more meet, through those that were built one after the other.
std::vector<Strand> find_strands(const Model& model, std::span<const std::uint8_t> segment_alive,
                                 const std::vector<Index>& rod_of_segment);

}  // namespace osier
