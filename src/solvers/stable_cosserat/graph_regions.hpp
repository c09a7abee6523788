// A graph in regions: consecutive layers of a breadth-first search, as many as fit into the capacity of a region. Neighbours are
// in the same region or in adjacent ones, so that numbers counted from the beginning of the region before stay small.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"

namespace osier::stable_cosserat {

/// Whether the frame that has this entry in its list of joints keeps the joint's target.
OSIER_FN bool owns_joint(Index entry, Index first_frame, Index segments) { return entry % 2 == 0 || first_frame >= segments; }

struct GraphRegions {
  Index count = 1;
  /// The region of each element; empty if there is one region. Numbers of elements that were left out have no meaning.
  std::vector<Index> vertex, frame;

  Index of_vertex(Index v) const { return vertex.empty() ? 0 : vertex[v]; }
  Index of_frame(Index f) const { return frame.empty() ? 0 : frame[f]; }
};

/// The regions of the vertices that are not `taken`, with their segments and anchors; no joint leads from there to taken ones. A
/// region has at most `capacity` vertices, frames or joints, unless a single layer has more. The result is one region where
/// joints connect frames that lie far apart.
GraphRegions regions_of(const Model& model, std::span<const std::uint8_t> taken, Index capacity);

}  // namespace osier::stable_cosserat
