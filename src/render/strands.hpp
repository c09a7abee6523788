// Living segments put together to strands that can be drawn without a seam.
#pragma once

#include <vector>

#include "osier/frame.hpp"

namespace osier::render {

struct Strand {
  std::vector<Index> segments;         ///< in order
  std::vector<std::uint8_t> reversed;  ///< per segment: its second vertex comes first
  bool closed = false;
};

/// For each segment the rod it belongs to: the first that lists it, else the first that lists its vertices, else -1.
std::vector<Index> rod_of_segments(const Model& model);

/// Every living segment is in exactly one strand. A strand goes on through a vertex where two segments of one rod meet; where
/// more meet, through those that were built one after the other.
std::vector<Strand> living_strands(const Model& model, const Frame& frame, const std::vector<Index>& rod_of_segment);

}  // namespace osier::render
