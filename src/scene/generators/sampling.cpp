#include "scene/generators/sampling.hpp"

#include <algorithm>
#include <limits>

namespace osier {

// Rejection needs no transcendental function, so the points agree to the last bit between C libraries.
Vec3d Random::in_unit_ball() {
  Vec3d p = in_cube();
  while (norm2(p) > 1) p = in_cube();
  return p;
}

Vec3d Random::in_unit_disc() {
  for (;;) {
    const double x = symmetric(), z = symmetric();
    if (x * x + z * z <= 1) return {x, 0, z};
  }
}

std::vector<Vec3d> farthest_points(const std::vector<Vec3d>& candidates, int count) {
  std::vector<Vec3d> chosen;
  std::vector<double> distance2(candidates.size(), std::numeric_limits<double>::infinity());
  std::size_t next = 0;
  const std::size_t wanted = std::min(candidates.size(), static_cast<std::size_t>(std::max(count, 0)));
  while (chosen.size() < wanted) {
    chosen.push_back(candidates[next]);
    std::size_t farthest = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      distance2[i] = std::min(distance2[i], norm2(candidates[i] - chosen.back()));
      if (distance2[i] > distance2[farthest]) farthest = i;
    }
    next = farthest;
  }
  return chosen;
}

}  // namespace osier
