// Where everything of the recursion with rows (tree_factor.hpp) goes: which rows are open at which place, where they close, where
// their numbers are stored, and what can be done at the same time. Depends on who is whose parent and on the rows' ends, not on
// any number.
//
// Places are numbered: nodes 0..n-1, then root vertices, then groups. A group is a set of trees that rows tie together; its place
// is above all of its roots. A row opens at its ends and is carried upward as a column until both have met and one link at least
// lies between them: the place where it closes. Columns of a place are stored together, closing ones first.
//
// A group whose trees branch is split into a trunk and branches of about equal work. A branch is all that lies below one or more
// places of the trunk: whatever it adds to them comes from it alone, so that results do not depend on who was first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace osier::systems {

/// The places of a row's two ends; -1: that end is held in space.
struct RowEnds {
  int place[2] = {-1, -1};
};

struct PlacePlan {
  int parent = -1;
  int columns = -1;  ///< index into TreePlan::columns; -1: no row is open here
};

/// The rows that are open at a place.
struct ColumnPlan {
  int first = 0;
  std::uint16_t closing = 0, staying = 0;
  int closing_at = -1;                      ///< into TreePlan::closings, where some are
  int first_child = -1, next_sibling = -1;  ///< of the places below, those with columns
  std::uint32_t compliance : 31 = 0;        ///< staying x staying, where in the workspace; see TreePlan::fits()
  std::uint32_t in_place : 1 = 0;           ///< the only child's columns are this place's, nothing opens or closes
  int count() const { return closing + staying; }
};

/// Where the numbers of those that close at a place are; see TreePlan::fits().
struct ClosingPlan {
  int first_row = 0;         ///< into TreePlan::closing_row
  std::uint32_t factor = 0;  ///< closing x closing
  std::uint32_t gain = 0;    ///< closing x staying
};

/// Entries of the lower triangle of a symmetric matrix, and of the rows above row i.
constexpr std::size_t packed(std::size_t i) { return i * (i + 1) / 2; }

/// Places that are eliminated one after the other, children before parents.
struct JobPlan {
  int first_in_order = 0, last_in_order = 0;
  std::size_t scratch = 0;  ///< where its scratch is in the workspace
};

class TreePlan {
 public:
  /// `parent` of every node: a node before it, or node count + root. `lift`: rows to be closed that many places higher, or empty.
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

  /// Of columns of which some close.
  const ClosingPlan& closing_at(const ColumnPlan& c) const { return closings[static_cast<std::size_t>(c.closing_at)]; }

  std::vector<PlacePlan> places;
  std::vector<ColumnPlan> columns;
  std::vector<ClosingPlan> closings;
  std::vector<int> order;         ///< of nodes and roots
  std::vector<JobPlan> branches;  ///< to be done before the trunks on the way up, after them on the way down
  std::vector<JobPlan> trunks;    ///< one for every group; the group's own place comes last and is not in the order
  std::vector<int> closing_row;
  std::vector<std::uint16_t> column_in_parent;  ///< of a staying column, counted from the parent's first
  std::vector<int> end_column;                  ///< 2 row + end, or -1
  std::vector<int> closing_column;              ///< of a row
  std::size_t workspace_size = 0, closing_factor_size = 0, closing_gain_size = 0;
  /// A plan may be too large to be carried out, and still be compared with others.
  bool fits() const {
    return std::max({2 * workspace_size, closing_factor_size, closing_gain_size}) <= std::numeric_limits<std::uint32_t>::max();
  }

  static constexpr double kWorkOfLink = 900;    ///< a node without columns
  static constexpr double kWorkOfColumn = 200;  ///< on its way through a link, at least
  int most_columns() const;                     ///< open at one place
  /// Multiplications and additions of a factorisation and a solve, for comparing trees with each other and with sweeps.
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
