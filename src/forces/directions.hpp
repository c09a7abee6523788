// Single directions as a scene spells them: "x", "xy", [1, 1, 0], or a list of vectors.
#pragma once

#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier {

struct Directions {
  std::vector<Vec3d> list;  ///< unit
  std::string where;

  static constexpr bool only_short = true;
  static const char* kind() { return "directions"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

}  // namespace osier
