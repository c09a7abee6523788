#include "solvers/systems/tree/tree_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "osier/error.hpp"

namespace osier::systems {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

/// The group of every root: trees that constraint rows connect are one group.
std::vector<int> TreePlan::group_roots(const std::vector<int>& parent, const std::vector<RowEnds>& rows, int& group_count) const {
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
  group_count = 0;
  for (int r = 0; r < roots_; ++r)
    if (find(r) == r) group_of[at(r)] = group_count++;
  for (int r = 0; r < roots_; ++r) group_of[at(r)] = group_of[at(find(r))];
  return group_of;
}

void TreePlan::build(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows,
                     const std::vector<int>& lift) {
  nodes_ = static_cast<int>(parent.size());
  roots_ = root_count;
  int group_count = 0;
  const std::vector<int> group_of = group_roots(parent, rows, group_count);
  places.assign(at(nodes_ + roots_ + group_count), {});
  for (int r = 0; r < roots_; ++r) places[at(root_place(r))].parent = group_place(group_of[at(r)]);
  for (int p = 0; p < nodes_; ++p) places[at(p)].parent = parent[at(p)];
  open_columns(rows, lift);
  split_into_jobs(group_count);
}

/// Finds where each row closes, then follows its way up, once to count columns and once to number them.
void TreePlan::open_columns(const std::vector<RowEnds>& rows, const std::vector<int>& lift) {
  std::vector<int> depth(places.size(), 0), closing(places.size(), 0), staying(places.size(), 0);
  for (int r = 0; r < roots_; ++r) depth[at(root_place(r))] = 1;
  for (int p = 0; p < nodes_; ++p) depth[at(p)] = depth[at(places[at(p)].parent)] + 1;
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
    // A root has no unknowns left, so its rows close at the group.
    for (; up > 0 && !is_group(close); --up) close = places[at(close)].parent;
    if (is_root(close)) close = places[at(close)].parent;
    ways[i] = {a, close};
    for (int p = close == a ? -1 : a; p >= 0 && p != close; p = places[at(p)].parent) ++staying[at(p)];
    for (int end : rows[i].place)
      for (int p = end; p >= 0 && p != a; p = places[at(p)].parent) ++staying[at(p)];
    ++closing[at(close)];
  }
  columns.clear();
  columns.reserve(static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [&](const PlacePlan& p) {
    const auto i = static_cast<std::size_t>(&p - places.data());
    return closing[i] + staying[i] > 0;
  })));
  closings.clear();
  closings.reserve(places.size() - static_cast<std::size_t>(std::count(closing.begin(), closing.end(), 0)));
  int count = 0, closed = 0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (closing[p] + staying[p] == 0) continue;
    if (closing[p] + staying[p] > std::numeric_limits<std::uint16_t>::max())
      throw RunError("the rods have too many loops for direct solves; use `method` sweep");
    places[p].columns = static_cast<int>(columns.size());
    ColumnPlan c{
        .first = count, .closing = static_cast<std::uint16_t>(closing[p]), .staying = static_cast<std::uint16_t>(staying[p])};
    if (c.closing > 0) {
      c.closing_at = static_cast<int>(closings.size());
      closings.push_back({.first_row = closed});
    }
    columns.push_back(c);
    count += closing[p] + staying[p];
    closed += closing[p];
  }
  column_in_parent.assign(at(count), 0);
  closing_row.assign(rows.size(), -1);
  end_column.assign(2 * rows.size(), -1);
  closing_column.assign(rows.size(), -1);
  std::vector<int>&next_closing = closing, &next_staying = staying;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (places[p].columns < 0) continue;
    const ColumnPlan& c = columns[at(places[p].columns)];
    next_closing[p] = c.first, next_staying[p] = c.first + c.closing;
  }
  const auto first_at = [&](int p) { return columns[at(places[at(p)].columns)].first; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    /// Walks upward from place to place. Returns the column of the first place, or that of the last if the first has none.
    const auto walk = [&](int from, int to, int column_at_end) {
      int below = -1, first = column_at_end;
      for (int p = from; p != to; p = places[at(p)].parent) {
        const int column = next_staying[at(p)]++;
        if (below < 0) first = column;
        else column_in_parent[at(below)] = static_cast<std::uint16_t>(column - first_at(p));
        below = column;
      }
      if (below >= 0) column_in_parent[at(below)] = static_cast<std::uint16_t>(column_at_end - first_at(to));
      return first;
    };
    const int close = ways[i].close, own = closing_column[i] = next_closing[at(close)]++;
    const ColumnPlan& there = columns[at(places[at(close)].columns)];
    closing_row[at(closing_at(there).first_row + own - there.first)] = static_cast<int>(i);
    const int meet = walk(ways[i].meet, close, own);
    for (int e = 0; e < 2; ++e)
      if (rows[i].place[e] >= 0) end_column[2 * i + at(e)] = walk(rows[i].place[e], ways[i].meet, meet);
  }
  for (int p = nodes_ + roots_; p-- > 0;) {
    const int c = places[at(p)].columns;
    if (c < 0 || columns[at(c)].staying == 0) continue;
    ColumnPlan& above = columns[at(places[at(places[at(p)].parent)].columns)];
    columns[at(c)].next_sibling = above.first_child;
    above.first_child = c;
  }
}

/// Numbers the places of a trunk and its branches, and assigns their memory.
void TreePlan::split_into_jobs(int group_count) {
  std::vector<int> child_start(places.size() + 1, 0), child(places.size());
  for (int p = 0; p < nodes_ + roots_; ++p) ++child_start[at(places[at(p)].parent) + 1];
  std::partial_sum(child_start.begin(), child_start.end(), child_start.begin());
  std::vector<int> next(child_start.begin(), child_start.end() - 1);
  for (int p = 0; p < nodes_ + roots_; ++p) child[at(next[at(places[at(p)].parent)]++)] = p;
  std::vector<double> below(places.size());  // work of a place and all places below it
  for (std::size_t p = 0; p < places.size(); ++p) below[p] = work_at(static_cast<int>(p));
  for (int p = nodes_; p-- > 0;) below[at(places[at(p)].parent)] += below[at(p)];
  for (int r = 0; r < roots_; ++r) below[at(places[at(root_place(r))].parent)] += below[at(root_place(r))];

  // 32 branches are enough for the usual numbers of threads. A branch is long enough to be worth waking a thread.
  constexpr double kBranches = 32, kLeast = 64 * kWorkOfLink;
  double all = 0;
  for (int g = 0; g < group_count; ++g) all += below[at(group_place(g))];
  const double light = std::max(all / kBranches, kLeast);
  std::vector<std::uint8_t> cut(places.size(), 0);  // places of the trunk with branches below them
  order.clear();
  order.reserve(at(nodes_ + roots_));
  branches.clear(), trunks.assign(at(group_count), {});
  workspace_size = closing_factor_size = closing_gain_size = 0;
  std::vector<int> stack, cuts;
  // Reversed preorder puts children before parents and keeps a subtree in one piece.
  const auto put_in_order = [&](int first) {
    while (!stack.empty()) {
      const int p = stack.back();
      stack.pop_back();
      if (!is_group(p)) order.push_back(p);
      for (int c = child_start[at(p) + 1]; !cut[at(p)] && c-- > child_start[at(p)];) stack.push_back(child[at(c)]);
    }
    std::reverse(order.begin() + first, order.end());
  };
  for (int g = 0; g < group_count; ++g) {
    // Walks downward as long as the subtree is too much work for one branch.
    cuts.clear();
    double trunk = below[at(group_place(g))];
    stack.assign(1, group_place(g));
    while (!stack.empty()) {
      const int p = stack.back();
      stack.pop_back();
      if (below[at(p)] <= light && p < nodes_) {
        if (child_start[at(p)] == child_start[at(p) + 1]) continue;
        cuts.push_back(p), trunk -= below[at(p)];
        continue;
      }
      for (int c = child_start[at(p) + 1]; c-- > child_start[at(p)];) stack.push_back(child[at(c)]);
    }
    // A group that is next to one chain stays in one piece.
    if (trunk > 0.75 * below[at(group_place(g))]) cuts.clear();
    for (int p : cuts) cut[at(p)] = 1;
    double work = 0;
    JobPlan job{.first_in_order = static_cast<int>(order.size())};
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const auto first = static_cast<int>(order.size());
      for (int c = child_start[at(cuts[i]) + 1]; c-- > child_start[at(cuts[i])];) stack.push_back(child[at(c)]);
      put_in_order(first);
      work += below[at(cuts[i])];
      if (work < 0.5 * light && i + 1 < cuts.size()) continue;
      job.last_in_order = static_cast<int>(order.size());
      lay_out(job, cut, -1);
      branches.push_back(job);
      job = {.first_in_order = static_cast<int>(order.size())};
      work = 0;
    }
    JobPlan& rest = trunks[at(g)];
    rest.first_in_order = static_cast<int>(order.size());
    stack.assign(1, group_place(g));
    put_in_order(rest.first_in_order);
    rest.last_in_order = static_cast<int>(order.size());
    lay_out(rest, cut, group_place(g));
  }
  branches.shrink_to_fit();
}

/// Assigns the workspace of a job, which is a stack: a place finds the compliances of its children on top. The compliances of a
/// branch stay in place for the trunk above it.
void TreePlan::lay_out(JobPlan& job, const std::vector<std::uint8_t>& cut, int group) {
  std::size_t top = workspace_size, peak = top, scratch = 0;
  const auto visit = [&](int p) {
    if (places[at(p)].columns < 0) return;
    ColumnPlan& here = columns[at(places[at(p)].columns)];
    std::size_t bottom = top;
    int children = 0;
    for (int c = here.first_child; c >= 0; c = columns[at(c)].next_sibling, ++children)
      if (!cut[at(p)]) bottom = std::min<std::size_t>(bottom, columns[at(c)].compliance);
    const ColumnPlan* only = children == 1 && !cut[at(p)] ? &columns[at(here.first_child)] : nullptr;
    bool in_place = only && here.closing == 0 && only->staying == here.staying;
    for (int i = 0; in_place && i < only->staying; ++i) in_place = column_in_parent[at(only->first + only->closing + i)] == i;
    here.in_place = in_place;
    const std::size_t k = at(here.closing), s = at(here.staying);
    here.compliance = static_cast<std::uint32_t>(bottom) & 0x7fffffffu;
    scratch = std::max({scratch, here.in_place ? 0 : packed(k + s), 6 * s});
    top = bottom + packed(s);
    peak = std::max(peak, top);
    if (k == 0) return;
    ClosingPlan& closes = closings[at(here.closing_at)];
    closes.factor = static_cast<std::uint32_t>(closing_factor_size);
    closing_factor_size += packed(k);
    closes.gain = static_cast<std::uint32_t>(closing_gain_size);
    closing_gain_size += k * s;
  };
  for (int i = job.first_in_order; i < job.last_in_order; ++i) visit(order[at(i)]);
  if (group >= 0) visit(group);
  job.scratch = peak;
  workspace_size = peak + scratch;
}

int TreePlan::most_columns() const {
  int most = 0;
  for (const ColumnPlan& c : columns) most = std::max(most, c.count());
  return most;
}

/// The work at a place: an estimate for columns that pass the link, a count for the rest.
double TreePlan::work_at(int p) const {
  double sum = p < nodes_ ? kWorkOfLink : 0;
  const ColumnPlan* c = columns_at(p);
  if (!c) return sum;
  const double k = c->closing, s = c->staying;
  if (p < nodes_) sum += kWorkOfColumn * s + 6 * s * s;
  return sum + k * k * k / 3 + k * k * (6 + s) + k * s * (12 + s) + 20 * k + (c->in_place ? 0 : 2 * (k + s) * (k + s));
}

double TreePlan::work() const {
  double sum = 0;
  for (std::size_t p = 0; p < places.size(); ++p) sum += work_at(static_cast<int>(p));
  return sum;
}

std::size_t TreePlan::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(places) + of(columns) + of(closings) + of(order) + of(branches) + of(trunks) + of(closing_row) +
         of(column_in_parent) + of(end_column) + of(closing_column);
}

}  // namespace osier::systems
