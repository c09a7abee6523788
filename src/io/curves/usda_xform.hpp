// Transforms of USD prims.
#pragma once

#include "io/curves/usda_layer.hpp"
#include "math/vec3.hpp"

namespace osier {

/// p' = p M + t, points as rows, as USD writes its matrices.
struct Affine {
  std::array<Vec3d, 3> rows{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Vec3d translation{};

  Vec3d of_direction(const Vec3d& p) const { return p.x * rows[0] + p.y * rows[1] + p.z * rows[2]; }
  Vec3d operator()(const Vec3d& p) const { return of_direction(p) + translation; }
  /// The factor on the side of a cube of the same volume, for widths.
  double mean_scale() const { return std::cbrt(std::abs(dot(rows[0], cross(rows[1], rows[2])))); }
};

/// First `a`, then `b`.
Affine then(const Affine& a, const Affine& b);
Affine inverse(const Affine& a);

/// From a prim's own space to that of the layer, at a time.
Affine world_transform(const std::vector<UsdaPrim>& prims, std::size_t prim, double time);

}  // namespace osier
