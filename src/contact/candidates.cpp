#include "contact/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/segment_gap.hpp"

namespace osier::contact {

namespace {

constexpr double kMostCells = 64;  ///< of a box that is entered into the grid

double reach(const Contacts& contacts, Index s) { return reach_of(contacts.radius(s)); }

double ball_of(const Model& m, const std::vector<double>& ball, Index s) {
  const auto [a, b] = m.segment_vertices[s];
  return std::max(ball[a], ball[b]);
}

Box box_of(const Contacts& contacts, const Model& m, const std::vector<Vec3d>& x, const std::vector<double>& ball, Index s) {
  const auto [a, b] = m.segment_vertices[s];
  return box_around(x[a], x[b], reach(contacts, s), ball_of(m, ball, s));
}

/// Compared number by number: the comparison of arrays is a call.
bool same_cell(const std::array<std::int32_t, 3>& a, const std::array<std::int32_t, 3>& b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/// Whether two segments are a pair that can come near each other, and what kind of one.
bool is_pair(const Contacts& contacts, const Model& m, const std::vector<Vec3d>& x, const std::vector<double>& ball, Index a,
             Index b, Pair& pair) {
  const Neighbour* neighbour = contacts.neighbour(a, b);
  if (neighbour && neighbour->core < 0) return false;
  const auto [a0, a1] = m.segment_vertices[a];
  const auto [b0, b1] = m.segment_vertices[b];
  const double distance = nearest_points({{x[a0], x[a1]}, {x[b0], x[b1]}}, 0, 0).distance;
  const double most = reach(contacts, a) + reach(contacts, b) + ball_of(m, ball, a) + ball_of(m, ball, b);
  if (distance > kListRounding * most) return false;
  pair = {.a = a, .b = b, .feature = -1, .pushes = !neighbour, .core = neighbour ? neighbour->core : contacts.core(a, b)};
  return true;
}

void add_obstacles(const Contacts& contacts, const Box& box, Index s, std::vector<Index>& features, std::vector<Pair>& pairs) {
  const auto& obstacles = contacts.obstacles();
  for (std::size_t o = obstacles.size(); o-- > 0;) {  // b = -1 - o ascends
    if (contacts.is_attached(s, o)) continue;
    features.clear();
    obstacles[o]->features_near(box, features);
    for (const Index f : features)
      pairs.push_back({.a = s, .b = -1 - static_cast<Index>(o), .feature = f, .pushes = true, .core = contacts.core(s)});
  }
}

}  // namespace

double Candidates::Cells::count() const {
  double n = 1;
  for (std::size_t i = 0; i < 3; ++i) n *= static_cast<double>(high[i]) - low[i] + 1;
  return n;
}

Candidates::Cells Candidates::cells_of(const Box& box) const {
  // Far away from everything else, cells are as good as one.
  const auto place = [&](double x, double from) {
    return static_cast<std::int32_t>(std::clamp(std::floor((x - from) / cell_), -1e9, 1e9));
  };
  return {{place(box.low.x, origin_.x), place(box.low.y, origin_.y), place(box.low.z, origin_.z)},
          {place(box.high.x, origin_.x), place(box.high.y, origin_.y), place(box.high.z, origin_.z)}};
}

std::size_t Candidates::bucket_of(const std::array<std::int32_t, 3>& cell) const {
  std::uint64_t key = 0;
  for (const std::int32_t c : cell) key = (key ^ static_cast<std::uint32_t>(c)) * 0x9E3779B97F4A7C15ULL, key ^= key >> 29;
  return static_cast<std::size_t>(key) & (start_.size() - 2);
}

/// Cells of twice the mean size of boxes, or larger where boxes differ much. What still takes many cells is long.
void Candidates::choose_cell(const Model& m) {
  double sum = 0, count = 0;
  origin_ = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
             std::numeric_limits<double>::infinity()};
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    sum += extent(box_[s]);
    ++count;
    const Vec3d& low = box_[s].low;
    origin_ = {std::min(origin_.x, low.x), std::min(origin_.y, low.y), std::min(origin_.z, low.z)};
  }
  cell_ = count > 0 && sum > 0 && std::isfinite(sum) ? 2 * sum / count : 1;
  cells_.resize(box_.size());
  is_long_.assign(box_.size(), 0);
  for (int attempt = 0;; ++attempt, cell_ *= 2) {
    double longs = 0;
    for (Index s = 0; s < m.segment_count(); ++s) {
      if (!m.segment_alive[s]) continue;
      cells_[s] = cells_of(box_[s]);
      is_long_[s] = !(cells_[s].count() <= kMostCells);
      longs += is_long_[s];
    }
    if (longs <= 8 + 0.002 * count || attempt == 24) break;
  }
  long_.clear();
  for (Index s = 0; s < m.segment_count(); ++s)
    if (is_long_[s]) long_.push_back(s);
}

/// Sorts boxes into buckets by counting.
void Candidates::fill(const Model& m) {
  const auto each_cell = [&](Index s, const auto& f) {
    const Cells& c = cells_[s];
    for (std::int32_t i = c.low[0]; i <= c.high[0]; ++i)
      for (std::int32_t j = c.low[1]; j <= c.high[1]; ++j)
        for (std::int32_t k = c.low[2]; k <= c.high[2]; ++k) f(std::array<std::int32_t, 3>{i, j, k});
  };
  std::size_t entries = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s] && !is_long_[s]) entries += static_cast<std::size_t>(cells_[s].count());
  std::size_t buckets = 64;
  while (buckets < entries) buckets *= 2;
  start_.assign(buckets + 1, 0);
  const auto each_entry = [&](const auto& f) {
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_alive[s] && !is_long_[s]) each_cell(s, [&](const auto& cell) { f(s, cell); });
  };
  each_entry([&](Index, const auto& cell) { ++start_[bucket_of(cell) + 1]; });
  for (std::size_t b = 0; b < buckets; ++b) start_[b + 1] += start_[b];
  entry_.resize(entries);
  // Filling moves every start to the one after it; afterwards they are moved back.
  each_entry([&](Index s, const auto& cell) { entry_[start_[bucket_of(cell)]++] = {cell, s}; });
  for (std::size_t b = buckets; b > 0; --b) start_[b] = start_[b - 1];
  start_[0] = 0;
}

void Candidates::find(const Contacts& contacts, const Model& m, const std::vector<Vec3d>& x, const std::vector<double>& ball,
                      const Executor& executor, std::vector<Pair>& pairs) {
  const auto segments = static_cast<std::size_t>(m.segment_count());
  box_.resize(segments);
  executor.for_each(segments, [&](std::size_t i) {
    if (m.segment_alive[i]) box_[i] = box_of(contacts, m, x, ball, static_cast<Index>(i));
  });
  if (contacts.rods_touch()) {
    choose_cell(m);
    fill(m);
  }
  const std::size_t chunks = (segments + kChunk - 1) / kChunk;
  found_.resize(std::max(found_.size(), chunks));
  const auto find_of = [&](Index a, std::vector<Index>& others, std::vector<Pair>& out) {
    if (!m.segment_alive[a]) return;
    add_obstacles(contacts, box_[a], a, others, out);
    if (!contacts.rods_touch()) return;
    others.clear();
    const auto consider = [&](Index b) {
      if (b > a && overlap(box_[a], box_[b])) others.push_back(b);
    };
    if (is_long_[a]) {
      for (Index b = a + 1; b < m.segment_count(); ++b)
        if (m.segment_alive[b]) consider(b);
    } else {
      const Cells& own = cells_[a];
      std::array<std::int32_t, 3> cell;
      for (cell[0] = own.low[0]; cell[0] <= own.high[0]; ++cell[0])
        for (cell[1] = own.low[1]; cell[1] <= own.high[1]; ++cell[1])
          for (cell[2] = own.low[2]; cell[2] <= own.high[2]; ++cell[2]) {
            const std::size_t bucket = bucket_of(cell);
            for (std::size_t e = start_[bucket]; e < start_[bucket + 1]; ++e) {
              const Entry& entry = entry_[e];
              if (entry.segment <= a || !same_cell(entry.cell, cell)) continue;
              const Cells& other = cells_[entry.segment];
              bool first = true;  // of the cells that both share
              for (std::size_t i = 0; i < 3; ++i) first = first && cell[i] == std::max(own.low[i], other.low[i]);
              if (first) consider(entry.segment);
            }
          }
      for (const Index b : long_) consider(b);
    }
    std::sort(others.begin(), others.end());
    Pair pair;
    for (const Index b : others)
      if (is_pair(contacts, m, x, ball, a, b, pair)) out.push_back(pair);
  };
  executor.for_each(
      chunks,
      [&](std::size_t chunk) {
        std::vector<Pair>& out = found_[chunk];
        out.clear();
        std::vector<Index> others;
        const std::size_t end = std::min(segments, (chunk + 1) * kChunk);
        for (std::size_t a = chunk * kChunk; a < end; ++a) find_of(static_cast<Index>(a), others, out);
      },
      kChunk);
  pairs.clear();
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) pairs.insert(pairs.end(), found_[chunk].begin(), found_[chunk].end());
}

void Candidates::find_by_brute_force(const Contacts& contacts, const Model& m, const std::vector<Vec3d>& x,
                                     const std::vector<double>& ball, std::vector<Pair>& pairs) {
  pairs.clear();
  std::vector<Index> features;
  Pair pair;
  for (Index a = 0; a < m.segment_count(); ++a) {
    if (!m.segment_alive[a]) continue;
    add_obstacles(contacts, box_of(contacts, m, x, ball, a), a, features, pairs);
    for (Index b = a + 1; b < m.segment_count() && contacts.rods_touch(); ++b)
      if (m.segment_alive[b] && is_pair(contacts, m, x, ball, a, b, pair)) pairs.push_back(pair);
  }
}

}  // namespace osier::contact
