#include "render/shading.hpp"

#include <algorithm>
#include <cmath>

#include "render/sampling.hpp"

namespace osier::render {

namespace {

float pow5(float x) { return x * x * x * x * x; }

/// Schlick's Fresnel term of a plastic (refractive index 1.5).
float fresnel(float cosine) { return 0.04F + 0.96F * pow5(1 - std::clamp(cosine, 0.0F, 1.0F)); }

/// Lambert and a GGX highlight. `gloss` scales the highlight.
Rgb glossy(const Surface& s, const Vec3f& l, float roughness, float gloss) {
  const float nl = dot(s.normal, l), nv = std::max(dot(s.normal, s.to_eye), 1e-3F);
  if (nl <= 0) return {0, 0, 0};
  const Vec3f h = normalized(l + s.to_eye);
  const float nh = std::max(dot(s.normal, h), 0.0F), a2 = roughness * roughness * roughness * roughness;
  const float d = a2 / std::max(kPi * (nh * nh * (a2 - 1) + 1) * (nh * nh * (a2 - 1) + 1), 1e-9F);
  // Height-correlated masking, in the common approximation 1/(2 lerp(2 nl nv, nl + nv, roughness^2)).
  const float masking = 0.5F / (2 * nl * nv * (1 - std::sqrt(a2)) + (nl + nv) * std::sqrt(a2));
  const float highlight = gloss * d * masking * fresnel(dot(h, l)) * kPi * nl;
  return nl * s.color + Rgb{highlight, highlight, highlight};
}

/// Smooth noise of period `period` in its argument, -1 to 1.
float ring_noise(float x, int period, std::uint64_t seed) {
  const float cell = std::floor(x);
  const auto value = [&](int i) {
    const int wrapped = ((i % period) + period) % period;
    return static_cast<float>(mix_bits(seed * 1000003U + static_cast<std::uint64_t>(wrapped)) >> 40) * 0x1p-23F - 1;
  };
  const int i = static_cast<int>(cell);
  return value(i) + (value(i + 1) - value(i)) * smooth_step(0, 1, x - cell);
}

}  // namespace

Rgb reflected(Style style, const Surface& s, const Vec3f& l) {
  switch (style) {
    case Style::yarn: {
      // Loose fibres at the rim catch light from any side.
      const float rim =
          0.35F * pow5(1 - std::clamp(dot(s.normal, s.to_eye), 0.0F, 1.0F)) * std::max(0.0F, 0.3F + dot(s.normal, l));
      return glossy(s, l, 0.6F, 0.6F) + rim * mix(s.color, Rgb{1, 1, 1}, 0.3F);
    }
    case Style::hair:  // follow_fibers() does it
    case Style::tubes:
      break;
  }
  return glossy(s, l, 0.34F, 1.0F);
}

float mirrored(Style style, const Surface& s) { return style == Style::tubes ? 0.8F * fresnel(dot(s.normal, s.to_eye)) : 0; }

void add_fibers(Surface& s, float angle, float turns) {
  // Fibres run against the plies, as spun.
  constexpr int kFibers = 22, kStrands = 57;
  const float around = angle / (2 * kPi) - 2.3F * turns;
  const auto height = [&](float x) { return ring_noise(kFibers * x, kFibers, 1) + 0.6F * ring_noise(kStrands * x, kStrands, 2); };
  constexpr float kStep = 0.004F;
  const float here = height(around), slope = height(around + kStep) - here;
  const Vec3f side = cross(s.tangent, s.normal);
  s.normal = normalized(s.normal - 1.6F * slope * side);
  s.color = (1 + 0.16F * std::clamp(here, -1.0F, 1.0F)) * s.color;
}

}  // namespace osier::render
