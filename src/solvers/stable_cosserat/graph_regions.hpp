// A graph in regions: layers of a breadth-first search, as many in a row as a region has room for. Whatever touches lies in the
// same region or in one beside it, so that numbers counted from the beginning of the region before stay small.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"

namespace osier::stable_cosserat {

/// Whether the frame that has this entry in its list of joints keeps the joint's target.
OSIER_FN bool owns_joint(Index entry, Index first_frame, Index segments) { return entry % 2 == 0 || first_frame >= segments; }

struct GraphRegions {
  Index count = 1;
  std::vector<Index> vertex, frame;  ///< of which region it is; empty with one region. Nobody asks for those left out

  Index of_vertex(Index v) const { return vertex.empty() ? 0 : vertex[v]; }
  Index of_frame(Index f) const { return frame.empty() ? 0 : frame[f]; }
};

/// Of the vertices that are not `taken`, with their segments and the anchors joined to these; nothing else joins what is taken to
/// what is not. No more than `room` vertices,
/// frames or joints in each, unless a layer alone has more. One region where the model has joints between frames that lie far
/// apart.
GraphRegions regions_of(const Model& model, std::span<const std::uint8_t> taken, Index capacity);

}  // namespace osier::stable_cosserat
