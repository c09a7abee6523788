// Which points of a set of curves are one: a union-find over the few points that have a partner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace osier {

class PointGroups {
 public:
  PointGroups() = default;
  explicit PointGroups(const std::vector<std::array<std::size_t, 2>>& welds) {
    for (const auto& [a, b] : welds) join(a, b);
  }

  /// The lowest point of the group; a point without partners is its own.
  std::size_t first(std::size_t point) {
    std::size_t low = point;
    for (auto it = parent_.find(low); it != parent_.end() && it->second != low; it = parent_.find(low)) low = it->second;
    while (point != low) point = std::exchange(parent_[point], low);  // the next search is short
    return low;
  }
  bool together(std::size_t a, std::size_t b) { return first(a) == first(b); }

  void join(std::size_t a, std::size_t b) {
    const std::size_t low = std::min(first(a), first(b)), high = std::max(first(a), first(b));
    parent_[a] = parent_[b] = parent_[high] = parent_[low] = low;
  }

  /// Every group of two or more, points ascending.
  std::map<std::size_t, std::vector<std::size_t>> groups() const {
    std::map<std::size_t, std::vector<std::size_t>> found;
    std::map<std::size_t, std::size_t> low;  // a parent comes before its children: it is lower
    for (const auto& [point, parent] : parent_) found[low[point] = parent == point ? point : low[parent]].push_back(point);
    std::erase_if(found, [](const auto& group) { return group.second.size() < 2; });
    return found;
  }

  /// Stars around the lowest points, as CurveSet has them.
  std::vector<std::array<std::size_t, 2>> welds() const {
    std::vector<std::array<std::size_t, 2>> pairs;
    for (const auto& [low, points] : groups())
      for (std::size_t i = 1; i < points.size(); ++i) pairs.push_back({low, points[i]});
    return pairs;
  }

 private:
  std::map<std::size_t, std::size_t> parent_;
};

/// Welds after points have been renumbered; `new_index(p)` is kGone for a point that is no more.
constexpr std::size_t kGone = static_cast<std::size_t>(-1);
template <class NewIndex>
std::vector<std::array<std::size_t, 2>> renumbered(const std::vector<std::array<std::size_t, 2>>& welds, NewIndex new_index) {
  PointGroups result;
  for (const auto& [low, points] : PointGroups(welds).groups()) {
    std::size_t partner = kGone;
    for (std::size_t p : points) {
      const std::size_t now = new_index(p);
      if (now == kGone) continue;
      if (partner != kGone && partner != now) result.join(partner, now);
      partner = now;
    }
  }
  return result.welds();
}

}  // namespace osier
