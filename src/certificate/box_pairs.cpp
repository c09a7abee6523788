#include "certificate/box_pairs.hpp"

#include <algorithm>
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

/// The axis on which the middles of boxes have the largest variance.
int widest_axis(const std::vector<Bounds>& boxes, const std::vector<Index>& taken) {
  Vec3d mean;
  const double share = 1 / static_cast<double>(taken.size());
  const auto middle = [&](Index i) { return 0.5 * (boxes[i].low + boxes[i].high); };
  for (const Index i : taken) mean += share * middle(i);
  Vec3d variance;
  for (const Index i : taken) {
    const Vec3d d = middle(i) - mean;
    variance += times(d, d);
  }
  if (variance.x >= variance.y && variance.x >= variance.z) return 0;
  return variance.y >= variance.z ? 1 : 2;
}

}  // namespace

void overlapping_pairs(const std::vector<Bounds>& boxes, std::vector<IndexPair>& pairs) {
  pairs.clear();
  std::vector<Index> order;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].low.x <= boxes[i].high.x) order.push_back(static_cast<Index>(i));
  if (order.empty()) return;
  const int axis = widest_axis(boxes, order);
  const auto begin = [&](Index i) { return component(boxes[i].low, axis); };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return begin(a) < begin(b) || (begin(a) == begin(b) && a < b); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Bounds& box = boxes[order[i]];
    const double end = component(box.high, axis);
    for (std::size_t j = i + 1; j < order.size() && begin(order[j]) <= end; ++j)
      if (box.overlaps(boxes[order[j]])) pairs.push_back(std::minmax(order[i], order[j]));
  }
  std::sort(pairs.begin(), pairs.end());
}

void overlapping_pairs_by_brute_force(const std::vector<Bounds>& boxes, std::vector<IndexPair>& pairs) {
  pairs.clear();
  for (std::size_t a = 0; a < boxes.size(); ++a)
    for (std::size_t b = a + 1; b < boxes.size(); ++b)
      if (boxes[a].overlaps(boxes[b])) pairs.emplace_back(static_cast<Index>(a), static_cast<Index>(b));
}

}  // namespace osier::certificate
