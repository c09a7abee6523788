#include "render/fiber_bsdf.hpp"

#include <algorithm>
#include <cmath>

namespace osier::render {

namespace {

float root(float x) { return std::sqrt(std::max(0.0F, x)); }
float arcsine(float x) { return std::asin(std::clamp(x, -1.0F, 1.0F)); }
float power(float x, int n) {
  float y = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 == 1) y *= x;
  return y;
}
Rgb exponential(const Rgb& x) { return {std::exp(x.x), std::exp(x.y), std::exp(x.z)}; }
float mean(const Rgb& c) { return (c.x + c.y + c.z) / 3; }

/// Reflectance of a smooth surface for light that is not polarised, from outside.
float fresnel(float cosine, float index) {
  const float inside = root(1 - (1 - cosine * cosine) / (index * index));
  const float parallel = (index * cosine - inside) / (index * cosine + inside);
  const float across = (cosine - index * inside) / (cosine + index * inside);
  return 0.5F * (parallel * parallel + across * across);
}

/// ln of the modified Bessel function I0: its series below 12, its asymptote above.
float log_bessel_i0(float x) {
  if (x > 12) return x + 0.5F * std::log(1 / (2 * kPi * x)) + 1 / (8 * x);
  double sum = 1, term = 1;
  const double q = 0.25 * static_cast<double>(x) * x;
  for (int k = 1; k < 40 && term > 1e-9 * sum; ++k) term *= q / (k * k), sum += term;
  return static_cast<float>(std::log(sum));
}

/// M: density over sin theta_i of the longitudinal scattering of d'Eon et al. (2011), equation 8 with their variance v.
float longitudinal(float sin_i, float cos_i, float sin_o, float cos_o, float v) {
  // csch(1/v) / (2 v), in logarithms as the factors overflow where v is small: 1/sinh(y) = 2 exp(-y) / (1 - exp(-2 y)).
  const float log_front = std::log(1 / v) - 1 / v - std::log1p(-std::exp(-2 / v));
  return std::exp(log_front - sin_i * sin_o / v + log_bessel_i0(cos_i * cos_o / v));
}

float logistic(float x, float s) {
  const float e = std::exp(-std::abs(x) / s);
  return e / (s * (1 + e) * (1 + e));
}
float logistic_below(float x, float s) { return 1 / (1 + std::exp(-x / s)); }
/// The logistic distribution between -pi and pi, and its inverse.
float trimmed_logistic(float x, float s) { return logistic(x, s) / (logistic_below(kPi, s) - logistic_below(-kPi, s)); }
float sample_trimmed_logistic(float u, float s) {
  const float low = logistic_below(-kPi, s), high = logistic_below(kPi, s);
  const float x = -s * std::log(1 / std::clamp(low + u * (high - low), 1e-7F, 1 - 1e-7F) - 1);
  return std::clamp(x, -kPi, kPi);
}

/// Into -pi to pi.
float wrapped(float angle) { return angle - 2 * kPi * std::round(angle / (2 * kPi)); }

}  // namespace

Rgb absorption_of(const Rgb& color, float b) {
  const float fit = 5.969F - 0.215F * b + 2.532F * b * b - 10.73F * power(b, 3) + 5.574F * power(b, 4) + 0.245F * power(b, 5);
  const auto of = [&](float c) {
    const float ratio = std::log(std::clamp(c, 1e-4F, 1.0F)) / fit;
    return ratio * ratio;
  };
  return {of(color.x), of(color.y), of(color.z)};
}

FiberBsdf::FiberBsdf(const Vec3f& tangent, const Vec3f& to_eye, float h, const Rgb& absorption, const FiberLook& look)
    : tangent_(tangent) {
  const float sin_o = std::clamp(dot(to_eye, tangent), -1.0F, 1.0F), cos_o = std::max(root(1 - sin_o * sin_o), 1e-4F);
  across_ = to_eye - sin_o * tangent;
  across_ = norm2(across_) > 1e-10F ? normalized(across_) : Basis(tangent).a;
  aside_ = cross(tangent, across_);
  h = std::clamp(h, -0.9999F, 0.9999F);
  gamma_o_ = arcsine(h);

  // Inside: refraction along and across, Chiang et al. section 4 (Bravais' index for the projected ray).
  const float sin_inside = sin_o / look.index, cos_inside = root(1 - sin_inside * sin_inside);
  const float projected_index = root(look.index * look.index - sin_o * sin_o) / cos_o;
  gamma_t_ = arcsine(h / projected_index);
  const Rgb through = exponential((-2 * std::cos(gamma_t_) / std::max(cos_inside, 1e-4F)) * absorption);
  const float mirrored = fresnel(cos_o * std::cos(gamma_o_), look.index);
  share_[0] = {mirrored, mirrored, mirrored};
  share_[1] = (1 - mirrored) * (1 - mirrored) * through;
  share_[2] = mirrored * times(share_[1], through);
  // All longer paths: a geometric series.
  const auto rest = [&](float a, float t) { return a * mirrored * t / (1 - mirrored * t); };
  share_[3] = {rest(share_[2].x, through.x), rest(share_[2].y, through.y), rest(share_[2].z, through.z)};
  float sum = 0;
  for (const Rgb& a : share_) sum += mean(a);
  for (std::size_t p = 0; p < kPaths; ++p) probability_[p] = mean(share_[p]) / sum;

  const float m = look.roughness_along, n = look.roughness_across;
  const float v = power(0.726F * m + 0.812F * m * m + 3.7F * power(m, 20), 2);
  variance_ = {std::max(v, 1e-4F), std::max(v / 4, 1e-4F), std::max(4 * v, 1e-4F), std::max(4 * v, 1e-4F)};
  scale_ = std::max(1e-3F, std::sqrt(kPi / 8) * (0.265F * n + 1.194F * n * n + 5.372F * power(n, 22)));
  const float theta = arcsine(sin_o), alpha = look.tilt * kPi / 180;
  const std::array<float, kPaths> tilt{2 * alpha, -alpha, -4 * alpha, 0};
  for (std::size_t p = 0; p < kPaths; ++p) out_[p] = {std::sin(theta - tilt[p]), std::abs(std::cos(theta - tilt[p]))};
}

FiberBsdf::Angles FiberBsdf::angles_of(const Vec3f& d) const {
  const float sine = std::clamp(dot(d, tangent_), -1.0F, 1.0F);
  return {sine, root(1 - sine * sine), std::atan2(dot(d, aside_), dot(d, across_))};
}

float FiberBsdf::deflection(int p) const {
  return 2 * static_cast<float>(p) * gamma_t_ - 2 * gamma_o_ + static_cast<float>(p) * kPi;
}

float FiberBsdf::lobe(int p, const Angles& in) const {
  const auto i = static_cast<std::size_t>(p);
  const float m = longitudinal(in.sin_theta, in.cos_theta, out_[i].sin, out_[i].cos, variance_[i]);
  if (p == kPaths - 1) return m / (2 * kPi);
  return m * trimmed_logistic(wrapped(in.phi - deflection(p)), scale_);
}

Rgb FiberBsdf::value(const Vec3f& to_light) const {
  const Angles in = angles_of(to_light);
  Rgb sum{0, 0, 0};
  for (int p = 0; p < kPaths; ++p) sum += lobe(p, in) * share_[static_cast<std::size_t>(p)];
  return sum;
}

float FiberBsdf::density(const Vec3f& to_light) const {
  const Angles in = angles_of(to_light);
  float sum = 0;
  for (int p = 0; p < kPaths; ++p) sum += lobe(p, in) * probability_[static_cast<std::size_t>(p)];
  return sum;
}

FiberBsdf::Sampled FiberBsdf::sample(Point2 u, Point2 w) const {
  // The first number chooses the path; what is left of it chooses phi as well.
  std::size_t p = 0;
  float left = u.x;
  while (p + 1 < kPaths && left >= probability_[p]) left -= probability_[p++];
  // d'Eon et al. (2013): cosine around the lobe's axis, then turned to it.
  const float v = variance_[p];
  const float cosine = 1 + v * std::log(std::max(w.x, 1e-6F) + (1 - w.x) * std::exp(-2 / v)), sine = root(1 - cosine * cosine);
  const float sin_i = std::clamp(-cosine * out_[p].sin + sine * std::cos(2 * kPi * w.y) * out_[p].cos, -1.0F, 1.0F);
  const float cos_i = root(1 - sin_i * sin_i);
  const float phi = p + 1 == kPaths ? 2 * kPi * u.y : deflection(static_cast<int>(p)) + sample_trimmed_logistic(u.y, scale_);
  const Vec3f direction = sin_i * tangent_ + cos_i * (std::cos(phi) * across_ + std::sin(phi) * aside_);
  const float d = density(direction);
  return {direction, d > 1e-8F ? (1 / d) * value(direction) : Rgb{0, 0, 0}};
}

}  // namespace osier::render
