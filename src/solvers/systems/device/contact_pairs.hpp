// The pairs that may touch, found by kernels: contact/candidates.hpp with a thread for each segment.
//
// Every box is entered into all cells of a uniform grid that it overlaps, which are sorted by counting; a pair is found in the
// first cell that both share. Boxes that would take many cells are compared with all others. Pairs are counted, then written,
// each row in ascending order: the list is the same for any order of threads, and the same as the host's.
#pragma once

#include <cmath>
#include <limits>

#include "exec/scan.hpp"
#include "solvers/systems/device/contact_view.hpp"
#include "solvers/systems/device/device_state.hpp"

namespace osier::systems {

/// The sizes of boxes.
struct BoxSizes {
  static constexpr Index kChunk = 256;
  double sum = 0;
  Vec3d low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
            std::numeric_limits<double>::infinity()};
  Index count = 0;
};

using GridCell = std::array<std::int32_t, 3>;
struct CellRange {
  GridCell low, high;
};
struct CellEntry {
  GridCell cell;
  Index segment;
};

struct PairGrid {
  ContactTables tables;
  const Vec3d* x;
  const double* ball;  ///< per vertex
  contact::Box* box;
  CellRange* range;
  std::uint8_t* is_long;
  Index *bucket_start, *cursor, *longs, *long_count;
  CellEntry* entry;
  Index buckets = 0;  ///< a power of two
  double width = 1;
  Vec3d origin;

  OSIER_FN double ball_of(Index s) const {
    const auto& v = tables.segment_vertices[s];
    return larger(ball[v[0]], ball[v[1]]);
  }
  OSIER_FN Index bucket_of(const GridCell& c) const {
    std::uint32_t key = 0;
    for (std::size_t i = 0; i < 3; ++i) key = (key ^ static_cast<std::uint32_t>(c[i])) * 0x9E3779B1u, key ^= key >> 15;
    return static_cast<Index>(key & static_cast<std::uint32_t>(buckets - 1));
  }
  OSIER_FN bool is_pair(Index a, Index b, Pair& pair) const {
    if (!contact::overlap(box[a], box[b])) return false;
    const contact::Neighbour* neighbour = tables.neighbour_of(a, b);
    if (neighbour != nullptr && neighbour->core < 0) return false;
    pair.a = a, pair.b = b, pair.feature = -1, pair.pushes = neighbour == nullptr;
    const double most = contact::reach_of(tables.radius[a]) + contact::reach_of(tables.radius[b]) + ball_of(a) + ball_of(b);
    if (tables.plain_distance(pair, x) > contact::kListRounding * most) return false;
    pair.core = neighbour != nullptr ? neighbour->core : contact::core_of(tables.radius[a], tables.radius[b]);
    return true;
  }
  OSIER_FN static bool is_same(const GridCell& a, const GridCell& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }
  template <class F>
  OSIER_FN static void each_cell(const CellRange& r, const F& f) {
    for (std::int32_t i = r.low[0]; i <= r.high[0]; ++i)
      for (std::int32_t j = r.low[1]; j <= r.high[1]; ++j)
        for (std::int32_t k = r.low[2]; k <= r.high[2]; ++k) f(GridCell{i, j, k});
  }
  OSIER_FN GridCell cell_at(const Vec3d& place_of) const {
    // Far away from everything else, cells are as good as one.
    const auto place = [&](double at, double from) {
      return static_cast<std::int32_t>(smaller(larger(std::floor((at - from) / width), -1e9), 1e9));
    };
    return {place(place_of.x, origin.x), place(place_of.y, origin.y), place(place_of.z, origin.z)};
  }
  /// Calls f(pair) for every pair whose first segment is a, those with obstacles first.
  template <class F>
  OSIER_FN void each_pair(Index a, const F& f) const {
    if (!tables.segment_alive[a]) return;
    Pair pair;
    for (Index o = tables.obstacles - 1; o >= 0; --o) {
      if (tables.attached != nullptr && tables.attached[static_cast<std::ptrdiff_t>(o) * tables.segments + a]) continue;
      if (!tables.obstacle[o].shape.is_near(box[a])) continue;
      pair.a = a, pair.b = -1 - o, pair.feature = 0, pair.pushes = true, pair.core = contact::core_of(tables.radius[a], 0);
      f(pair);
    }
    if (!tables.rods_touch) return;
    const auto consider = [&](Index b) {
      if (b > a && tables.segment_alive[b] && is_pair(a, b, pair)) f(pair);
    };
    if (is_long[a]) {
      for (Index b = a + 1; b < tables.segments; ++b) consider(b);
      return;
    }
    const CellRange own = range[a];
    each_cell(own, [&](const GridCell& at) {
      const Index bucket = bucket_of(at);
      for (Index e = bucket_start[bucket]; e < bucket_start[bucket + 1]; ++e) {
        const Index b = entry[e].segment;
        if (b <= a || !is_same(entry[e].cell, at)) continue;
        const GridCell other = range[b].low;
        bool first = true;  // of the cells that both share
        for (std::size_t i = 0; i < 3; ++i) first = first && at[i] == (own.low[i] > other[i] ? own.low[i] : other[i]);
        if (first) consider(b);
      }
    });
    for (Index e = 0; e < *long_count; ++e) consider(longs[e]);
  }
};

struct PutBoxes {
  PairGrid grid;
  OSIER_FN void operator()(Index s) const {
    if (!grid.tables.segment_alive[s]) return;
    const auto& v = grid.tables.segment_vertices[s];
    grid.box[s] = contact::box_around(grid.x[v[0]], grid.x[v[1]], contact::reach_of(grid.tables.radius[s]), grid.ball_of(s));
  }
};
struct MeasureBoxes {
  PairGrid grid;
  BoxSizes* sizes;
  OSIER_FN void operator()(Index chunk) const {
    BoxSizes all;
    const Index end = (chunk + 1) * BoxSizes::kChunk;
    for (Index s = chunk * BoxSizes::kChunk; s < grid.tables.segments && s < end; ++s) {
      if (!grid.tables.segment_alive[s]) continue;
      const contact::Box& box = grid.box[s];
      const double size = contact::extent(box);
      all.sum += size, ++all.count;
      all.low = {smaller(all.low.x, box.low.x), smaller(all.low.y, box.low.y), smaller(all.low.z, box.low.z)};
    }
    sizes[chunk] = all;
  }
};
struct PutCells {
  PairGrid grid;
  OSIER_FN void operator()(Index s) const {
    constexpr double kMostCells = 64;  ///< of a box that is entered into the grid
    grid.is_long[s] = 0;
    if (!grid.tables.segment_alive[s]) return;
    const CellRange r{grid.cell_at(grid.box[s].low), grid.cell_at(grid.box[s].high)};
    double count = 1;
    for (std::size_t i = 0; i < 3; ++i) count *= static_cast<double>(r.high[i]) - r.low[i] + 1;
    grid.range[s] = r;
    if (!(count <= kMostCells)) {
      grid.is_long[s] = 1;
      grid.longs[take_number(grid.long_count)] = s;
      return;
    }
    PairGrid::each_cell(r, [&](const GridCell& at) { take_number(grid.bucket_start + grid.bucket_of(at)); });
  }
};
struct FillCells {
  PairGrid grid;
  OSIER_FN void operator()(Index s) const {
    if (!grid.tables.segment_alive[s] || grid.is_long[s]) return;
    PairGrid::each_cell(grid.range[s], [&](const GridCell& at) {
      const Index bucket = grid.bucket_of(at);
      grid.entry[grid.bucket_start[bucket] + take_number(grid.cursor + bucket)] = {at, s};
    });
  }
};
struct CountPairs {
  PairGrid grid;
  Index* start;
  OSIER_FN void operator()(Index a) const {
    Index count = 0;
    if (a < grid.tables.segments) grid.each_pair(a, [&](const Pair&) { ++count; });
    start[a] = count;
  }
};
struct FillPairs {
  PairGrid grid;
  const Index* start;
  Pair* pairs;
  OSIER_FN void operator()(Index a) const {
    Index filled = start[a];
    grid.each_pair(a, [&](const Pair& pair) {
      Index at = filled++;
      for (; at > start[a] && pair < pairs[at - 1]; --at) pairs[at] = pairs[at - 1];
      pairs[at] = pair;
    });
  }
};
template <class T>
struct FillWith {
  T* list;
  T value;
  OSIER_FN void operator()(Index i) const { list[i] = value; }
};

inline namespace OSIER_BACKEND_NAMESPACE {

/// Memory that grows and does not shrink.
template <class T>
class Room {
 public:
  explicit Room(Backend where) : where_(where) {}
  /// What is in it is lost when it grows.
  T* make(std::size_t size) {
    if (buffer_.size() < size) buffer_ = Buffer<T>(where_, size + size / 4);
    return buffer_.data();
  }
  T* data() const { return buffer_.data(); }
  /// The first ones.
  std::vector<T> get(std::size_t count) const {
    std::vector<T> list(count);
    buffer_.copy_to(list.data(), count);
    return list;
  }
  void read(std::size_t at, T& to) const { buffer_.copy_to(&to, 1, at); }
  void put(const std::vector<T>& from) {
    make(from.size());
    buffer_.copy_from(from.data(), from.size());
  }
  void swap(Room& other) { std::swap(buffer_, other.buffer_); }

 private:
  Backend where_;
  Buffer<T> buffer_;
};

class PairFinder {
 public:
  explicit PairFinder(Backend where) : where_(where) {}

  /// Finds the pairs for positions and balls in memory of the backend. Returns how many there are; the list is made unless these
  /// are more than `most`.
  Index find(const ContactTables& tables, const Vec3d* x, const double* ball, Index most = std::numeric_limits<Index>::max()) {
    const Index n = tables.segments;
    const auto size = static_cast<std::size_t>(n);
    PairGrid grid{.tables = tables,
                  .x = x,
                  .ball = ball,
                  .box = box_.make(size),
                  .range = range_.make(size),
                  .is_long = is_long_.make(size),
                  .bucket_start = nullptr,
                  .cursor = nullptr,
                  .longs = longs_.make(size),
                  .long_count = count_.make(1),
                  .entry = nullptr,
                  .origin = {}};
    grid.buckets = 64;
    while (grid.buckets < 4 * n) grid.buckets *= 2;
    const Index rows = grid.buckets + 1;
    grid.bucket_start = bucket_start_.make(static_cast<std::size_t>(rows));
    grid.cursor = cursor_.make(static_cast<std::size_t>(rows));
    launch(where_, n, PutBoxes{grid});
    choose_width(grid);
    for (int attempt = 0;; ++attempt, grid.width *= 2) {
      launch(where_, 1, FillWith<Index>{grid.long_count, 0});
      launch(where_, rows, FillWith<Index>{grid.bucket_start, 0});
      launch(where_, n, PutCells{grid});
      if (count_.get(1)[0] <= 8 + n / 512 || attempt == 24) break;
    }
    scan_.run(grid.bucket_start, rows);
    Index entries = 0;
    bucket_start_.read(static_cast<std::size_t>(grid.buckets), entries);
    grid.entry = entry_.make(static_cast<std::size_t>(entries));
    launch(where_, rows, FillWith<Index>{grid.cursor, 0});
    launch(where_, n, FillCells{grid});
    Index* start = start_.make(size + 1);
    launch(where_, n + 1, CountPairs{grid, start});
    scan_.run(start, n + 1);
    Index count = 0;
    start_.read(size, count);
    if (count > most) return count;
    Pair* pairs = pairs_.make(static_cast<std::size_t>(count));
    launch(where_, n, FillPairs{grid, start, pairs});
    return count;
  }
  PairList list() const { return {pairs_.data(), start_.data()}; }
  Pair* pairs() const { return pairs_.data(); }
  std::vector<Pair> get(Index count) const { return pairs_.get(static_cast<std::size_t>(count)); }
  void put(const std::vector<Pair>& pairs, const std::vector<Index>& start) { pairs_.put(pairs), start_.put(start); }
  void swap(PairFinder& other) { pairs_.swap(other.pairs_), start_.swap(other.start_); }

 private:
  /// Cells of twice the mean size of boxes.
  void choose_width(PairGrid& grid) {
    const Index chunks = (grid.tables.segments + BoxSizes::kChunk - 1) / BoxSizes::kChunk;
    launch(where_, chunks, MeasureBoxes{grid, sizes_.make(static_cast<std::size_t>(chunks))});
    BoxSizes all;
    for (const BoxSizes& some : sizes_.get(static_cast<std::size_t>(chunks))) {
      all.sum += some.sum, all.count += some.count;
      all.low = {std::min(all.low.x, some.low.x), std::min(all.low.y, some.low.y), std::min(all.low.z, some.low.z)};
    }
    grid.origin = all.low;
    grid.width = all.count > 0 ? 2 * all.sum / all.count : 1;
    if (!(grid.width > 0 && std::isfinite(grid.width))) grid.width = 1;
  }

  Backend where_;
  Scan scan_{where_};
  Room<contact::Box> box_{where_};
  Room<CellRange> range_{where_};
  Room<CellEntry> entry_{where_};
  Room<std::uint8_t> is_long_{where_};
  Room<Index> bucket_start_{where_}, cursor_{where_}, longs_{where_}, count_{where_}, start_{where_};
  Room<BoxSizes> sizes_{where_};
  Room<Pair> pairs_{where_};
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::systems
