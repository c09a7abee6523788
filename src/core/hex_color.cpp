#include "core/hex_color.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "core/fields.hpp"

namespace osier {

std::optional<HexColor> HexColor::parse(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return {};
  HexColor color;
  for (std::size_t c = 0; c < 3; ++c) {
    const char *first = text.data() + 1 + 2 * c, *last = first + 2;
    const auto [end, bad] = std::from_chars(first, last, color.rgb[c], 16);
    if (bad != std::errc{} || end != last) return {};
  }
  return color;
}

std::string HexColor::text() const { return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]); }

std::array<double, 3> HexColor::linear() const {
  std::array<double, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double v = rgb[c] / 255.0;
    out[c] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  }
  return out;
}

bool HexColor::read_short(const Json& j, const std::string& at, Problems& problems) {
  const std::optional<HexColor> color = j.is_string() ? parse(j.get<std::string>()) : std::nullopt;
  if (color) *this = *color;
  else problems.add(at, shorten(j) + " is not a colour", R"(write it as "#rrggbb")");
  return true;
}

OrderedJson HexColor::short_schema(FieldDoc& doc) {
  doc.type = "colour `#rrggbb`";
  return {{"type", "string"}, {"pattern", "^#[0-9a-fA-F]{6}$"}};
}

}  // namespace osier
