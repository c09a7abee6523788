// A curve that a rod follows: its rest shape or its initial pose. One file per family in generators/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "osier/error.hpp"
#include "osier/types.hpp"

namespace osier {

/// What a sampled curve has in common with the curve itself.
enum class CurveKeep : std::uint8_t { length, points };
template <>
struct Choices<CurveKeep> {
  static constexpr std::array<const char*, 2> names{"length", "points"};
};

class Shape {
 public:
  virtual ~Shape() = default;
  /// Reads files and checks what the fields alone cannot say. `folder` is where relative file names start.
  virtual void prepare(const std::string& folder, Problems& problems) { (void)folder, (void)problems; }
  virtual double length() const = 0;
  virtual bool closed() const { return false; }
  /// The points as given, when the shape is a list of points and the rod asks for no resampling.
  virtual std::optional<std::vector<Vec3d>> own_points() const { return {}; }
  /// `segments` pieces of equal length: segments + 1 points, or `segments` when closed. Where the shape keeps its length, the
  /// pieces together are as long as the curve, and vertices lie a little beside it; otherwise vertices lie on the curve.
  virtual std::vector<Vec3d> sample(int segments) const = 0;

  std::string where;  ///< JSON pointer
};

template <>
std::span<const RegistryEntry<Shape>> registry<Shape>();

/// Points at equal arc length along a polyline.
std::vector<Vec3d> resample(const std::vector<Vec3d>& points, bool closed, int segments);
double polyline_length(const std::vector<Vec3d>& points, bool closed);

/// Indices of the points that lie on their predecessor (for a closed curve also n - 1 when it lies on point 0).
/// "On" is relative to the whole curve: a segment of 1e-12 of its length has no usable direction.
std::vector<std::size_t> coincident_points(const std::vector<Vec3d>& points, bool closed);

}  // namespace osier
