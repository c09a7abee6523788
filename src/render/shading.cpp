#include "render/shading.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/sampling.hpp"

namespace osier::render {

namespace {

constexpr float kPi = std::numbers::pi_v<float>;

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

float gauss(float x, float width) { return std::exp(-0.5F * x * x / (width * width)); }

/// The lobes of Marschner et al. (2003) in simple form: mirrored at the surface (white, tilted to the root), through the
/// fibre (towards the light), and mirrored inside (coloured, tilted to the tip); and light from all around, scattered by the
/// neighbours, as Kajiya and Kay's diffuse term.
Rgb fiber(const Surface& s, const Vec3f& l) {
  const float sin_i = std::clamp(dot(s.tangent, l), -1.0F, 1.0F), sin_r = std::clamp(dot(s.tangent, s.to_eye), -1.0F, 1.0F);
  const Vec3f across_l = l - sin_i * s.tangent, across_v = s.to_eye - sin_r * s.tangent;
  const float cos_i = std::sqrt(std::max(0.0F, 1 - sin_i * sin_i)), cos_r = std::sqrt(std::max(0.0F, 1 - sin_r * sin_r));
  const float cos_phi = std::clamp(dot(across_l, across_v) / std::max(cos_i * cos_r, 1e-4F), -1.0F, 1.0F);
  const float half = 0.5F * (std::asin(sin_i) + std::asin(sin_r));
  constexpr float kTilt = 0.06F;
  const float r = 0.2F * gauss(half + kTilt, 0.10F) * std::sqrt(0.5F * (1 + cos_phi));
  const float tt = 0.55F * gauss(half - kTilt / 2, 0.16F) * gauss(1 + cos_phi, 0.25F);
  const float trt = 1.1F * gauss(half - 1.5F * kTilt, 0.20F) * (0.35F + 0.65F * std::max(0.0F, cos_phi));
  const float body = 0.85F * cos_i * (0.6F + 0.4F * cos_phi);
  const Rgb deep = times(s.color, s.color);
  return (body + 0.55F * trt) * s.color + trt * deep + tt * s.color + Rgb{r, r, r};
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
    case Style::hair:
      return fiber(s, l);
    case Style::yarn: {
      // Loose fibres at the rim catch light from any side.
      const float rim =
          0.35F * pow5(1 - std::clamp(dot(s.normal, s.to_eye), 0.0F, 1.0F)) * std::max(0.0F, 0.3F + dot(s.normal, l));
      return glossy(s, l, 0.6F, 0.6F) + rim * mix(s.color, Rgb{1, 1, 1}, 0.3F);
    }
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
