// A heavy cantilever in the plane, exactly: the elastica of its frames' angle, with stretch and shear of equal stiffness added to
// the centreline (the angle does not know of them).
//
//   EI theta'' = -w (L - s) cos theta,   theta(0) = theta'(L) = 0,   r' = (cos theta, -sin theta) + (0, -w (L - s)/EA)
//
// s arc length [m], theta angle below the horizontal, w weight per length [N/m].
#pragma once

#include <array>
#include <utility>
#include <vector>

namespace osier::reproduction {

struct Cantilever {
  double EI, EA, w, L;
  /// Places along the rod over its length, `points` of them with equal steps; the last one is the tip.
  std::vector<std::pair<double, double>> shape(int points = 101) const;
};

}  // namespace osier::reproduction
