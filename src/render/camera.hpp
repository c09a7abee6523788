// Cameras: what the user asks for, the fit around the scene, and the rays.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier::render {

/// A pinhole camera with square pixels.
struct Camera {
  Vec3d position, right, up, forward;  ///< right, up, forward: unit, right-angled
  double tan_x = 0, tan_y = 0;         ///< half the picture at distance 1
  int width = 0, height = 0;           ///< pixels

  /// Direction through a place of the picture in pixels, (0, 0) the upper left corner; not of unit length: its part along
  /// `forward` is 1.
  Vec3d direction(double x, double y) const;
  /// Where a point is seen: x and y in pixels and its depth along `forward`.
  Vec3d project(const Vec3d& point) const;
  /// Width of a pixel there [m].
  double pixel_size(const Vec3d& point) const;
};

/// What `--camera` can say. Without `from` the camera stands at the angles given and as near as it can be with everything in
/// the picture.
struct View {
  std::optional<Vec3d> from, at;
  std::optional<double> azimuth, elevation;  ///< [degrees] azimuth from south (+z with y up) towards east (+x)
  double fov = 30;                           ///< of the picture's height [degrees]
  double zoom = 1;                           ///< focal length, as a factor, once the camera stands
};

/// Pairs of a word and a value: `from x,y,z`, `at x,y,z`, `azimuth d`, `elevation d`, `fov d`, `zoom f`.
View parse_view(const std::string& text, const char* where, Problems& problems);

/// Two directions across `up`: south (towards the viewer of a scene with y up: +z) and east (+x).
struct Ground {
  Vec3d up, south, east;
  explicit Ground(const Vec3d& upwards);
};

/// The camera axes that look from azimuth (from south towards east) and elevation, both in degrees.
std::array<Vec3d, 3> looking_from(const Ground& ground, double azimuth, double elevation);

/// The nearest camera of given axes that sees everything added. A point is inside the picture's left edge when
/// x + tan_x z >= position_x + tan_x position_z in camera axes, so the farthest point in each of four directions is all that
/// counts, and the fit is exact in one pass.
class Fit {
 public:
  Fit(const std::array<Vec3d, 3>& right_up_forward, double fov, int width, int height);
  void add(const Vec3d& point, double radius);
  /// `margin`: free part of the picture's half width or height. With nothing added, a camera at the origin.
  Camera camera(double margin) const;

 private:
  Camera axes_;
  std::array<double, 4> support_;  ///< right, left, top, bottom
  bool any_ = false;
};

Camera camera_at(const Vec3d& from, const Vec3d& at, const Vec3d& up, double fov, int width, int height);

}  // namespace osier::render
