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

std::vector<std::size_t> coincident_points(const std::vector<Vec3d>& points, bool closed) {
  const double tolerance = 1e-12 * polyline_length(points, closed);
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (norm(points[i] - points[i - 1]) <= tolerance) found.push_back(i);
  if (closed && points.size() > 2 && norm(points.back() - points.front()) <= tolerance) found.push_back(points.size() - 1);
  return found;
}

}  // namespace osier
