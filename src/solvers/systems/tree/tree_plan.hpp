// The memory plan of the recursion along trees (tree_factor.hpp): which constraint rows are open at which place, where they
// close, where their numbers are stored, and which parts may be worked on at the same time. It depends on parents and on the ends
// of rows, and on no stiffness.
//
// Places are numbered: nodes 0..n-1, then root vertices, then groups. A group is a set of trees that constraint rows
// connect; its place is above all of its roots. A row opens at its two ends and is carried upward as a column. It closes at the
// first place where both ends have met and at least one link lies between them. Columns of a place are stored together, the ones
// that close there first.
//
// A group whose trees branch is split into a trunk and branches of about equal work. A branch is everything below one or more
// places of the trunk. No other branch adds to these places, so that results do not depend on the order of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace osier::systems {

/// The places of the two ends of a constraint row; -1: that end is fixed in space.
struct RowEnds {
  int place[2] = {-1, -1};
};

struct PlacePlan {
  int parent = -1;
  int columns = -1;  ///< index into TreePlan::columns; -1: no row is open here
};

/// The columns of a place: its open constraint rows.
struct ColumnPlan {
  int first = 0;
  std::uint16_t closing = 0, staying = 0;
  int closing_at = -1;                      ///< index into TreePlan::closings; -1 where no column closes
  int first_child = -1, next_sibling = -1;  ///< list of the places below that have columns
  std::uint32_t compliance : 31 = 0;        ///< offset of a staying x staying triangle in the workspace; see TreePlan::fits()
  std::uint32_t in_place : 1 = 0;           ///< the columns are those of the only child: none opens or closes here
  int count() const { return closing + staying; }
};

/// Offsets of the numbers of the columns that close at a place; see TreePlan::fits().
struct ClosingPlan {
  int first_row = 0;         ///< index into TreePlan::closing_row
  std::uint32_t factor = 0;  ///< offset of a closing x closing triangle
  std::uint32_t gain = 0;    ///< offset of a closing x staying matrix
};

/// The number of entries of a packed lower triangle with i rows, which is the offset of row i.
constexpr std::size_t packed(std::size_t i) { return i * (i + 1) / 2; }

/// A job of one thread: places that are eliminated one after the other, children before parents.
struct JobPlan {
  int first_in_order = 0, last_in_order = 0;
  std::size_t scratch = 0;  ///< offset of its scratch memory in the workspace
};

class TreePlan {
 public:
  /// `parent` of every node: a node before it, or node count + root. `lift`: the number of places by which each row is closed
  /// later, or empty.
  void build(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows, const std::vector<int>& lift);

  int node_count() const { return nodes_; }
  int root_count() const { return roots_; }
  int root_place(int r) const { return nodes_ + r; }
  int group_place(int g) const { return nodes_ + roots_ + g; }
  int column_count() const { return static_cast<int>(column_in_parent.size()); }
  bool is_group(int p) const { return p >= nodes_ + roots_; }
  bool is_root(int p) const { return p >= nodes_ && p < nodes_ + roots_; }
  const ColumnPlan* columns_at(int p) const {
    const int c = places[static_cast<std::size_t>(p)].columns;
    return c >= 0 ? &columns[static_cast<std::size_t>(c)] : nullptr;
  }

  /// Requires that some of the columns close.
  const ClosingPlan& closing_at(const ColumnPlan& c) const { return closings[static_cast<std::size_t>(c.closing_at)]; }

  std::vector<PlacePlan> places;
  std::vector<ColumnPlan> columns;
  std::vector<ClosingPlan> closings;
  std::vector<int> order;         ///< nodes and roots in the order of elimination
  std::vector<JobPlan> branches;  ///< jobs before the trunks on the way up, and after them on the way down
  std::vector<JobPlan> trunks;    ///< one job for every group; the place of the group comes last and is not in `order`
  std::vector<int> closing_row;
  std::vector<std::uint16_t> column_in_parent;  ///< of a column that stays open, counted from the parent's first column
  std::vector<int> end_column;                  ///< per end (2 row + end): its first column, or -1
  std::vector<int> closing_column;              ///< per row: the column that closes
  std::size_t workspace_size = 0, closing_factor_size = 0, closing_gain_size = 0;
  /// Whether all offsets fit into their integers. A plan that does not fit can be compared with others but not used.
  bool fits() const {
    return std::max({2 * workspace_size, closing_factor_size, closing_gain_size}) <= std::numeric_limits<std::uint32_t>::max();
  }

  static constexpr double kWorkOfLink = 900;    ///< operations of a node without columns
  static constexpr double kWorkOfColumn = 200;  ///< operations of a column that passes a link, at least
  int most_columns() const;                     ///< the largest number of columns at one place
  /// The number of multiplications and additions of a factorisation and a solve, for comparing trees.
  double work() const;
  std::size_t bytes() const;

 private:
  std::vector<int> group_roots(const std::vector<int>& parent, const std::vector<RowEnds>& rows, int& group_count) const;
  void open_columns(const std::vector<RowEnds>& rows, const std::vector<int>& lift);
  void split_into_jobs(int group_count);
  void lay_out(JobPlan& job, const std::vector<std::uint8_t>& cut, int group);
  double work_at(int place) const;

  int nodes_ = 0, roots_ = 0;
};

}  // namespace osier::systems
