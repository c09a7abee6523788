// Pairs of boxes that overlap: sort and sweep. Boxes are sorted by where they begin along the axis on which they are spread most,
// and each is compared with those that begin before it ends. No grid and no list is kept between calls, so that nothing of the
// broad phase of contact (contact/candidates.hpp) can carry over into a check of it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "exec/parallel.hpp"
#include "math/vec3.hpp"

namespace osier::certificate {

struct Bounds {
  Vec3d low, high;
  void include(const Vec3d& x, double margin);
  bool overlaps(const Bounds& o) const {
    return low.x <= o.high.x && o.low.x <= high.x && low.y <= o.high.y && o.low.y <= high.y && low.z <= o.high.z &&
           o.low.z <= high.z;
  }
  static Bounds nothing();
};

using IndexPair = std::pair<Index, Index>;

/// Pairs (a, b), a < b, in ascending order. Boxes that hold nothing overlap with nothing.
void overlapping_pairs(const std::vector<Bounds>& boxes, const Executor& executor, std::vector<IndexPair>& pairs);
/// The same by comparing everything with everything.
void overlapping_pairs_by_brute_force(const std::vector<Bounds>& boxes, std::vector<IndexPair>& pairs);

}  // namespace osier::certificate
