// What the rays meet: round pieces between points, fine enough to look smooth through a given camera.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exec/parallel.hpp"
#include "model/strands.hpp"
#include "osier/frame.hpp"
#include "osier/surface.hpp"
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
  // Hair only: fibres thinner than a pixel are drawn wider, and let so much less of the rays meet them (Tracer).
  std::vector<float> coverage;       ///< per point: true width over the drawn one; empty where all of them are 1
  std::vector<std::uint32_t> fiber;  ///< per piece: which fibre it is of
  std::size_t plain_from = kNone;    ///< the first piece that has no style: marks, as arrows are
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Yarn only: the way from the yarn's middle to the ply's, and turns of the ply along the material.
  std::vector<Vec3f> outward;
  std::vector<float> turns;
  // Obstacles: triangles, those that are seen from inside alone last.
  std::vector<Vec3f> corner;
  std::vector<std::array<std::uint32_t, 3>> triangle;
  std::vector<std::array<Vec3f, 3>> corner_normal;  ///< per triangle
  std::vector<Vec3f> flat_normal;                   ///< per triangle
  std::size_t solid_triangles = 0;
};

struct GeometryOptions {
  Style style = Style::tubes;
  double thickness = 1;  ///< factor on the radii
  int plies = 3;         ///< of a yarn
  double pitch = 9;      ///< length of one turn of the plies, in radii of the yarn
};

/// `segment_color` as from color_segments(). Rods thinner than most of a pixel are drawn that thick: thinner ones flicker.
/// Hair is drawn that thick too, but with the coverage of its true width.
Geometry build_geometry(const Model& model, const Frame& frame, const std::vector<Strand>& strands,
                        const std::vector<Rgb>& segment_color, const Camera& camera, const GeometryOptions& options,
                        const Executor& executor);

/// Adds the obstacles, with all of their points, but for those that `leave_out` says.
void add_obstacles(const std::vector<osier::Surface>& obstacles, const std::vector<Vec3d>& points,
                   const std::vector<std::uint8_t>& leave_out, Geometry& geometry);

}  // namespace osier::render
