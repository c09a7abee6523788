#include "math/polyline.hpp"

namespace osier {

double polyline_length(std::span<const Vec3d> corners) {
  double length = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) length += norm(corners[i] - corners[i - 1]);
  return length;
}

std::vector<PlaceOnPolyline> equal_steps(std::span<const Vec3d> corners, int segments) {
  std::vector<double> arc{0};  // length up to each corner
  arc.reserve(corners.size());
  for (std::size_t i = 1; i < corners.size(); ++i) arc.push_back(arc.back() + norm(corners[i] - corners[i - 1]));
  std::vector<PlaceOnPolyline> places;
  places.reserve(static_cast<std::size_t>(segments) + 1);
  std::size_t piece = 1;
  for (int i = 0; i < segments; ++i) {
    const double s = arc.back() * i / segments;
    while (piece + 1 < corners.size() && arc[piece] < s) ++piece;
    const double span = arc[piece] - arc[piece - 1];
    places.push_back({piece - 1, span > 0 ? (s - arc[piece - 1]) / span : 0});
  }
  places.push_back({corners.size() - 2, 1});  // exactly, whatever the rounding along the way
  return places;
}

}  // namespace osier
