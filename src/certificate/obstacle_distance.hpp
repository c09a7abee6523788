// The distance of a segment from a feature of an obstacle, by distances of points alone: between two points of the segment that
// are l apart and have the distances d and e, none is less than (d + e - l)/2, because distances change by no more than the way.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "contact/obstacle.hpp"
#include "math/vec3.hpp"

namespace osier::certificate {

/// A lower bound of the distance of the segment p-q. Where the distance is above `floor`, the bound has at least the share
/// `sharpness` < 1 of its excess; where it is not, the distance of some point that is not above it either.
inline double obstacle_distance(const contact::Obstacle& obstacle, Index feature, double share, const Vec3d& p, const Vec3d& q,
                                double floor, double sharpness = 0.5) {
  const auto of = [&](const Vec3d& x) { return obstacle.nearest(feature, x, x, share, 0).distance; };
  struct Piece {
    Vec3d p, q;
    double d, e;
  };
  std::vector<Piece> pieces{{p, q, of(p), of(q)}};
  double some = std::min(pieces[0].d, pieces[0].e), bound = some;
  while (!pieces.empty()) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    if (!(some > floor)) return some;
    const double length = norm(piece.q - piece.p), low = 0.5 * (piece.d + piece.e - length);
    if (!std::isfinite(low)) return low;
    if (low >= floor + sharpness * (some - floor)) {
      bound = std::min(bound, low);
      continue;
    }
    const Vec3d middle = 0.5 * (piece.p + piece.q);
    const double d = of(middle);
    some = std::min(some, d);
    bound = std::min(bound, d);
    pieces.push_back({piece.p, middle, piece.d, d});
    pieces.push_back({middle, piece.q, d, piece.e});
  }
  return bound;
}

}  // namespace osier::certificate
