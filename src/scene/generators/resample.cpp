// Equal arc length along a polyline. The new vertices lie on the old lines, so a corner between two of them is cut; the
// alternative, equal chords, needs an iteration and need not exist on a curve that folds back.
#include <algorithm>

#include "scene/shape.hpp"

namespace osier {

double polyline_length(const std::vector<Vec3d>& points, bool closed) {
  double length = 0;
  for (std::size_t i = 1; i < points.size(); ++i) length += norm(points[i] - points[i - 1]);
  if (closed && points.size() > 1) length += norm(points.front() - points.back());
  return length;
}

std::vector<Vec3d> resample(const std::vector<Vec3d>& points, bool closed, int segments) {
  std::vector<Vec3d> corners = points;
  if (closed && !points.empty()) corners.push_back(points.front());
  if (corners.size() < 2 || segments < 1) return points;
  std::vector<double> arc{0};  // length up to each corner
  for (std::size_t i = 1; i < corners.size(); ++i) arc.push_back(arc.back() + norm(corners[i] - corners[i - 1]));
  std::vector<Vec3d> result;
  std::size_t piece = 1;
  for (int i = 0; i < segments; ++i) {
    const double s = arc.back() * i / segments;
    while (piece + 1 < corners.size() && arc[piece] < s) ++piece;
    const double span = arc[piece] - arc[piece - 1];
    const double t = span > 0 ? (s - arc[piece - 1]) / span : 0;
    result.push_back((1 - t) * corners[piece - 1] + t * corners[piece]);
  }
  if (!closed) result.push_back(corners.back());  // exactly, whatever the rounding along the way
  return result;
}

}  // namespace osier
