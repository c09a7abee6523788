// Random points that are the same on every machine, and blue-noise thinning.
#pragma once

#include <random>
#include <vector>

#include "math/vec3.hpp"

namespace osier {

/// std::mt19937 is specified to the bit, the standard distributions are not: so we map its output ourselves.
class Random {
 public:
  explicit Random(int seed) : engine_(static_cast<std::uint32_t>(seed)) {}

  /// Uniform in the open interval (-1, 1): the midpoints of 2^32 equal cells.
  double symmetric() { return (static_cast<double>(engine_()) + 0.5) * (2.0 / 4294967296.0) - 1.0; }

  /// Uniform in the cube (-1, 1)^3.
  Vec3d in_cube() {
    const double x = symmetric(), y = symmetric(), z = symmetric();
    return {x, y, z};
  }
  Vec3d in_unit_ball();
  /// Uniform in the unit disc of the plane y = 0.
  Vec3d in_unit_disc();

 private:
  std::mt19937 engine_;
};

/// `count` of the candidates, each the farthest from those chosen before it; the first candidate opens. Costs
/// candidates x count distances. Equal distances go to the earlier candidate, so the result is reproducible.
std::vector<Vec3d> farthest_points(const std::vector<Vec3d>& candidates, int count);

}  // namespace osier
