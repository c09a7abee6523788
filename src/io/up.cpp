#include "io/up.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "math/vec3.hpp"

namespace osier {

using Json = nlohmann::json;

static std::optional<Vec3d> against(const Json& g) {
  const bool is_vector =
      g.is_array() && g.size() == 3 && std::all_of(g.begin(), g.end(), [](const Json& x) { return x.is_number(); });
  if (!is_vector) return {};
  const Vec3d down{g[0].get<double>(), g[1].get<double>(), g[2].get<double>()};
  if (!(norm(down) > 0)) return {};
  return normalized(-down);
}

Vec3d up_direction(const std::string& scene_json) {
  const Vec3d y{0, 1, 0};
  const Json scene = Json::parse(scene_json, nullptr, false);
  if (!scene.is_object() || !scene.contains("forces") || !scene["forces"].is_array()) return y;
  for (const Json& force : scene["forces"]) {
    if (!force.is_object() || force.value("type", Json()) != "gravity") continue;
    if (!force.contains("acceleration")) return y;  // the default
    const Json& g = force["acceleration"];
    if (const auto up = against(g)) return *up;
    if (!g.is_object() || !g.contains("keys") || !g["keys"].is_array()) continue;
    for (const Json& key : g["keys"])
      if (key.is_array() && key.size() == 2)
        if (const auto up = against(key[1])) return *up;
  }
  return y;
}

std::optional<double> level_of(const Surface& s, const Vec3d& up) {
  if (s.moves || s.triangles.size() != 2 || s.points.size() != 4) return {};
  const Vec3d& a = s.points[0];
  const double size = norm(s.points[1] - a);
  const bool level =
      std::all_of(s.points.begin(), s.points.end(), [&](const Vec3d& p) { return std::abs(dot(p - a, up)) < 1e-9 * size; });
  if (!level || !(dot(cross(s.points[1] - a, s.points[2] - a), up) > 0)) return {};
  return dot(a, up);
}

}  // namespace osier
