// Trees arranged in lanes for SIMD: the nodes that are worked on side by side, and their order.
//
// A row is as many nodes as there are lanes, none of which is above another. Parents are in rows before their children's, so
// that the way up goes through the rows backwards. A node's place is row * lanes + lane: its slot. Lanes of a row need not be
// related to those of the next: nodes pass numbers to each other through records in memory (forest_step.hpp).
//
// Siblings may be tied by joints, as in trees where every pair of segments at a fork has one. A tie belongs to the node above
// both. Rows have nodes of one kind where possible, because the work of one lane is done for all lanes:
//
//   children   none, one, or a fork: two with one tie between them. Wider nodes are closed one by one
//   tied       to a sibling: three columns are carried along
//
// Large forests are split into branches, for threads, and the trunk that is left. The split does not depend on the number of
// threads, and neither does any result.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"
#include "solvers/systems/tree/tree.hpp"

namespace osier::systems {

struct ForestRow {
  int column = -1;            ///< column record of its first lane with a tie; -1: no lane has one
  std::uint16_t tied = 0;     ///< bits of lanes with a tie to a sibling
  std::uint8_t children = 0;  ///< number of records to fetch: 0, 1 or 2
  bool forks = false;
  bool held = false;  ///< has lanes that begin at a root, or that are empty
  int first_wide = 0, last_wide = 0;
};

/// A node with more children than a fork.
struct WideNode {
  int slot;
  int first_child, last_child;  ///< indices into ForestPlan::wide_child
  int first_tie, last_tie;
};

/// A joint between siblings. The ties of one node follow each other.
struct ForestTie {
  Index joint;
  int slot[2];  ///< slots of its first and second frame
};

/// The head of a tree: a slot that stands for the vertex and frame that hold it.
struct ForestHead {
  Index vertex;  ///< the vertex, which is held
  Index frame;   ///< frame of the anchor, or the segment's own frame, which is held
  bool fixed;    ///< the frame is the segment's own
};

/// The most ties that the children of one node may have.
inline constexpr int kMostTies = 15;

struct ForestJob {
  int first_row, last_row;
};

/// The node in a slot. An empty lane has the indices of another lane, so that they lead to something.
struct ForestSlot {
  Index segment = 0, far_vertex = 0;
  Index joint = -1;                       ///< -1: the frame is held
  int parent = -1;                        ///< slot of the parent
  int below = -1;                         ///< slot of a single child or the sentinel slot; for a fork -1 - tie
  std::int8_t direction = 0;              ///< 1 or -1: the segment leads away from the root or towards it; 0: empty
  bool flipped = false;                   ///< the joint has this frame first
  int tie() const { return -1 - below; }  ///< negative: no fork
};

struct ForestPlan {
  int lanes = 1;
  std::vector<ForestRow> rows;
  std::vector<ForestSlot> slots;  ///< slots of all rows, then of heads, then two sentinels: below and above empty lanes
  std::vector<ForestJob> branches;
  ForestJob trunk{};
  std::vector<ForestHead> heads;
  std::vector<ForestTie> ties;
  std::vector<WideNode> wide;
  std::vector<int> wide_child;  ///< slots
  int columns = 0;              ///< number of column records, with a sentinel
  double reach = 0;             ///< from a root to the farthest tip [m]
  int nodes = 0;

  int node_slots() const { return static_cast<int>(rows.size()) * lanes; }
  int head_slot(std::size_t i) const { return node_slots() + static_cast<int>(i); }
  int below_nothing() const { return node_slots() + static_cast<int>(heads.size()); }
  int above_nothing() const { return below_nothing() + 1; }
  int slot_count() const { return above_nothing() + 1; }
  std::size_t bytes() const;
};

/// Marks the nodes that lanes can take: those of trees whose root is a held vertex with held or anchored frames, and which have
/// no other holds and no loop.
std::vector<std::uint8_t> nodes_for_lanes(const Model& model, const Control& control, const Tree& tree);

ForestPlan plan_forest(const Model& model, const Control& control, const Tree& tree, const std::vector<std::uint8_t>& wanted,
                       int lanes);

}  // namespace osier::systems
