// A colour as people write it: "#rrggbb".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"
#include "osier/error.hpp"

namespace osier {

struct FieldDoc;

struct HexColor {
  std::array<std::uint8_t, 3> rgb{};  ///< red, green, blue as the screen takes them (sRGB)
  bool operator==(const HexColor&) const = default;

  /// Nothing when the text is something else.
  static std::optional<HexColor> parse(std::string_view text);
  /// "#rrggbb", in lower case.
  std::string text() const;
  /// Each as a part of the largest light, linear, as renderers and USD take them.
  std::array<double, 3> linear() const;

  // A field of the scene language.
  static constexpr bool only_short = true;
  static const char* kind() { return "color"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
};

}  // namespace osier
