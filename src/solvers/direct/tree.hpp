// A spanning forest of the rod graph, in the order of elimination. A node is a segment together with the vertex at its far end;
// its parent is the vertex at its near end and the frame before it. What does not fit into a tree (a segment that closes a loop,
// a joint between siblings) is listed apart.
#pragma once

#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier::direct {

struct TreeNode {
  Index segment;
  Index near_vertex, far_vertex;  ///< far_vertex is -1 for a segment that closes a loop: its far end is a vertex of its own
  double sign;                    ///< +1 when near -> far is the segment's own direction
  Index parent;                   ///< node whose far vertex is near_vertex, or -1 at a root
  Index joint;                    ///< to the parent's frame, or to an anchor; -1: the frame is free of its parent
  bool anchored;                  ///< the joint leads to an anchor
};

struct ClosingSegment {
  Index node, vertex;  ///< the node's own far end must be this vertex
};

struct Tree {
  std::vector<TreeNode> nodes;         ///< parents before children
  std::vector<Index> node_of_segment;  ///< -1 for dead segments
  std::vector<Index> roots;            ///< vertices
  std::vector<ClosingSegment> closing_segments;
  std::vector<Index> closing_joints;                  ///< joints between frames that are not parent and child
  std::vector<std::pair<Index, Index>> local_joints;  ///< (node, joint): to an anchor that is not at the node's near end
  bool is_forest() const { return closing_segments.empty() && closing_joints.empty(); }
};

/// Roots are held vertices where there are some, otherwise ends.
Tree build_tree(const Model& model, const Control& control);

}  // namespace osier::direct
