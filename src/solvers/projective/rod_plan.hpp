// The model as rods that do not touch each other's numbers: connected pieces of the graph, chains, trees or graphs with loops.
// Rods of one shape are stepped side by side in SIMD lanes, the others one by one; threads take groups of them by turns.
#pragma once

#include <array>
#include <vector>

#include "osier/model.hpp"
#include "solvers/projective/elimination.hpp"

namespace osier::projective {

/// The graph of a rod. Vertices and segments are in the order of elimination, anchors are frames after the segments.
struct RodShape {
  Index vertices = 0, segments = 0, anchors = 0;
  std::vector<std::array<Index, 2>> segment_vertices, joint_frames;
  Elimination positions, turns;
  std::vector<Index> joint_entry;  ///< of each joint in the turns' system; -1 for joints to anchors
  Index frames() const { return segments + anchors; }
  std::size_t bytes() const;
  Index joints() const { return static_cast<Index>(joint_frames.size()); }
};

/// Rods in lanes. Element i of the rod in lane k is number [i lanes + k] of a list; lanes beyond the last rod repeat it.
struct RodGroup {
  Index shape;
  int lanes, rods;
  std::vector<Index> vertex, frame, joint;
  Index vertex_in(Index i, int k) const { return vertex[static_cast<std::size_t>(i * lanes + k)]; }
  Index frame_in(Index i, int k) const { return frame[static_cast<std::size_t>(i * lanes + k)]; }
  Index joint_in(Index i, int k) const { return joint[static_cast<std::size_t>(i * lanes + k)]; }
};

struct RodPlan {
  std::vector<RodShape> shapes;
  std::vector<RodGroup> groups;
  /// What belongs to no rod: dead vertices, anchors without joints, frames of dead segments.
  std::vector<Index> loose_vertices, loose_frames;
};

/// `lanes`: how many rods of one shape go side by side; a rod that is left over goes alone.
RodPlan plan_rods(const Model& model, int lanes);

}  // namespace osier::projective
