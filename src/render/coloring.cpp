#include "render/coloring.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "energies/bend_twist.hpp"
#include "math/quat.hpp"

namespace osier::render {

bool is_measured(ColorBy by) { return by != ColorBy::rod && by != ColorBy::material; }

const char* unit_of(ColorBy by) {
  switch (by) {
    case ColorBy::curvature:
    case ColorBy::twist:
      return "1/m";
    case ColorBy::speed:
      return "m/s";
    default:
      return "";
  }
}

namespace {

/// Mean over a segment's living joints of what `f` makes of the joint's curvature.
template <class F>
std::vector<double> over_joints(const Model& model, const Frame& frame, const F& f) {
  std::vector<double> sum(static_cast<std::size_t>(model.segment_count()), 0), weight(sum.size(), 0);
  for (Index j = 0; j < model.joint_count(); ++j) {
    const auto [a, b] = model.joint_frames[j];
    if (model.is_anchor(a) || model.is_anchor(b) || !frame.segment_alive[a] || !frame.segment_alive[b]) continue;
    const Quatd r = conj(frame.segment_frame[a]) * frame.segment_frame[b];
    const double value = model.joint_length[j] > 0 ? f(bend_twist::curvature(r, model.joint_length[j])) : 0;
    for (const Index s : {a, b}) sum[s] += value, weight[s] += 1;
  }
  for (std::size_t s = 0; s < sum.size(); ++s)
    if (weight[s] > 0) sum[s] /= weight[s];
  return sum;
}

/// A rod's name without its numbers.
std::string family(const std::string& name) {
  std::string text;
  for (const char c : name)
    if (c < '0' || c > '9') text += c;
  return text;
}

/// Numbers words in the order in which they appear.
class Numbering {
 public:
  unsigned of(const std::string& word) {
    return numbers_.try_emplace(word, static_cast<unsigned>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, unsigned> numbers_;
};

}  // namespace

std::vector<double> measured(const Model& model, const Frame& frame, ColorBy by) {
  if (by == ColorBy::curvature) return over_joints(model, frame, [](const Vec3d& k) { return std::hypot(k.x, k.y); });
  if (by == ColorBy::twist) return over_joints(model, frame, [](const Vec3d& k) { return k.z; });
  std::vector<double> values(static_cast<std::size_t>(model.segment_count()));
  for (std::size_t s = 0; s < values.size(); ++s) {
    const auto [a, b] = model.segment_vertices[s];
    if (by == ColorBy::speed) values[s] = norm(0.5 * (frame.vertex_velocity[a] + frame.vertex_velocity[b]));
    else values[s] = norm(frame.vertex_position[b] - frame.vertex_position[a]) / model.segment_rest_length[s] - 1;
  }
  return values;
}

ColorGroups group_by_rod(const Model& model, const std::vector<Index>& rod_of_segment) {
  std::vector<std::uint8_t> drawn(model.rods.size(), 0);
  for (const Index r : rod_of_segment)
    if (r >= 0) drawn[r] = 1;
  Numbering families;
  std::vector<unsigned> color_of_rod(model.rods.size()), shade_of_rod(model.rods.size()), members;
  for (std::size_t r = 0; r < model.rods.size(); ++r) {
    if (!drawn[r]) continue;  // a mere selection, such as a structure's roots
    const unsigned f = families.of(family(model.rods[r].name));
    members.resize(std::max<std::size_t>(members.size(), f + 1), 0);
    color_of_rod[r] = f, shade_of_rod[r] = members[f]++;
  }
  ColorGroups groups;
  for (const Index r : rod_of_segment) {
    groups.color.push_back(r < 0 ? 0 : color_of_rod[r]);
    groups.shade.push_back(r < 0 ? 0 : shade_of_rod[r]);
  }
  return groups;
}

ColorGroups group_by_material(const Model& model, const std::vector<Index>& rod_of_segment, const std::string& scene_json) {
  using Json = nlohmann::json;
  const Json scene = Json::parse(scene_json, nullptr, false);
  const Json rods = scene.is_object() ? scene.value("rods", Json::array()) : Json::array();
  const auto word = [](const Json& material) { return material.is_string() ? material.get<std::string>() : material.dump(); };
  Numbering materials;
  ColorGroups groups;
  std::vector<unsigned> of_rod(model.rods.size(), ~0U);
  groups.color.assign(rod_of_segment.size(), 0), groups.shade.assign(rod_of_segment.size(), 0);
  std::map<std::string, const Json*> described;
  for (std::size_t i = 0; i < rods.size(); ++i)
    if (rods[i].is_object()) described[rods[i].value("name", "rod" + std::to_string(i))] = &rods[i];
  for (std::size_t s = 0; s < rod_of_segment.size(); ++s) {
    const Index r = rod_of_segment[s];
    if (r < 0) continue;
    if (of_rod[r] == ~0U) {
      const auto found = described.find(model.rods[r].name);
      const bool known = found != described.end() && found->second->contains("material");
      of_rod[r] = materials.of(known ? "material " + word((*found->second)["material"]) : "family " + family(model.rods[r].name));
    }
    groups.color[s] = of_rod[r];
  }
  for (const RodInfo& rod : model.rods) {
    const auto found = described.find(rod.name);
    if (found == described.end() || !found->second->contains("segment_materials")) continue;
    const int n = static_cast<int>(rod.segments.size());
    for (const Json& exception : (*found->second)["segment_materials"]) {
      const auto place = [&](const char* key, int otherwise) {
        const int i = exception.value(key, otherwise);
        return i < 0 ? i + n : i;
      };
      for (int i = std::max(0, place("first", 0)); i <= std::min(n - 1, place("last", -1)); ++i)
        groups.color[rod.segments[i]] = materials.of("material " + word(exception.value("material", Json())));
    }
  }
  return groups;
}

std::vector<Rgb> color_groups(const ColorGroups& groups, const std::vector<Rgb>& palette) {
  std::vector<Rgb> colors(groups.color.size());
  for (std::size_t s = 0; s < colors.size(); ++s)
    colors[s] = shade_of(palette[groups.color[s] % palette.size()], groups.shade[s]);
  return colors;
}

std::vector<Rgb> color_values(const std::vector<double>& values, ColorBy by, double range) {
  const bool has_sign = by == ColorBy::stretch || by == ColorBy::twist;
  std::vector<Rgb> colors(values.size());
  for (std::size_t s = 0; s < values.size(); ++s) {
    const auto t = static_cast<float>(range > 0 ? values[s] / range : 0);
    colors[s] = has_sign ? diverging(t) : sequential(t);
  }
  return colors;
}

}  // namespace osier::render
