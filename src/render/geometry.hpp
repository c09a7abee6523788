// What the rays meet: round pieces between points, fine enough to look smooth through a given camera.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exec/parallel.hpp"
#include "model/strands.hpp"
#include "osier/frame.hpp"
#include "render/camera.hpp"
#include "render/color.hpp"

namespace osier::render {

enum class Style : std::uint8_t { tubes, yarn, hair };

struct Geometry {
  std::vector<std::array<float, 4>> point;  ///< x, y, z, radius [m]
  std::vector<Vec3f> tangent;               ///< per point, unit
  std::vector<Rgb> color;                   ///< per point
  std::vector<std::uint32_t> piece;         ///< first of two neighbouring points
  std::vector<std::uint8_t> neighbors;      ///< per piece: 1 one before it goes on smoothly, 2 one after it
  // Yarn only: the way from the yarn's middle to the ply's, and turns of the ply along the material.
  std::vector<Vec3f> outward;
  std::vector<float> turns;
};

struct GeometryOptions {
  Style style = Style::tubes;
  double thickness = 1;  ///< factor on the radii
  int plies = 3;         ///< of a yarn
  double pitch = 9;      ///< length of one turn of the plies, in radii of the yarn
};

/// `segment_color` as from color_segments(). Rods thinner than most of a pixel are drawn that thick: thinner ones flicker.
Geometry build_geometry(const Model& model, const Frame& frame, const std::vector<Strand>& strands,
                        const std::vector<Rgb>& segment_color, const Camera& camera, const GeometryOptions& options,
                        const Executor& executor);

}  // namespace osier::render
