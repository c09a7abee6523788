// Edges of segments over their rest lengths.
#pragma once

#include <vector>

#include "math/vec3.hpp"
#include "osier/model.hpp"

namespace osier {

/// (x_b - x_a)/l: the segment's axis where it has its rest length. Linear in x, so that positions of the start of a step and
/// displacements since then can be taken apart, which keeps the digits of the latter.
inline Vec3d edge_over_length(const Model& m, const std::vector<Vec3d>& x, Index s) {
  const auto [a, b] = m.segment_vertices[s];
  return (1 / m.segment_rest_length[s]) * (x[b] - x[a]);
}

}  // namespace osier
