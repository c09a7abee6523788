// Breadth-first search along segments.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"

namespace osier {

class BreadthFirst {
 public:
  explicit BreadthFirst(const Model& model) : model_(model), from_(model.vertex_count(), -1), depth_(model.vertex_count(), 0) {}

  /// All that can be reached, nearest first; until the next search.
  std::span<const Index> search(Index start) {
    for (Index v : reached_) from_[v] = -1;
    reached_.assign(1, start);
    from_[start] = start, depth_[start] = 0;
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      const Index v = reached_[i];
      for (Index e : model_.vertex_segments.of(v)) {
        const Index other = model_.segment_vertices[e / 2][1 - e % 2];
        if (from_[other] >= 0) continue;
        from_[other] = v, depth_[other] = depth_[v] + 1;
        reached_.push_back(other);
      }
    }
    return reached_;
  }
  /// The same from one end of the longest of the shortest ways, about: from where a first search got last.
  std::span<const Index> search_from_end(Index anywhere) { return search(search(anywhere).back()); }

  /// Of vertices that were reached: the one before, and segments from the start.
  Index from(Index v) const { return from_[v]; }
  Index depth(Index v) const { return depth_[v]; }

 private:
  const Model& model_;
  std::vector<Index> from_, depth_, reached_;
};

}  // namespace osier
