// Cubic curves as polylines.
//
// Each span becomes the same number of straight pieces, at equal steps of the parameter. A finer rule (by curvature, say) would
// give a curve another number of points in each frame of an animation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "math/vec3.hpp"

namespace osier {

enum class CubicBasis : std::uint8_t { bezier, bspline, catmull_rom };
/// How a curve ends: a pinned one goes on to its first and last control points, as if P[-1] = 2 P[0] - P[1] were there.
enum class CubicWrap : std::uint8_t { nonperiodic, periodic, pinned };

/// Spans of a curve with this many control points; negative when the number does not fit the basis.
std::ptrdiff_t cubic_spans(std::size_t controls, CubicBasis basis, CubicWrap wrap);

/// A point of the polyline: a sum of control points.
struct CubicSample {
  std::array<std::size_t, 4> control;
  std::array<double, 4> weight;
  std::size_t span;
  double t;  ///< within the span

  template <class T>
  T of(const T* value) const {
    T sum = weight[0] * value[control[0]];
    for (std::size_t i = 1; i < 4; ++i) sum = sum + weight[i] * value[control[i]];
    return sum;
  }
};

/// The number of spans must be positive. A periodic curve does not repeat its first point.
std::vector<CubicSample> sample_cubic(std::size_t controls, CubicBasis basis, CubicWrap wrap, int per_span);

}  // namespace osier
