#include "render/image.hpp"

#include <algorithm>
#include <cmath>

#include "osier/error.hpp"
#include "render/tracer.hpp"

#if OSIER_HAS_RENDER
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>
#endif

namespace osier::render {

namespace {
constexpr float kShoulder = 0.7F;  ///< where the curve begins to bend
}

float tone(float x) {
  return x <= kShoulder ? std::max(x, 0.0F) : 1 - (1 - kShoulder) * std::exp((kShoulder - x) / (1 - kShoulder));
}

float inverse_tone(float y) {
  if (y <= kShoulder) return y;
  return kShoulder - (1 - kShoulder) * std::log((1 - std::min(y, 0.999F)) / (1 - kShoulder));
}

void Image::cover(int x, int y, const Rgb& shown, float part) {
  Rgb& p = at(x, y);
  const Rgb mixed = mix({tone(p.x), tone(p.y), tone(p.z)}, shown, part);
  p = {inverse_tone(mixed.x), inverse_tone(mixed.y), inverse_tone(mixed.z)};
}

std::vector<std::uint8_t> screen_bytes(const Image& image) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(3 * image.light.size());
  for (const Rgb& light : image.light)
    for (const float channel : {light.x, light.y, light.z})
      bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * linear_to_srgb(tone(channel)))));
  return bytes;
}

static bool is_jpeg(const std::filesystem::path& name) { return name.extension() == ".jpg" || name.extension() == ".jpeg"; }
bool can_encode(const std::filesystem::path& name) { return name.extension() == ".png" || is_jpeg(name); }

#if OSIER_HAS_RENDER
std::string encode(const Image& image, const std::filesystem::path& name) {
  const std::vector<std::uint8_t> bytes = screen_bytes(image);
  std::string file;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  constexpr int kQuality = 90;
  const int good = is_jpeg(name)
                       ? stbi_write_jpg_to_func(append, &file, image.width, image.height, 3, bytes.data(), kQuality)
                       : stbi_write_png_to_func(append, &file, image.width, image.height, 3, bytes.data(), 3 * image.width);
  if (!good) throw RunError(name.string() + ": the picture cannot be encoded");
  return file;
}
#else
std::string encode(const Image&, const std::filesystem::path&) { throw RunError(kCannotTrace); }
#endif

}  // namespace osier::render
