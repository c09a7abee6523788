#include "obstacles/shapes/tessellate.hpp"

#include <cmath>
#include <numbers>

namespace osier {

Surface turned_surface(const std::vector<std::array<double, 2>>& profile, const Pose& pose, bool inward, int sides) {
  Surface s;
  s.from_inside = inward;
  for (const auto& [radius, height] : profile)
    for (int i = 0; i < sides; ++i) {
      const double a = 2 * std::numbers::pi * i / sides;
      s.points.push_back(pose.center + rotate(pose.turn, {radius * std::cos(a), radius * std::sin(a), height}));
    }
  for (std::size_t ring = 0; ring + 1 < profile.size(); ++ring)
    for (int i = 0; i < sides; ++i) {
      const auto index = [&](std::size_t r, int k) {
        return static_cast<Index>(r * static_cast<std::size_t>(sides)) + k % sides;
      };
      const Index a = index(ring, i), b = index(ring, i + 1), c = index(ring + 1, i + 1), d = index(ring + 1, i);
      const auto add = [&](Index x, Index y, Index z) {
        if (inward) std::swap(y, z);
        s.triangles.push_back({x, y, z});
      };
      if (profile[ring][0] > 0) add(a, b, c);
      if (profile[ring + 1][0] > 0) add(a, c, d);
    }
  return s;
}

Surface box_surface(const Vec3d& half, const Pose& pose, bool inward) {
  Surface s;
  s.from_inside = inward;
  for (int i = 0; i < 8; ++i)
    s.points.push_back(pose.center +
                       rotate(pose.turn, {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z}));
  constexpr Index faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& f : faces) {
    s.triangles.push_back(inward ? std::array{f[0], f[2], f[1]} : std::array{f[0], f[1], f[2]});
    s.triangles.push_back(inward ? std::array{f[0], f[3], f[2]} : std::array{f[0], f[2], f[3]});
  }
  return s;
}

Pose pose_between(const Vec3d& from, const Vec3d& to) {
  return {0.5 * (from + to), rotation_between(Vec3d{0, 0, 1}, normalized(to - from))};
}

}  // namespace osier
