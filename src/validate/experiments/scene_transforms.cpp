#include "validate/experiments/scene_transforms.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "math/quat.hpp"
#include "osier/error.hpp"

namespace osier::validate {

namespace {

using Words = std::vector<std::string>;

const Words kPoints{"from", "to", "center", "points", "about"};
const Words kDirections{"normal",       "start", "axis",      "direction", "up",     "tangent",
                        "acceleration", "force", "translate", "linear",    "angular"};

/// What must be written out, because its default would not turn with the rest: by `type`, or by the key of an object without one.
const std::map<std::string, Words> kWrittenOut{{"arc", {"center", "normal", "start"}},
                                               {"circle", {"center", "normal", "start"}},
                                               {"helix", {"center", "axis", "start"}},
                                               {"gravity", {"acceleration"}},
                                               {"wind", {"direction"}},
                                               {"hinge", {"axis"}},
                                               {"rotate", {"axis", "center"}},
                                               {"velocity", {"about"}},
                                               {"rods", {"up"}}};

bool contains(const Words& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

bool is_vector(const Json& j) { return j.is_array() && j.size() == 3 && j[0].is_number(); }

class Mover {
 public:
  Mover(const Quatd& turn, const Vec3d& shift) : turn_(turn), shift_(shift) {}

  void walk(Json& j, const std::string& key) const {
    if (j.is_array())
      for (Json& item : j) walk(item, key);
    if (!j.is_object()) return;
    check(j, key);
    const bool material = j.value("axes", "world") == "material";
    for (auto& [name, value] : j.items()) {
      if (contains(kPoints, name)) move(value, shift_);
      else if (contains(kDirections, name) || (name == "torque" && !material)) move(value, {});
      else walk(value, name);
    }
  }

 private:
  void check(const Json& j, const std::string& key) const {
    const std::string kind = j.contains("type") && j["type"].is_string() ? j["type"].get<std::string>() : key;
    if (key == "structures" || kind == "polyline" || kind == "coil")
      throw RunError(fmt::format("a scene with `{}` cannot be turned", kind));
    const auto needs = kWrittenOut.find(kind);
    if (needs == kWrittenOut.end()) return;
    for (const std::string& name : needs->second)
      if (!j.contains(name)) throw RunError(fmt::format("to turn the scene, `{}` of `{}` must be written out", name, kind));
  }
  /// A vector, a list of vectors, or keyframes of vectors.
  void move(Json& j, const Vec3d& shift) const {
    if (is_vector(j)) {
      const Vec3d x = rotate(turn_, Vec3d{j[0], j[1], j[2]}) + shift;
      j = {x.x, x.y, x.z};
    } else if (j.is_object() && j.contains("keys")) {
      for (Json& k : j["keys"]) move(k[1], shift);
    } else if (j.is_array()) {
      for (Json& item : j) move(item, shift);
    }
  }
  Quatd turn_;
  Vec3d shift_;
};

void reverse_shape(Json& shape) {
  const std::string type = shape.value("type", "");
  if (type == "points") std::reverse(shape["points"].begin(), shape["points"].end());
  else if (type == "line") std::swap(shape["from"], shape["to"]);
  else throw RunError(fmt::format("a rod along `{}` cannot be reversed", type));
}

void reverse_selection(Json& j) {
  if (j.is_array()) {
    for (Json& item : j) reverse_selection(item);
    return;
  }
  std::string text = j.is_string() ? j.get<std::string>() : "";
  const std::size_t colon = text.rfind(':');
  const std::string word = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (word == "start") j = text.substr(0, colon) + ":end";
  else if (word == "end") j = text.substr(0, colon) + ":start";
  else if (word != "*") throw RunError(fmt::format("the selection {} cannot be reversed", j.dump()));
}

void reverse_selections(Json& j) {
  if (j.is_array())
    for (Json& item : j) reverse_selections(item);
  if (!j.is_object()) return;
  for (auto& [name, value] : j.items()) {
    if (contains({"vertices", "vertex", "segments", "segment", "joint", "clamp"}, name)) reverse_selection(value);
    else reverse_selections(value);
  }
}

}  // namespace

Json moved_scene(Json scene, const Quatd& turn, const Vec3d& shift) {
  Mover(turn, shift).walk(scene, "");
  return scene;
}

Json reversed_scene(Json scene) {
  for (Json& rod : scene["rods"]) {
    for (const char* key : {"segment_materials", "taper", "pose_twist", "up"})
      if (rod.contains(key)) throw RunError(fmt::format("a rod with `{}` cannot be reversed", key));
    reverse_shape(rod["shape"]);
    if (rod.contains("pose")) reverse_shape(rod["pose"]);
  }
  for (const char* key : {"constraints", "forces", "probes", "welds", "joints"})
    if (scene.contains(key)) reverse_selections(scene[key]);
  return scene;
}

}  // namespace osier::validate
