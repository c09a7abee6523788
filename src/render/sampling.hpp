// Where to take samples: the same places whoever asks, and evenly spread.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "render/color.hpp"

namespace osier::render {

inline constexpr float kPi = std::numbers::pi_v<float>;

/// Mixes 64 bits so that every bit of the result depends on all of them.
inline std::uint64_t mix_bits(std::uint64_t x) {
  for (int round = 0; round < 2; ++round) x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15U;
  return x ^ (x >> 29);
}

struct Point2 {
  float x, y;
};

/// The first two dimensions of Sobol's sequence: any 2^k consecutive points fall one into each cell of every 2^a x 2^(k-a)
/// grid. Each pixel and each use (lens, light, sky) flips digits of its own, which keeps that property and makes neighbours
/// independent. No state, so a pixel looks the same on whichever thread it is computed.
class Sampler {
 public:
  /// Sample number `sample` of `count`.
  Sampler(int x, int y, int sample, int count)
      : pixel_((static_cast<std::uint64_t>(static_cast<std::uint32_t>(y)) << 32) | static_cast<std::uint32_t>(x)),
        sample_(static_cast<std::uint32_t>(sample)),
        bits_(std::bit_width(static_cast<std::uint32_t>(count - 1))) {}

  Point2 next() {
    const std::uint64_t flips = mix_bits(pixel_ + 0x632be59bd9b4e019U * ++use_);
    const std::uint32_t i = shuffled(mix_bits(flips));
    return {unit(reversed(i) ^ static_cast<std::uint32_t>(flips)), unit(second(i) ^ static_cast<std::uint32_t>(flips >> 32))};
  }

 private:
  static float unit(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }
  /// Another order of the samples in each use, or the left of a pixel would always see the left of the light. Every line can be
  /// undone within 2^bits numbers.
  std::uint32_t shuffled(std::uint64_t key) const {
    const std::uint32_t mask = (1U << bits_) - 1;
    const int half = bits_ / 2 + 1;
    std::uint32_t i = (sample_ ^ static_cast<std::uint32_t>(key)) & mask;
    i = i * (static_cast<std::uint32_t>(key >> 8) | 1U) & mask, i ^= i >> half;
    i = i * (static_cast<std::uint32_t>(key >> 32) | 1U) & mask, i ^= i >> half;
    return i;
  }
  static std::uint32_t reversed(std::uint32_t i) {
    std::uint32_t r = 0;
    for (std::uint32_t bit = 1U << 31; i != 0; i >>= 1, bit >>= 1)
      if (i & 1U) r |= bit;
    return r;
  }
  /// Direction numbers of the polynomial x + 1: v_(k+1) = v_k ^ (v_k >> 1).
  static std::uint32_t second(std::uint32_t i) {
    std::uint32_t r = 0;
    for (std::uint32_t v = 1U << 31; i != 0; i >>= 1, v ^= v >> 1)
      if (i & 1U) r ^= v;
    return r;
  }
  std::uint64_t pixel_, use_ = 0;
  std::uint32_t sample_;
  int bits_;
};

/// Two unit vectors across a third.
struct Basis {
  Vec3f a, b, n;
  explicit Basis(const Vec3f& normal) : n(normal) {
    a = normalized(cross(std::abs(n.x) > 0.7F ? Vec3f{0, 1, 0} : Vec3f{1, 0, 0}, n));
    b = cross(n, a);
  }
  Vec3f at(float x, float y, float z) const { return x * a + y * b + z * n; }
};

/// Around the normal with density cos/pi.
inline Vec3f cosine_direction(const Basis& basis, Point2 u) {
  const float r = std::sqrt(u.x), phi = 2 * std::numbers::pi_v<float> * u.y;
  return basis.at(r * std::cos(phi), r * std::sin(phi), std::sqrt(std::max(0.0F, 1 - u.x)));
}

/// Evenly in a cone of the given cosine of its half angle.
inline Vec3f cone_direction(const Basis& basis, float cos_angle, Point2 u) {
  const float z = 1 - u.x * (1 - cos_angle), r = std::sqrt(std::max(0.0F, 1 - z * z));
  const float phi = 2 * std::numbers::pi_v<float> * u.y;
  return basis.at(r * std::cos(phi), r * std::sin(phi), z);
}

/// Offset from a pixel's middle with the density of a tent of half width 1: every sample counts alike and belongs to one pixel.
inline Point2 tent_offset(Point2 u) {
  const auto tent = [](float v) { return v < 0.5F ? std::sqrt(2 * v) - 1 : 1 - std::sqrt(2 - 2 * v); };
  return {tent(u.x), tent(u.y)};
}

}  // namespace osier::render
