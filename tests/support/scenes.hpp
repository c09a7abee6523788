// Scenes as text, and distances between states.
#pragma once

#include <algorithm>
#include <string>

#include "math/quat.hpp"
#include "osier/osier.hpp"

namespace osier::test {

inline Scene scene_with(const std::string& text, const std::string& solver_json) {
  LoadOptions options;
  options.overrides.push_back("/solver=" + solver_json);
  return Scene::parse(text, "test", ".", options);
}

inline double extent(const State& a) {
  double size = 0;
  for (const Vec3d& x : a.vertex_position) size = std::max(size, norm(x - a.vertex_position[0]));
  return size;
}
inline double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, norm(a[i] - b[i]));
  return worst;
}
/// Largest difference of two lists of frames as rotations: q and -q are the same.
inline double farthest(const std::vector<Quatd>& a, const std::vector<Quatd>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::min(norm(a[i] - b[i]), norm(a[i] + b[i])));
  return worst;
}
inline bool identical(const State& a, const State& b) {
  const auto same3 = [](const Vec3d& x, const Vec3d& y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
  const auto same4 = [](const Quatd& x, const Quatd& y) { return x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w; };
  return std::equal(a.vertex_position.begin(), a.vertex_position.end(), b.vertex_position.begin(), b.vertex_position.end(),
                    same3) &&
         std::equal(a.vertex_velocity.begin(), a.vertex_velocity.end(), b.vertex_velocity.begin(), b.vertex_velocity.end(),
                    same3) &&
         std::equal(a.frame_rotation.begin(), a.frame_rotation.end(), b.frame_rotation.begin(), b.frame_rotation.end(), same4);
}

}  // namespace osier::test
