// Where the rods stand: a large soft light, a sky, a floor that fades into the backdrop.
#pragma once

#include "render/camera.hpp"
#include "render/color.hpp"

namespace osier::render {

struct Studio {
  Vec3f up, south, east;
  Vec3f to_light;          ///< unit
  float light_cosine = 0;  ///< of the light's half angle as seen from the scene
  Rgb light;               ///< what a white surface facing it gives back
  Rgb background;          ///< light that the screen shows as the chosen colour
  bool floor = true;
  float floor_height = 0;  ///< along up [m]
  Vec3f center;            ///< of the scene
  float radius = 1;        ///< of the scene [m]
  float grid = 1;          ///< spacing of the floor's lines [m]

  /// The light stands to the left of and above a camera that looks from this azimuth [degrees].
  Studio(const Ground& ground, const Vec3d& scene_center, double scene_radius, double lowest, double azimuth, const Rgb& shown);

  Rgb sky(const Vec3f& direction) const;       ///< what lights the rods
  Rgb backdrop(const Vec3f& direction) const;  ///< what is seen behind them
  /// The floor there, when this part of the light and of the sky reach it. `pixel`: size of a pixel on the floor [m].
  Rgb floor_color(const Vec3f& point, const Vec3f& direction, float light_seen, float sky_seen, float pixel) const;
  /// How much of the floor is left before it has become backdrop.
  float floor_strength(const Vec3f& point) const;
};

/// 1, 2 or 5 times a power of ten, near a quarter of the radius.
double grid_spacing(double radius);

}  // namespace osier::render
