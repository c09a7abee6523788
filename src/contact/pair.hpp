// A pair that may touch, and the boxes by which pairs are found.
#pragma once

#include "contact/obstacle.hpp"
#include "math/number.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

/// Segments a < b; or b = -1 - obstacle, and one of its features.
struct Pair {
  Index a = 0, b = 0;
  Index feature = -1;
  bool pushes = true;  ///< whether a force acts; neighbours along a rod are only guarded
  double core = 0;     ///< [m]
  OSIER_FN bool with_obstacle() const { return b < 0; }
  OSIER_FN std::size_t obstacle() const { return static_cast<std::size_t>(-1 - b); }
  OSIER_FN bool operator<(const Pair& o) const { return a != o.a ? a < o.a : b != o.b ? b < o.b : feature < o.feature; }
  OSIER_FN bool operator==(const Pair& o) const { return a == o.a && b == o.b && feature == o.feature; }
};

/// Calls consider(pair) for a pair and for those of segments next to its own. around(s, f) calls f(t) for s and for the segments
/// that share a vertex with it.
template <class Around, class Consider>
OSIER_FN void each_pair_around(const Pair& pair, const Around& around, const Consider& consider) {
  around(pair.a, [&](Index a) {
    if (pair.with_obstacle()) {
      consider(Pair{.a = a, .b = pair.b, .feature = pair.feature});
      return;
    }
    around(pair.b, [&](Index b) { consider(Pair{.a = a < b ? a : b, .b = a < b ? b : a}); });
  });
}

/// Distances and boxes are a little larger than needed, for rounding.
constexpr double kListRounding = 1 + 1e-9;

/// Of a segment from p to q whose ends may move by `ball`, and which reaches further than that.
OSIER_FN Box box_around(const Vec3d& p, const Vec3d& q, double reach, double ball) {
  const double more = kListRounding * (reach + ball);
  return {{smaller(p.x, q.x) - more, smaller(p.y, q.y) - more, smaller(p.z, q.z) - more},
          {larger(p.x, q.x) + more, larger(p.y, q.y) + more, larger(p.z, q.z) + more}};
}

OSIER_FN bool overlap(const Box& a, const Box& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y && a.low.z <= b.high.z &&
         b.low.z <= a.high.z;
}

OSIER_FN double extent(const Box& b) { return larger(larger(b.high.x - b.low.x, b.high.y - b.low.y), b.high.z - b.low.z); }

}  // namespace osier::contact
