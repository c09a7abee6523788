#include "render/color.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace osier::render {

float srgb_to_linear(float v) { return v <= 0.04045F ? v / 12.92F : std::pow((v + 0.055F) / 1.055F, 2.4F); }
float linear_to_srgb(float v) { return v <= 0.0031308F ? 12.92F * v : 1.055F * std::pow(v, 1 / 2.4F) - 0.055F; }

Rgb to_rgb(const HexColor& color) {
  const std::array<double, 3> light = color.linear();
  return {static_cast<float>(light[0]), static_cast<float>(light[1]), static_cast<float>(light[2])};
}

std::optional<Rgb> parse_hex(const std::string& text) {
  const std::optional<HexColor> color = HexColor::parse(text);
  return color ? std::optional(to_rgb(*color)) : std::nullopt;
}

const std::vector<Rgb>& default_palette() {
  static const std::vector<Rgb> colors = [] {
    std::vector<Rgb> list;
    for (const char* hex : {"#2f6f9f", "#d2642c", "#3f8f6b", "#c43d4b", "#d9a02b", "#6f5aa8", "#35a3a8", "#8a6a4f"})
      list.push_back(*parse_hex(hex));
    return list;
  }();
  return colors;
}

Rgb shade_of(const Rgb& base, unsigned i) {
  // The golden ratio spreads any number of shades evenly.
  const float turn = static_cast<float>(i) * 0.618034F;
  const float t = i == 0 ? 0.0F : turn - std::floor(turn) - 0.5F;
  return t < 0 ? (1 + 0.7F * t) * base : mix(base, Rgb{1, 1, 1}, 0.35F * t);
}

/// Linear between evenly spaced colours.
template <std::size_t N>
static Rgb along(const std::array<const char*, N>& stops, float t) {
  const float place = std::clamp(t, 0.0F, 1.0F) * static_cast<float>(N - 1);
  const auto i = std::min(static_cast<std::size_t>(place), N - 2);
  return mix(*parse_hex(stops[i]), *parse_hex(stops[i + 1]), place - static_cast<float>(i));
}

Rgb diverging(float value) {
  static constexpr std::array<const char*, 5> stops{"#1f4e9c", "#6fa3d8", "#ece7df", "#e08a5f", "#a8222c"};
  return along(stops, 0.5F + 0.5F * value);
}

Rgb sequential(float value) {
  static constexpr std::array<const char*, 6> stops{"#2b1a5a", "#6a2c8c", "#b13b7e", "#e3645a", "#f2a24a", "#f6e36b"};
  return along(stops, value);
}

}  // namespace osier::render
