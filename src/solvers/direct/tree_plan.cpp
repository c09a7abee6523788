#include "solvers/direct/tree_plan.hpp"

#include <algorithm>
#include <numeric>

namespace osier::direct {

void TreePlan::build(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows,
                     const std::vector<int>& lift) {
  nodes_ = static_cast<int>(parent.size());
  roots_ = root_count;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };

  // Groups: trees that some row ties together.
  std::vector<int> root_of(at(nodes_ + roots_)), leader(at(roots_));
  for (int p = nodes_ + roots_; p-- > nodes_;) root_of[at(p)] = p - nodes_;
  for (int p = 0; p < nodes_; ++p) root_of[at(p)] = root_of[at(parent[at(p)])];
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](int r) {
    while (leader[at(r)] != r) r = leader[at(r)] = leader[at(leader[at(r)])];
    return r;
  };
  for (const RowEnds& row : rows) {
    if (row.place[0] < 0 || row.place[1] < 0) continue;
    const int a = find(root_of[at(row.place[0])]), b = find(root_of[at(row.place[1])]);
    leader[at(std::max(a, b))] = std::min(a, b);
  }
  std::vector<int> group_of(at(roots_), -1);
  int group_count = 0;
  for (int r = 0; r < roots_; ++r)
    if (find(r) == r) group_of[at(r)] = group_count++;
  for (int r = 0; r < roots_; ++r) group_of[at(r)] = group_of[at(find(r))];

  const int place_count = nodes_ + roots_ + group_count;
  places.assign(at(place_count), {});
  std::vector<int> depth(at(place_count), 0);
  for (int r = 0; r < roots_; ++r) places[at(root_place(r))].parent = group_place(group_of[at(r)]), depth[at(root_place(r))] = 1;
  for (int p = 0; p < nodes_; ++p) places[at(p)].parent = parent[at(p)], depth[at(p)] = depth[at(parent[at(p)])] + 1;

  // Where each row closes; then its way up, once to count and once to number.
  struct Way {
    int meet, close;
  };
  std::vector<Way> ways(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int a = rows[i].place[0], b = rows[i].place[1];
    if (a < 0) a = b;
    if (b < 0) b = a;
    const bool one_end = a == b;
    while (a != b) (depth[at(a)] >= depth[at(b)] ? a : b) = places[at(depth[at(a)] >= depth[at(b)] ? a : b)].parent;
    int close = a;
    int up = (one_end ? 1 : 0) + (lift.empty() ? 0 : lift[i]);
    // At a root everything that is left is known or eliminated: its rows close in the group.
    for (; up > 0 && !is_group(close); --up) close = places[at(close)].parent;
    if (is_root(close)) close = places[at(close)].parent;
    ways[i] = {a, close};
    for (int p = close == a ? -1 : a; p >= 0 && p != close; p = places[at(p)].parent) ++places[at(p)].staying;
    for (int end : rows[i].place)
      for (int p = end; p >= 0 && p != a; p = places[at(p)].parent) ++places[at(p)].staying;
    ++places[at(close)].closing;
  }
  int columns = 0;
  for (PlacePlan& p : places) p.first_column = columns, columns += p.columns();
  row_of_column.assign(at(columns), -1);
  column_in_parent.assign(at(columns), -1);
  end_column.assign(2 * rows.size(), -1);
  closing_column.assign(rows.size(), -1);
  std::vector<int> next_closing(places.size()), next_staying(places.size());
  for (std::size_t p = 0; p < places.size(); ++p) {
    next_closing[p] = places[p].first_column;
    next_staying[p] = places[p].first_column + places[p].closing;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto take = [&](int& next) {
      row_of_column[at(next)] = static_cast<int>(i);
      return next++;
    };
    int above = closing_column[i] = take(next_closing[at(ways[i].close)]);
    // From where the ends meet up to where the row closes, written from below.
    int below = -1, meet = above;
    for (int p = ways[i].meet; p != ways[i].close; p = places[at(p)].parent) {
      const int column = take(next_staying[at(p)]);
      if (below < 0) meet = column;
      else column_in_parent[at(below)] = column;
      below = column;
    }
    if (below >= 0) column_in_parent[at(below)] = above;
    for (int e = 0; e < 2; ++e) {
      if (rows[i].place[e] < 0) continue;
      below = -1;
      for (int p = rows[i].place[e]; p != ways[i].meet; p = places[at(p)].parent) {
        const int column = take(next_staying[at(p)]);
        if (below < 0) end_column[2 * i + at(e)] = column;
        else column_in_parent[at(below)] = column;
        below = column;
      }
      if (below >= 0) column_in_parent[at(below)] = meet;
      else end_column[2 * i + at(e)] = meet;
    }
  }

  // Children before parents, a subtree in one piece: reversed preorder.
  std::vector<int> child_start(places.size() + 1, 0), child(places.size());
  for (int p = 0; p < nodes_ + roots_; ++p) ++child_start[at(places[at(p)].parent) + 1];
  std::partial_sum(child_start.begin(), child_start.end(), child_start.begin());
  std::vector<int> next(child_start.begin(), child_start.end() - 1);
  for (int p = 0; p < nodes_ + roots_; ++p) child[at(next[at(places[at(p)].parent)]++)] = p;
  for (int p = nodes_ + roots_; p-- > 0;) {
    if (places[at(p)].staying == 0) continue;
    PlacePlan& above = places[at(places[at(p)].parent)];
    places[at(p)].next_sibling = above.first_child;
    above.first_child = p;
  }
  order.clear();
  order.reserve(at(nodes_ + roots_));
  groups.assign(at(group_count), {});
  workspace_size = closing_factor_size = closing_gain_size = 0;
  std::vector<int> stack;
  for (int g = 0; g < group_count; ++g) {
    GroupPlan& group = groups[at(g)];
    group.first_in_order = static_cast<int>(order.size());
    stack.assign(1, group_place(g));
    while (!stack.empty()) {
      const int p = stack.back();
      stack.pop_back();
      if (!is_group(p)) order.push_back(p);
      for (int c = child_start[at(p) + 1]; c-- > child_start[at(p)];) stack.push_back(child[at(c)]);
    }
    group.last_in_order = static_cast<int>(order.size());
    std::reverse(order.begin() + group.first_in_order, order.end());
    // The workspace is a stack: a place finds its children's compliances on top.
    group.workspace = workspace_size;
    std::size_t top = 0, peak = 0, scratch = 0;
    const auto visit = [&](int p) {
      PlacePlan& place = places[at(p)];
      if (place.columns() == 0) return;
      std::size_t bottom = top;
      int children = 0;
      for (int c = place.first_child; c >= 0; c = places[at(c)].next_sibling, ++children)
        bottom = std::min(bottom, places[at(c)].compliance_out);
      const PlacePlan* only = children == 1 ? &places[at(place.first_child)] : nullptr;
      place.in_place = only && place.closing == 0 && only->staying == place.staying;
      for (int i = 0; place.in_place && i < only->staying; ++i)
        place.in_place = column_in_parent[at(only->first_column + only->closing + i)] == place.first_column + i;
      const auto k = static_cast<std::size_t>(place.closing), s = static_cast<std::size_t>(place.staying);
      place.compliance_out = bottom;
      if (!place.in_place) scratch = std::max(scratch, (k + s) * (k + s));
      top = bottom + s * s;
      peak = std::max(peak, top);
      place.closing_factor = closing_factor_size, closing_factor_size += k * k;
      place.closing_gain = closing_gain_size, closing_gain_size += k * s;
    };
    for (int i = group.first_in_order; i < group.last_in_order; ++i) visit(order[at(i)]);
    visit(group_place(g));
    group.scratch = group.workspace + peak;
    workspace_size += peak + scratch;
  }
}

int TreePlan::most_columns() const {
  int most = 0;
  for (const PlacePlan& p : places) most = std::max(most, p.columns());
  return most;
}

double TreePlan::work() const {
  // A node without columns takes about 900; a column 200 on its way through a link; the rest is counted.
  double sum = 0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const double k = places[p].closing, s = places[p].staying;
    if (p < static_cast<std::size_t>(nodes_)) sum += 900 + 200 * s + 6 * s * s;
    sum += k * k * k / 3 + k * k * (6 + s) + k * s * (12 + s) + 20 * k + (places[p].in_place ? 0 : 2 * (k + s) * (k + s));
  }
  return sum;
}

std::size_t TreePlan::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(places) + of(groups) + of(order) + of(row_of_column) + of(column_in_parent) + of(end_column) + of(closing_column);
}

}  // namespace osier::direct
