// Where everything of the recursion with rows (tree_factor.hpp) goes: which rows are open at which place, where they close, and
// where their numbers are stored. Depends on who is whose parent and on the rows' ends, not on any number.
//
// Places are numbered: nodes 0..n-1, then root vertices, then groups. A group is a set of trees that rows tie together; its place
// is above all of its roots. A row opens at its ends and is carried upward as a column until both have met and one link at least
// lies between them: the place where it closes. Columns of a place are stored together, closing ones first.
#pragma once

#include <cstddef>
#include <vector>

namespace osier::direct {

/// The places of a row's two ends; -1: that end is held in space.
struct RowEnds {
  int place[2] = {-1, -1};
};

struct PlacePlan {
  int parent = -1;
  int first_column = 0, closing = 0, staying = 0;
  int first_child = -1, next_sibling = -1;  ///< children with columns only
  bool in_place = false;                    ///< the only child's columns are this place's, nothing opens or closes
  std::size_t compliance_out = 0;           ///< where its staying x staying compliances are in the group's workspace
  std::size_t closing_factor = 0;           ///< closing x closing
  std::size_t closing_gain = 0;             ///< closing x staying
  int columns() const { return closing + staying; }
};

struct GroupPlan {
  int first_in_order = 0, last_in_order = 0;  ///< of its nodes and roots; the group's own place is not in the order
  std::size_t workspace = 0, scratch = 0;     ///< offsets
};

class TreePlan {
 public:
  /// `parent` of every node: a node before it, or node count + root. `lift`: rows to be closed that many places higher, or empty.
  void build(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows, const std::vector<int>& lift);

  int node_count() const { return nodes_; }
  int root_count() const { return roots_; }
  int root_place(int r) const { return nodes_ + r; }
  int group_place(int g) const { return nodes_ + roots_ + g; }
  int column_count() const { return static_cast<int>(row_of_column.size()); }
  bool is_group(int p) const { return p >= nodes_ + roots_; }
  bool is_root(int p) const { return p >= nodes_ && p < nodes_ + roots_; }

  std::vector<PlacePlan> places;
  std::vector<GroupPlan> groups;
  std::vector<int> order;  ///< children before parents, group by group
  std::vector<int> row_of_column;
  std::vector<int> column_in_parent;  ///< of a staying column
  std::vector<int> end_column;        ///< 2 row + end, or -1
  std::vector<int> closing_column;    ///< of a row
  std::size_t workspace_size = 0, closing_factor_size = 0, closing_gain_size = 0;

  int most_columns() const;  ///< open at one place
  /// Multiplications and additions of a factorisation and a solve, for comparing trees with each other and with sweeps.
  double work() const;
  std::size_t bytes() const;

 private:
  int nodes_ = 0, roots_ = 0;
};

}  // namespace osier::direct
