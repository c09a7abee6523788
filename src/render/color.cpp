#include "render/color.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace osier::render {

float srgb_to_linear(float v) { return v <= 0.04045F ? v / 12.92F : std::pow((v + 0.055F) / 1.055F, 2.4F); }
float linear_to_srgb(float v) { return v <= 0.0031308F ? 12.92F * v : 1.055F * std::pow(v, 1 / 2.4F) - 0.055F; }

std::optional<Rgb> parse_hex(const std::string& text) {
  if (text.size() != 7 || text[0] != '#') return {};
  std::array<float, 3> channel{};
  for (std::size_t c = 0; c < 3; ++c) {
    int byte = 0;
    for (const char digit : text.substr(1 + 2 * c, 2)) {
      const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
      if (lower >= '0' && lower <= '9') byte = 16 * byte + (lower - '0');
      else if (lower >= 'a' && lower <= 'f') byte = 16 * byte + 10 + (lower - 'a');
      else return {};
    }
    channel[c] = srgb_to_linear(static_cast<float>(byte) / 255);
  }
  return Rgb{channel[0], channel[1], channel[2]};
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
