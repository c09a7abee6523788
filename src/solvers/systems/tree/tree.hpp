// A spanning forest of the rod graph, in the order of elimination. A node is a segment together with the vertex at its far end;
// its parent is the vertex at its near end and the frame before it. Connections that do not fit into a tree (a segment that
// closes a loop, a joint between siblings, a hold away from a root) become constraint rows, see tree_factor.hpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/subset.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/systems/tree/tree_plan.hpp"

namespace osier::systems {

// Places are numbered as in tree_plan.hpp: nodes, then roots.

struct TreeNode {
  Index segment;
  Index near_vertex, far_vertex;  ///< far_vertex is -1 where the far end is a vertex of its own, connected by rows
  Index parent;                   ///< place whose vertex is near_vertex
  Index joint;                    ///< to the parent's frame, or to an anchor; -1: the frame is free of its parent
};

struct TreeRow {
  enum class Kind : std::uint8_t { hold_vertex, hold_frame, hinge_frame, close_segment, close_joint };
  Kind kind;
  std::uint8_t axis;  ///< 0, 1, 2
  Index node;         ///< first end; for a joint the node of its second frame
  Index other = -1;   ///< place of the other end, for a joint that of its first frame; -1: fixed in space
  Index joint = -1;
};

struct Tree {
  std::vector<TreeNode> nodes;  ///< parents before children, a subtree in one piece
  std::vector<Index> roots;     ///< vertices
  std::vector<TreeRow> rows;
  std::vector<std::pair<Index, Index>> local_joints;  ///< (node, joint), sorted: to an anchor away from the node's near end

  std::vector<int> parents() const;  ///< as TreePlan wants them
  std::vector<RowEnds> row_ends() const;
  std::span<const std::pair<Index, Index>> local_joints_of(std::size_t node) const;
  TreePlan plan() const;
  std::size_t bytes() const;
  bool closes_loops() const;
  /// Whether the open rows of all places add up to more than `limit`. Stops counting there.
  bool has_more_columns_than(double count) const;
};

/// Roots are held vertices where there are some, otherwise ends. Grown breadth first.
Tree first_tree(const Model& model, const Control& control, const Subset& subset);
/// Where there are loops, the tree with the least work of those that were tried.
Tree build_tree(const Model& model, const Control& control, const Subset& subset);
Tree build_tree(const Model& model, const Control& control);  ///< of the whole model
/// The tree of a subset, or none if it would have far more columns than the limit, counted at every place where one is open. (To
/// find the best tree of a large net would take longer than to step it.)
std::optional<Tree> build_tree_within(const Model& model, const Control& control, const Subset& subset, double columns);

}  // namespace osier::systems
