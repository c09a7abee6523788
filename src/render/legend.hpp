// What the colours of a picture mean, written into its corner.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "render/image.hpp"

namespace osier::render {

/// `automatic`: where the colours mean something and there is room.
enum class LegendUse : std::uint8_t { automatic, on, off };

/// A scale from one colour to another, or a list of names with a colour each.
struct Legend {
  struct Entry {
    std::string name;
    Rgb color;
  };
  std::string title;
  std::vector<Rgb> scale;             ///< from left to right, evenly spaced; empty: names
  std::array<std::string, 3> labels;  ///< at the left, in the middle and at the right of the scale
  std::vector<Entry> names;

  bool empty() const { return scale.empty() && names.empty(); }
};

/// Least pictures that have room for one.
constexpr int kLegendLeastWidth = 320, kLegendLeastHeight = 180;
inline bool legend_fits(int width, int height) { return width >= kLegendLeastWidth && height >= kLegendLeastHeight; }

/// Where it stands in a picture of that size, pixels from the upper left corner.
struct LegendBox {
  double left = 0, top = 0, right = 0, bottom = 0;  ///< of the panel
  double bar_left = 0, bar_top = 0, bar_right = 0, bar_bottom = 0;
  double text = 0;  ///< height of capitals
};
LegendBox place_legend(const Legend& legend, int width, int height);

/// `background`: the picture's, as the screen shows it. Letters are dark on a light one and light on a dark one.
void draw_legend(Image& image, const Legend& legend, const Rgb& background);

}  // namespace osier::render

namespace osier {
template <>
struct Choices<render::LegendUse> {
  static constexpr std::array<const char*, 3> names{"auto", "on", "off"};
};
}  // namespace osier
