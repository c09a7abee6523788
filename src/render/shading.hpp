// How a rod's surface gives light back.
#pragma once

#include "render/color.hpp"
#include "render/geometry.hpp"

namespace osier::render {

/// A place on a rod, seen along -to_eye.
struct Surface {
  Vec3f position, normal, tangent, to_eye;  ///< unit
  Rgb color;
  float radius = 0;
};

/// Of tubes and yarns; hair is fiber_bsdf.hpp. For a unit of light that arrives from `to_light` at right angles to it: what goes
/// to the eye, cosine included.
Rgb reflected(Style style, const Surface& surface, const Vec3f& to_light);

/// Part of the sky's light that a glossy surface mirrors (0 for the others).
float mirrored(Style style, const Surface& surface);

/// Tilts the normal by the fibres that wind around a ply, and darkens the colour in the grooves. `angle` around the ply from
/// the yarn's outside [rad], `turns` of the ply along the material.
void add_fibers(Surface& surface, float angle, float turns);

}  // namespace osier::render
