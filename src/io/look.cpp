#include "io/look.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/up.hpp"

namespace osier {

namespace {

std::optional<HexColor> color_in(const Json& object) {
  if (!object.is_object() || !object.contains("color") || !object["color"].is_string()) return {};
  return HexColor::parse(object["color"].get<std::string>());
}

/// Of a material by its name, of one written in place by its pointer, or of a structure by its name or its type.
std::optional<HexColor> color_called(const Json& scene, const std::string& name) {
  if (name.starts_with('/')) {
    const Json::json_pointer place(name);
    return scene.contains(place) ? color_in(scene[place]) : std::nullopt;
  }
  if (scene.contains("materials") && scene["materials"].is_object() && scene["materials"].contains(name))
    return color_in(scene["materials"][name]);
  if (!scene.contains("structures") || !scene["structures"].is_array()) return {};
  for (const Json& s : scene["structures"])
    if (s.is_object() && (s.value("name", Json()) == name || (!s.contains("name") && s.value("type", Json()) == name)))
      return color_in(s);
  return {};
}

}  // namespace

bool Look::has_colors() const {
  return std::any_of(material.begin(), material.end(), [](const auto& c) { return c.has_value(); });
}

std::optional<HexColor> Look::of_segment(const RunInfo& info, std::size_t segment) const {
  if (segment >= info.segment_material.size()) return {};
  const auto m = static_cast<std::size_t>(info.segment_material[segment]);
  return m < material.size() ? material[m] : std::nullopt;
}

Look look_of(const RunInfo& info) {
  Look look;
  look.material.resize(info.materials.size());
  const Json scene = Json::parse(info.scene_json, nullptr, false);
  if (!scene.is_object()) return look;
  if (scene.contains("view") && scene["view"].is_object() && scene["view"].contains("ground")) {
    const Json& ground = scene["view"]["ground"];
    if (ground.is_number()) look.ground = ground.get<double>();
    else look.no_ground = ground == "none";
  }
  for (std::size_t m = 0; m < look.material.size(); ++m) look.material[m] = color_called(scene, info.materials[m]);
  return look;
}

std::optional<double> ground_of(const Look& look, std::span<const Surface> obstacles, const Vec3d& up) {
  if (look.no_ground) return {};
  if (look.ground) return look.ground;
  std::optional<double> highest;
  for (const Surface& s : obstacles)
    if (const auto level = level_of(s, up)) highest = std::max(highest.value_or(*level), *level);
  return highest;
}

}  // namespace osier
