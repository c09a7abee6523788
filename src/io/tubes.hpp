// Tube meshes around curves: what renderers and modellers draw where they have no curves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/curve_frame.hpp"

namespace osier {

struct TubeMesh {
  std::vector<Vec3d> positions, normals;
  std::vector<std::array<double, 2>> uvs;
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< counter-clockwise from outside
  std::vector<std::uint32_t> curve;                     ///< which curve each position is of
};

/// Round tubes with `sides` faces. Ring i starts at the material axis d1, so u = 0 is a line drawn on the rod that turns with
/// its twist; u runs once around, v is the length along the curve over the circumference, so that textures keep their shape.
/// Open curves get flat caps; closed ones are joined. Curves with fewer than two points have no tube; without widths every
/// tube is `width` thick. The triangles depend on the numbers of points alone: frames with the same curves can be morphed.
TubeMesh tube_mesh(const CurveFrame& frame, int sides, double width);

/// A width for curves that come without: a hundredth of the mean length of a curve.
double usual_width(const CurveSet& curves);

}  // namespace osier
