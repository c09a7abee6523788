#include "certificate/box_pairs.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace osier::certificate {

Bounds Bounds::nothing() {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  return {{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}};
}

void Bounds::include(const Vec3d& x, double margin) {
  low = {std::min(low.x, x.x - margin), std::min(low.y, x.y - margin), std::min(low.z, x.z - margin)};
  high = {std::max(high.x, x.x + margin), std::max(high.y, x.y + margin), std::max(high.z, x.z + margin)};
}

namespace {

double component(const Vec3d& x, int axis) { return axis == 0 ? x.x : axis == 1 ? x.y : x.z; }

/// The axes by the variance of the middles of boxes along them, the largest first.
std::array<int, 3> widest_axes(const std::vector<Bounds>& boxes, const std::vector<Index>& taken) {
  Vec3d mean;
  const double share = 1 / static_cast<double>(taken.size());
  const auto middle = [&](Index i) { return 0.5 * (boxes[i].low + boxes[i].high); };
  for (const Index i : taken) mean += share * middle(i);
  Vec3d variance;
  for (const Index i : taken) {
    const Vec3d d = middle(i) - mean;
    variance += times(d, d);
  }
  std::array<int, 3> axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return component(variance, a) > component(variance, b); });
  return axes;
}

/// Strips across an axis, so wide that most boxes lie in one or two of them.
class Strips {
 public:
  Strips(const std::vector<Bounds>& boxes, const std::vector<Index>& taken, int axis) : axis_(axis) {
    double size = 0, high = -std::numeric_limits<double>::infinity();
    for (const Index i : taken) {
      low_ = std::min(low_, component(boxes[i].low, axis)), high = std::max(high, component(boxes[i].high, axis));
      size += component(boxes[i].high - boxes[i].low, axis) / static_cast<double>(taken.size());
    }
    const double wanted = (high - low_) / (4 * size);
    if (wanted >= 2) count_ = static_cast<std::size_t>(std::min(wanted, kMost));
    width_ = (high - low_) / static_cast<double>(count_);
  }
  std::size_t count() const { return count_; }
  std::size_t first(const Bounds& box) const { return of(component(box.low, axis_)); }
  std::size_t last(const Bounds& box) const { return of(component(box.high, axis_)); }

 private:
  static constexpr double kMost = 4096;
  std::size_t of(double x) const {
    const double strip = (x - low_) / width_;
    return strip > 0 ? std::min(count_ - 1, static_cast<std::size_t>(std::min(strip, kMost))) : 0;
  }

  int axis_;
  std::size_t count_ = 1;
  double low_ = std::numeric_limits<double>::infinity(), width_ = 1;
};

/// By counting, and then by the second one among those with the same first.
void sort_pairs(std::size_t count, const std::vector<std::vector<IndexPair>>& found, const Executor& executor,
                std::vector<IndexPair>& pairs) {
  std::vector<std::size_t> start(count + 1, 0);
  for (const auto& list : found)
    for (const IndexPair& pair : list) ++start[static_cast<std::size_t>(pair.first) + 1];
  for (std::size_t i = 0; i < count; ++i) start[i + 1] += start[i];
  std::vector<std::size_t> next = start;
  pairs.resize(start[count]);
  for (const auto& list : found)
    for (const IndexPair& pair : list) pairs[next[static_cast<std::size_t>(pair.first)]++] = pair;
  executor.for_each(count, [&](std::size_t i) {
    std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(start[i]), pairs.begin() + static_cast<std::ptrdiff_t>(start[i + 1]));
  });
}

}  // namespace

/// Sorted along the widest axis, strip by strip across the second one. Two boxes that share several strips are a pair in the
/// first.
void overlapping_pairs(const std::vector<Bounds>& boxes, const Executor& executor, std::vector<IndexPair>& pairs) {
  pairs.clear();
  std::vector<Index> order;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].low.x <= boxes[i].high.x) order.push_back(static_cast<Index>(i));
  if (order.empty()) return;
  const std::array<int, 3> axes = widest_axes(boxes, order);
  const auto begin = [&](const Bounds& box) { return component(box.low, axes[0]); };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double at_a = begin(boxes[a]), at_b = begin(boxes[b]);
    return at_a < at_b || (at_a == at_b && a < b);
  });
  const Strips strips(boxes, order, axes[1]);
  struct Entry {
    Bounds box;
    Index index;
    std::size_t first_strip;
  };
  std::vector<std::vector<Entry>> entries(strips.count());
  for (const Index i : order) {
    const std::size_t first = strips.first(boxes[i]);
    for (std::size_t s = first; s <= strips.last(boxes[i]); ++s) entries[s].push_back({boxes[i], i, first});
  }
  std::vector<std::vector<IndexPair>> found(entries.size());
  executor.for_each_job(entries.size(), [&](std::size_t s) {
    for (std::size_t i = 0; i < entries[s].size(); ++i) {
      const Entry& a = entries[s][i];
      const double end = component(a.box.high, axes[0]);
      for (std::size_t j = i + 1; j < entries[s].size() && begin(entries[s][j].box) <= end; ++j) {
        const Entry& b = entries[s][j];
        if (std::max(a.first_strip, b.first_strip) == s && a.box.overlaps(b.box))
          found[s].push_back(std::minmax(a.index, b.index));
      }
    }
  });
  sort_pairs(boxes.size(), found, executor, pairs);
}

void overlapping_pairs_by_brute_force(const std::vector<Bounds>& boxes, std::vector<IndexPair>& pairs) {
  pairs.clear();
  for (std::size_t a = 0; a < boxes.size(); ++a)
    for (std::size_t b = a + 1; b < boxes.size(); ++b)
      if (boxes[a].overlaps(boxes[b])) pairs.emplace_back(static_cast<Index>(a), static_cast<Index>(b));
}

}  // namespace osier::certificate
