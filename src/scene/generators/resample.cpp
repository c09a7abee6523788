#include "math/polyline.hpp"
#include "scene/shape.hpp"

namespace osier {

double polyline_length(const std::vector<Vec3d>& points, bool closed) {
  double length = polyline_length(std::span<const Vec3d>(points));
  if (closed && points.size() > 1) length += norm(points.front() - points.back());
  return length;
}

std::vector<Vec3d> resample(const std::vector<Vec3d>& points, bool closed, int segments) {
  std::vector<Vec3d> corners = points;
  if (closed && !points.empty()) corners.push_back(points.front());
  if (corners.size() < 2 || segments < 1) return points;
  std::vector<Vec3d> result;
  for (const PlaceOnPolyline& p : equal_steps(corners, segments)) result.push_back(at(corners, p));
  if (closed) result.pop_back();
  else result.back() = corners.back();
  return result;
}

}  // namespace osier
