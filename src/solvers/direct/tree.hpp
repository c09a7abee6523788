// A spanning forest of the rod graph, in the order of elimination. A node is a segment together with the vertex at its far end;
// its parent is the vertex at its near end and the frame before it. What does not fit into a tree (a segment that closes a loop,
// a joint between siblings, whatever is held away from a root) becomes rows, see tree_factor.hpp.
#pragma once

#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/direct/tree_plan.hpp"

namespace osier::direct {

// Places are numbered as in tree_plan.hpp: nodes, then roots.

struct TreeNode {
  Index segment;
  Index near_vertex, far_vertex;  ///< far_vertex is -1 where the far end is a vertex of its own, tied by rows
  Index parent;                   ///< place whose vertex is near_vertex
  Index joint;                    ///< to the parent's frame, or to an anchor; -1: the frame is free of its parent
  Index far_end(const Model& m) const {
    const auto [a, b] = m.segment_vertices[segment];
    return a == near_vertex ? b : a;
  }
};

struct TreeRow {
  enum class Kind : std::uint8_t { hold_vertex, hold_frame, hinge_frame, close_segment, close_joint };
  Kind kind;
  std::uint8_t axis;  ///< 0, 1, 2
  Index node;         ///< of a joint: of its second frame
  Index other = -1;   ///< place of the other end, of a joint: of its first frame; -1: held in space
  Index joint = -1;
  /// The first of those that tie the same two places in the same way, which follow each other.
  bool begins() const { return axis == (kind == Kind::hinge_frame ? 1 : 0); }
};

struct Tree {
  std::vector<TreeNode> nodes;  ///< parents before children, a subtree in one piece
  std::vector<Index> roots;     ///< vertices
  std::vector<TreeRow> rows;
  std::size_t columns = 0;  ///< that many rows are columns of the recursion; the others are iterated upon (row_iteration.hpp)
  std::vector<std::pair<Index, Index>> local_joints;  ///< (node, joint): to an anchor that is not at the node's near end

  std::vector<int> parents() const;       ///< as TreePlan wants them
  std::vector<RowEnds> row_ends() const;  ///< of those that are columns
  bool iterates() const { return columns < rows.size(); }
  TreePlan plan() const;
};

/// Roots are held vertices where there are some, otherwise ends. Where there are loops, the tree with the least work of those
/// that were tried.
Tree build_tree(const Model& model, const Control& control);

/// How the rows of a time step are closed.
enum class Loops : std::uint8_t { automatic, columns, iteration };

/// For a time step: the same, or a tree whose long rows are iterated upon where that takes less work. That one grows from
/// everything that is held at once and along joints as far as they lead: a frame that hangs on rows alone would take many
/// iterations.
Tree build_step_tree(const Model& model, const Control& control, double h, Loops loops = Loops::automatic);

/// Work of a Gauss-Newton iteration on such a tree, in the measure of its plan.
double step_work(const Tree& tree, const TreePlan& plan, double stiffness_ratio);

}  // namespace osier::direct
