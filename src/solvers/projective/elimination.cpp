#include "solvers/projective/elimination.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace osier::projective {

namespace {

/// The graph of what is left, with what elimination fills in.
class Remaining {
 public:
  Remaining(Index nodes, std::span<const std::array<Index, 2>> edges) : neighbours_(static_cast<std::size_t>(nodes)) {
    for (const auto& [a, b] : edges) connect(a, b);
  }
  Index degree(Index i) const { return static_cast<Index>(neighbours_[static_cast<std::size_t>(i)].size()); }
  /// Takes a node out. Returns its neighbours, which are now connected with each other.
  std::vector<Index> take(Index i) {
    std::set<Index>& own = neighbours_[static_cast<std::size_t>(i)];
    std::vector<Index> around(own.begin(), own.end());
    own.clear();
    for (const Index a : around) neighbours_[static_cast<std::size_t>(a)].erase(i);
    for (std::size_t k = 0; k < around.size(); ++k)
      for (std::size_t n = k + 1; n < around.size(); ++n) connect(around[k], around[n]);
    return around;
  }

 private:
  void connect(Index a, Index b) {
    neighbours_[static_cast<std::size_t>(a)].insert(b);
    neighbours_[static_cast<std::size_t>(b)].insert(a);
  }
  std::vector<std::set<Index>> neighbours_;
};

}  // namespace

Elimination eliminate(Index nodes, std::span<const std::array<Index, 2>> edges) {
  Remaining graph(nodes, edges);
  Elimination e;
  std::vector<std::vector<Index>> column;  // of each place, by nodes
  std::vector<Index> place(static_cast<std::size_t>(nodes), -1);
  const auto take = [&](Index i) {
    place[static_cast<std::size_t>(i)] = static_cast<Index>(e.order.size());
    e.order.push_back(i);
    column.push_back(graph.take(i));
    return column.back();
  };
  // Leaves, one after the other along a chain, so that its unknowns keep their order.
  for (Index i = 0; i < nodes; ++i)
    for (Index leaf = i; leaf >= 0 && place[static_cast<std::size_t>(leaf)] < 0 && graph.degree(leaf) <= 1;) {
      const std::vector<Index> next = take(leaf);
      leaf = next.empty() ? -1 : next.front();
    }
  // The core.
  std::set<std::pair<Index, Index>> by_degree;
  for (Index i = 0; i < nodes; ++i)
    if (place[static_cast<std::size_t>(i)] < 0) by_degree.emplace(graph.degree(i), i);
  std::vector<Index> degree(static_cast<std::size_t>(nodes));
  for (const auto& [d, i] : by_degree) degree[static_cast<std::size_t>(i)] = d;
  while (!by_degree.empty()) {
    const Index i = by_degree.begin()->second;
    by_degree.erase(by_degree.begin());
    for (const Index other : take(i)) {
      const auto n = static_cast<std::size_t>(other);
      by_degree.erase({degree[n], other});
      degree[n] = graph.degree(other);
      by_degree.emplace(degree[n], other);
    }
  }
  e.column_start.assign(1, 0);
  for (std::vector<Index>& c : column) {
    for (Index& i : c) i = place[static_cast<std::size_t>(i)];
    std::sort(c.begin(), c.end());
    e.row.insert(e.row.end(), c.begin(), c.end());
    e.column_start.push_back(e.entries());
  }
  const auto entry_of = [&](Index a, Index b) {
    const Index first = std::min(a, b), second = std::max(a, b);
    const auto begin = e.row.begin() + e.column_start[static_cast<std::size_t>(first)];
    const auto end = e.row.begin() + e.column_start[static_cast<std::size_t>(first) + 1];
    return static_cast<Index>(std::lower_bound(begin, end, second) - e.row.begin());
  };
  for (const auto& [a, b] : edges)
    e.edge_entry.push_back(entry_of(place[static_cast<std::size_t>(a)], place[static_cast<std::size_t>(b)]));
  e.update_start.assign(1, 0);
  for (Index c = 0; c < nodes; ++c) {
    const Index begin = e.column_start[static_cast<std::size_t>(c)], end = e.column_start[static_cast<std::size_t>(c) + 1];
    for (Index a = begin; a < end; ++a)
      for (Index b = a + 1; b < end; ++b)
        e.update.push_back({entry_of(e.row[static_cast<std::size_t>(a)], e.row[static_cast<std::size_t>(b)]), a, b});
    e.update_start.push_back(static_cast<Index>(e.update.size()));
  }
  for (std::vector<Index>* list : {&e.order, &e.column_start, &e.row, &e.edge_entry, &e.update_start}) list->shrink_to_fit();
  e.update.shrink_to_fit();
  return e;
}

std::size_t Elimination::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(order) + of(column_start) + of(row) + of(edge_entry) + of(update_start) + of(update);
}

EliminationView view_of(const Elimination& e) {
  return {static_cast<Index>(e.order.size()),
          e.column_start.data(),
          e.row.data(),
          e.edge_entry.data(),
          e.update_start.data(),
          e.update.data()};
}

}  // namespace osier::projective
