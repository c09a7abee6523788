// The numbers of a scene that a viewer offers as sliders: what materials, structures, forces, fracture,
// step and solver say of themselves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/json.hpp"

namespace osier::view {

struct Parameter {
  std::string pointer;  ///< of the number; the component of a vector has a pointer of its own
  std::string label, group, unit, help;
  double value = 0, min = 0, max = 1;
  bool log = false, whole = false;
  /// Where the number stands in a list that the scene leaves to its default: that list and its pointer.
  std::string list_pointer;
  Json list;
};

/// In the order of the scene. Values are the scene's, or defaults where it says nothing.
std::vector<Parameter> parameters_of(const Json& scene);
/// Writes a value into the scene, with what must be around it.
void set_parameter(Json& scene, const Parameter& parameter, double value);
/// Reads the values again, after the scene has changed; ranges grow to hold them and never shrink.
void update_parameters(std::vector<Parameter>& parameters, const Json& scene);
/// The scene as text for its author: keys in the order of the scene language, two blanks deep.
std::string scene_text(const Json& scene);
OrderedJson to_json(const std::vector<Parameter>& parameters);

}  // namespace osier::view
