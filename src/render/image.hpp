// Pictures: light per pixel, bytes for a screen, files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "render/color.hpp"

namespace osier::render {

struct Image {
  int width = 0, height = 0;
  std::vector<Rgb> light;  ///< rows from above, linear
  Image(int w, int h) : width(w), height(h), light(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  Rgb& at(int x, int y) { return light[static_cast<std::size_t>(y) * width + x]; }
  const Rgb& at(int x, int y) const { return light[static_cast<std::size_t>(y) * width + x]; }
  /// Puts a colour, as the screen shows it, over part of a pixel.
  void cover(int x, int y, const Rgb& shown, float part);
};

/// Light to what a screen can show: unchanged up to 0.7, then ever flatter towards 1, so that highlights keep their shape.
float tone(float light);
float inverse_tone(float shown);

/// Red, green, blue bytes in sRGB, rows from above.
std::vector<std::uint8_t> screen_bytes(const Image& image);

/// A whole file in memory, by the extension: `.png`, or `.jpg` for pictures that must be small.
std::string encode(const Image& image, const std::filesystem::path& name);
bool can_encode(const std::filesystem::path& name);

}  // namespace osier::render
