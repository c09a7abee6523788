// Materials by name, each with the source of its numbers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "osier/error.hpp"

namespace osier {

struct Preset {
  const char* name;
  const char* help;
  double young;                  ///< E [Pa]
  double shear_modulus;          ///< G [Pa]
  double density;                ///< rho [kg/m^3]
  std::optional<double> radius;  ///< [m], where the material has a usual one
  const char* source;
};

std::span<const Preset> presets();

/// A word from that list.
struct PresetName {
  const Preset* value = nullptr;
  static constexpr bool only_short = true;
  static const char* kind() { return "preset"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

}  // namespace osier
