#include "solvers/deti/block_fronts.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>

#include "exec/simd_dispatch.hpp"

namespace osier::deti {

namespace {

constexpr int N = kUnknowns;
constexpr std::size_t kBlock = N * N;

/// Sections in the order of their elimination.
std::vector<Index> minimum_degree(Index sections, const std::vector<std::array<Index, 2>>& pairs) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index s = 0; s < sections; ++s) entries.emplace_back(s, s, 1);
  for (const auto& [a, b] : pairs) {
    entries.emplace_back(a, b, 1);
    entries.emplace_back(b, a, 1);
  }
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> graph(sections, sections);
  graph.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(graph, order);
  return {order.indices().data(), order.indices().data() + sections};
}

/// Parents of the elimination tree [Liu 1990], of sections by their numbers in the order; -1: a root.
std::vector<Index> elimination_tree(const std::vector<std::vector<Index>>& earlier) {
  std::vector<Index> parent(earlier.size(), -1), ancestor(earlier.size(), -1);
  for (std::size_t j = 0; j < earlier.size(); ++j)
    for (Index i : earlier[j])
      while (i != -1 && i < static_cast<Index>(j)) {
        const Index next = ancestor[static_cast<std::size_t>(i)];
        ancestor[static_cast<std::size_t>(i)] = static_cast<Index>(j);
        if (next == -1) parent[static_cast<std::size_t>(i)] = static_cast<Index>(j);
        i = next;
      }
  return parent;
}

/// Numbers such that children come before their parents and everything below a node comes right before it.
std::vector<Index> postorder(const std::vector<Index>& parent) {
  std::vector<std::vector<Index>> children(parent.size());
  std::vector<Index> roots, order;
  for (std::size_t i = parent.size(); i-- > 0;)
    (parent[i] < 0 ? roots : children[static_cast<std::size_t>(parent[i])]).push_back(static_cast<Index>(i));
  std::vector<std::pair<Index, bool>> stack;
  for (const Index root : roots) stack.emplace_back(root, false);
  while (!stack.empty()) {
    const auto [node, is_done] = stack.back();
    stack.pop_back();
    if (is_done) {
      order.push_back(node);
      continue;
    }
    stack.emplace_back(node, true);
    for (const Index c : children[static_cast<std::size_t>(node)]) stack.emplace_back(c, false);
  }
  return order;
}

std::vector<std::vector<Index>> earlier_neighbours(const std::vector<Index>& number,
                                                   const std::vector<std::array<Index, 2>>& pairs) {
  std::vector<std::vector<Index>> earlier(number.size());
  for (const auto& [a, b] : pairs) {
    const Index i = number[static_cast<std::size_t>(a)], j = number[static_cast<std::size_t>(b)];
    earlier[static_cast<std::size_t>(std::max(i, j))].push_back(std::min(i, j));
  }
  return earlier;
}

std::vector<Index> inverse_of(const std::vector<Index>& order) {
  std::vector<Index> number(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) number[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
  return number;
}

}  // namespace

BlockFronts::BlockFronts(int threads, Simd simd)
    : executor_(threads), kernel_(with_simd(simd, []<Simd S>() -> const FibreKernel& { return fibre_kernel_for<S>(); })) {}

void BlockFronts::arrange(Index sections, const std::vector<std::array<Index, 2>>& pairs) {
  sections_ = sections;
  std::vector<Index> order = minimum_degree(sections, pairs);
  const std::vector<Index> post = postorder(elimination_tree(earlier_neighbours(inverse_of(order), pairs)));
  std::vector<Index> sorted;
  for (const Index i : post) sorted.push_back(order[static_cast<std::size_t>(i)]);
  find_fronts(sorted, pairs);
  share_work();
}

/// In the order every section meets those that it has blocks with, and those that its children meet.
void BlockFronts::find_fronts(const std::vector<Index>& order, const std::vector<std::array<Index, 2>>& pairs) {
  const auto n = order.size();
  const std::vector<Index> number = inverse_of(order);
  const std::vector<std::vector<Index>> earlier = earlier_neighbours(number, pairs);
  const std::vector<Index> parent = elimination_tree(earlier);
  std::vector<std::vector<Index>> met(n);  // by number, ascending
  for (std::size_t j = 0; j < n; ++j)
    for (const Index i : earlier[j]) met[static_cast<std::size_t>(i)].push_back(static_cast<Index>(j));
  std::vector<std::size_t> front_of(n);
  fronts_.clear();
  const auto tidy = [](std::vector<Index>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  std::vector<std::vector<std::size_t>> children(n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<Index>& own = met[j];
    for (const std::size_t c : children[j])
      for (const Index i : met[c])
        if (i != static_cast<Index>(j)) own.push_back(i);
    tidy(own);
    if (parent[j] >= 0) children[static_cast<std::size_t>(parent[j])].push_back(j);
    // A section that meets what the one before it meets, but for itself, goes into its front.
    const bool follows = j > 0 && parent[j - 1] == static_cast<Index>(j) && met[j - 1].size() == own.size() + 1;
    if (!follows) fronts_.emplace_back();
    Front& f = fronts_.back();
    f.sections.push_back(static_cast<Index>(j));
    ++f.pivots;
    front_of[j] = fronts_.size() - 1;
  }
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    Front& f = fronts_[i];
    const auto last = static_cast<std::size_t>(f.sections.back());
    f.sections.insert(f.sections.end(), met[last].begin(), met[last].end());
    f.rows = numbers;
    numbers += static_cast<std::size_t>(f.pivots) * f.size() * kBlock;
    if (parent[last] >= 0) fronts_[front_of[static_cast<std::size_t>(parent[last])]].children.push_back(i);
  }
  rows_.assign(numbers, 0.0);
  carried_.resize(fronts_.size());
  const auto place_in = [](const Front& f, Index section) {
    return static_cast<std::size_t>(std::lower_bound(f.sections.begin(), f.sections.end(), section) - f.sections.begin());
  };
  for (const Front& f : fronts_)
    for (const std::size_t c : f.children) {
      Front& child = fronts_[c];
      for (std::size_t k = static_cast<std::size_t>(child.pivots); k < child.size(); ++k)
        child.place.push_back(place_in(f, child.sections[k]));
    }
  entry_.resize(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Index a = number[static_cast<std::size_t>(pairs[p][0])], b = number[static_cast<std::size_t>(pairs[p][1])];
    Front& f = fronts_[front_of[static_cast<std::size_t>(std::min(a, b))]];
    f.pairs.push_back(p);
    entry_[p] = {.row = place_in(f, std::min(a, b)), .column = place_in(f, std::max(a, b)), .turned = b < a};
  }
  for (Front& f : fronts_)
    for (Index& s : f.sections) s = order[static_cast<std::size_t>(s)];
}

/// Trees of fronts that are small beside the whole go to single threads.
void BlockFronts::share_work() {
  constexpr double kShare = 1.0 / 64;
  double whole = 0;
  std::vector<std::uint8_t> is_root(fronts_.size(), 1);
  for (Front& f : fronts_) {
    const auto size = static_cast<double>(f.size());
    for (Index k = 0; k < f.pivots; ++k) f.work += (size - k) * (size - k);
    whole += f.work;
    for (const std::size_t c : f.children) f.work += fronts_[c].work, is_root[c] = 0;
  }
  trees_.clear();
  top_.clear();
  const auto list_tree = [&](std::size_t root) {
    std::vector<std::size_t> tree{root};
    for (std::size_t i = 0; i < tree.size(); ++i)
      tree.insert(tree.end(), fronts_[tree[i]].children.begin(), fronts_[tree[i]].children.end());
    std::sort(tree.begin(), tree.end());
    return tree;
  };
  const double most = kShare * whole;
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    if (fronts_[i].work > most) {
      top_.push_back(i);
      for (const std::size_t c : fronts_[i].children)
        if (fronts_[c].work <= most) trees_.push_back(list_tree(c));
    } else if (is_root[i]) {
      trees_.push_back(list_tree(i));
    }
  }
}

template <class F>
void BlockFronts::upwards(const F& use) const {
  executor_.for_each_job(trees_.size(), [&](std::size_t i) {
    for (const std::size_t front : trees_[i]) use(front, false);
  });
  for (const std::size_t front : top_) use(front, true);
}

bool BlockFronts::factor(const Add& on_diagonal, const Add& between) {
  positive_ = true;
  upwards([&](std::size_t front, bool in_parallel) { eliminate(front, on_diagonal, between, in_parallel); });
  return positive_;
}

void BlockFronts::eliminate(std::size_t number, const Add& on_diagonal, const Add& between, bool in_parallel) {
  Front& f = fronts_[number];
  const std::size_t size = f.size(), pivots = static_cast<std::size_t>(f.pivots), met = f.met();
  double* const rows = rows_.data() + f.rows;
  const auto block = [&](std::size_t r, std::size_t c) {
    return r < pivots ? rows + (r * size + c) * kBlock : f.rest.data() + ((r - pivots) * met + (c - pivots)) * kBlock;
  };
  std::fill_n(rows, pivots * size * kBlock, 0.0);
  f.rest.assign(met * met * kBlock, 0.0);
  for (std::size_t r = 0; r < pivots; ++r) on_diagonal(static_cast<std::size_t>(f.sections[r]), block(r, r));
  for (const std::size_t p : f.pairs) {
    const Entry& e = entry_[p];
    double* const to = block(e.row, e.column);
    if (!e.turned) {
      between(p, to);
      continue;
    }
    double own[kBlock] = {};
    between(p, own);
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) to[r * N + c] += own[c * N + r];
  }
  for (const std::size_t c : f.children) {
    Front& child = fronts_[c];
    const std::size_t n = child.met();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) {
        const double* const from = child.rest.data() + (i * n + j) * kBlock;
        double* const to = block(child.place[i], child.place[j]);
        for (std::size_t k = 0; k < kBlock; ++k) to[k] += from[k];
      }
    child.rest = {};
  }
  const auto each_row = [&](std::size_t begin, const auto& use) {
    if (in_parallel)
      executor_.for_each(
          size - begin, [&](std::size_t i) { use(begin + i); }, size);
    else
      for (std::size_t i = begin; i < size; ++i) use(i);
  };
  for (std::size_t j = 0; j < pivots; ++j) {
    if (!kernel_.reduce(block(j, j), size - j)) positive_ = false;
    if (j + 1 == pivots) break;
    // Rows of later pivots only; the others take all pivots at once.
    for (std::size_t i = j + 1; i < pivots; ++i) kernel_.take_away(block(j, i), block(j, i), block(i, i), size - i);
  }
  each_row(pivots, [&](std::size_t i) {
    for (std::size_t j = 0; j < pivots; ++j) kernel_.take_away(block(j, i), block(j, i), block(i, i), size - i);
  });
}

void BlockFronts::forward(std::size_t number, double* x) const {
  const Front& f = fronts_[number];
  const std::size_t size = f.size(), pivots = static_cast<std::size_t>(f.pivots);
  std::vector<double>& rest = carried_[number];
  rest.assign(f.met() * N, 0.0);
  const auto at = [&](std::size_t k) {
    return k < pivots ? x + static_cast<std::size_t>(f.sections[k]) * N : rest.data() + (k - pivots) * N;
  };
  for (const std::size_t c : f.children)
    for (std::size_t i = 0; i < fronts_[c].met(); ++i) {
      double* const to = at(fronts_[c].place[i]);
      for (int k = 0; k < N; ++k) to[k] += carried_[c][i * N + static_cast<std::size_t>(k)];
    }
  for (std::size_t j = 0; j < pivots; ++j) {
    const double* const row = rows_.data() + f.rows + (j * size + j) * kBlock;
    double* const own = at(j);
    for (int r = 0; r < N; ++r) {
      own[r] /= row[r * N + r];
      for (int c = r + 1; c < N; ++c) own[c] -= row[r * N + c] * own[r];
    }
    for (std::size_t k = j + 1; k < size; ++k) {
      const double* const b = row + (k - j) * kBlock;
      double* const to = at(k);
      for (int r = 0; r < N; ++r)
        for (int c = 0; c < N; ++c) to[c] -= b[r * N + c] * own[r];
    }
  }
}

void BlockFronts::backward(std::size_t number, double* x) const {
  const Front& f = fronts_[number];
  const std::size_t size = f.size();
  for (std::size_t j = static_cast<std::size_t>(f.pivots); j-- > 0;) {
    const double* const row = rows_.data() + f.rows + (j * size + j) * kBlock;
    double* const own = x + static_cast<std::size_t>(f.sections[j]) * N;
    for (std::size_t k = j + 1; k < size; ++k) {
      const double* const b = row + (k - j) * kBlock;
      const double* const later = x + static_cast<std::size_t>(f.sections[k]) * N;
      for (int r = 0; r < N; ++r) {
        double sum = 0;
        for (int c = 0; c < N; ++c) sum += b[r * N + c] * later[c];
        own[r] -= sum;
      }
    }
    for (int r = N - 1; r >= 0; --r) {
      for (int c = r + 1; c < N; ++c) own[r] -= row[r * N + c] * own[c];
      own[r] /= row[r * N + r];
    }
  }
}

void BlockFronts::solve(double* x) const {
  upwards([&](std::size_t front, bool) { forward(front, x); });
  for (std::size_t i = top_.size(); i-- > 0;) backward(top_[i], x);
  executor_.for_each_job(trees_.size(), [&](std::size_t i) {
    for (std::size_t k = trees_[i].size(); k-- > 0;) backward(trees_[i][k], x);
  });
}

}  // namespace osier::deti
