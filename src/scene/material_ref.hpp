// How a scene points at a material.
#pragma once

#include <optional>
#include <string>

#include "core/json.hpp"
#include "materials/material.hpp"

namespace osier {

/// A material's name, or the material itself.
struct MaterialRef {
  std::optional<std::string> name;
  std::optional<Material> own;
  std::string where;
  static const char* kind() { return "material"; }
  static const char* help() { return Material::help(); }
  template <class F>
  void fields(F& f) {
    if (!own) own.emplace();
    own->fields(f);
  }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

}  // namespace osier
