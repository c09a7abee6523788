// Lengths and equal steps along polylines. New points lie on the old lines, so a corner between two of them is cut; the
// alternative, equal chords, needs an iteration and need not exist on a curve that folds back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "math/vec3.hpp"

namespace osier {

/// A point of a polyline: (1 - t) corner[i] + t corner[i + 1].
struct PlaceOnPolyline {
  std::size_t i;
  double t;
};

double polyline_length(std::span<const Vec3d> corners);

/// `segments` + 1 places at equal arc length, from the first corner to exactly the last. Needs two corners and one segment.
std::vector<PlaceOnPolyline> equal_steps(std::span<const Vec3d> corners, int segments);

inline Vec3d at(std::span<const Vec3d> corners, const PlaceOnPolyline& p) {
  return (1 - p.t) * corners[p.i] + p.t * corners[p.i + 1];
}

}  // namespace osier
