#include "render/studio.hpp"

#include <algorithm>
#include <cmath>

#include "render/image.hpp"

namespace osier::render {

double grid_spacing(double radius) {
  const double wanted = radius / 4, power = std::pow(10, std::floor(std::log10(wanted)));
  for (const double step : {5.0, 2.0})
    if (step * power <= wanted) return step * power;
  return power;
}

Studio::Studio(const Ground& ground, const Vec3d& scene_center, double scene_radius, double lowest, double azimuth,
               const Rgb& shown)
    : up(cast<float>(ground.up)), south(cast<float>(ground.south)), east(cast<float>(ground.east)) {
  to_light = cast<float>(-looking_from(ground, azimuth - 48, 52)[2]);
  light_cosine = std::cos(0.085F);
  light = {1.34F, 1.28F, 1.19F};
  background = {inverse_tone(shown.x), inverse_tone(shown.y), inverse_tone(shown.z)};
  floor_height = static_cast<float>(lowest);
  center = cast<float>(scene_center);
  radius = static_cast<float>(scene_radius);
  grid = static_cast<float>(grid_spacing(scene_radius));
}

Rgb Studio::sky(const Vec3f& d) const {
  const float height = dot(d, up);
  const Rgb zenith{0.62F, 0.70F, 0.82F}, horizon{0.52F, 0.52F, 0.52F};
  if (height >= 0) return mix(horizon, zenith, std::sqrt(height));
  // What the floor throws back, darker straight below where the rods shade it themselves.
  const Rgb bounce = 0.42F * Rgb{std::min(background.x, 1.0F), std::min(background.y, 1.0F), std::min(background.z, 1.0F)};
  return mix(horizon, bounce, std::min(1.0F, -3 * height));
}

Rgb Studio::backdrop(const Vec3f& d) const {
  // Brightest around the horizon behind the rods.
  const float height = dot(d, up);
  return (1 - 0.16F * smooth_step(0.0F, 0.75F, std::abs(height))) * background;
}

float Studio::floor_strength(const Vec3f& p) const {
  const Vec3f away = p - center;
  const float distance = norm(away - dot(away, up) * up);
  return 1 - smooth_step(1.1F * radius, 4.5F * radius, distance);
}

Rgb Studio::floor_color(const Vec3f& p, const Vec3f& d, float light_seen, float sky_seen, float pixel) const {
  const float strength = floor_strength(p);
  const Rgb far = backdrop(d);
  if (strength <= 0) return far;
  // The part of the light that arrives is all that counts: where nothing is in the way the floor is the backdrop.
  constexpr float kFromLight = 0.58F;
  const float seen = kFromLight * light_seen + (1 - kFromLight) * sky_seen;
  // Less than the full shadow of a real floor, which would be darker than the rods.
  Rgb color = (1 - 0.8F * (1 - seen)) * far;
  float line = 0;
  for (const Vec3f* axis : {&south, &east}) {
    const float place = dot(p, *axis) / grid, nearest = std::round(place);
    const bool major = std::fmod(std::abs(nearest), 5.0F) < 0.5F;
    const float width = (major ? 0.016F : 0.009F) * grid, blur = std::max(width, pixel);
    const float cover = std::min(1.0F, width / blur) * (1 - smooth_step(0.5F * blur, blur, grid * std::abs(place - nearest)));
    line = std::max(line, (major ? 0.17F : 0.10F) * cover);
  }
  const bool dark = background.x + background.y + background.z < 0.6F;
  color = dark ? color + line * Rgb{0.25F, 0.25F, 0.27F} : (1 - line) * color;
  return mix(far, color, strength);
}

}  // namespace osier::render
