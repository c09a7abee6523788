// Colours as linear light, and the ones a picture is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/hex_color.hpp"
#include "math/vec3.hpp"

namespace osier::render {

using Vec3f = Vec3<float>;
/// Linear red, green and blue of the sRGB primaries.
using Rgb = Vec3f;

inline Rgb mix(const Rgb& a, const Rgb& b, float t) { return (1 - t) * a + t * b; }
/// 0 below a, 1 above b, smooth between.
inline float smooth_step(float a, float b, float x) {
  const float t = x < a ? 0.0F : x > b ? 1.0F : (x - a) / (b - a);
  return t * t * (3 - 2 * t);
}

float srgb_to_linear(float value);  ///< both in 0..1
float linear_to_srgb(float value);

Rgb to_rgb(const HexColor& color);
/// `#rrggbb`, or nothing when the text is something else.
std::optional<Rgb> parse_hex(const std::string& text);

/// Eight colours that stay apart in light, in shade and for most colour-blind eyes.
const std::vector<Rgb>& default_palette();
/// The same hue for i = 0, 1, 2, ..., a little lighter or darker each time.
Rgb shade_of(const Rgb& base, unsigned i);

/// A value in -1..1: blue below, white at zero, red above. For quantities with a sign.
Rgb diverging(float value);
/// A value in 0..1: dark violet to yellow. For quantities without.
Rgb sequential(float value);

}  // namespace osier::render
