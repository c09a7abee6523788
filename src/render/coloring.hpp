// What the colours of a picture mean.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "osier/frame.hpp"
#include "render/color.hpp"

namespace osier::render {

enum class ColorBy : std::uint8_t { rod, material, stretch, curvature, twist, speed };

}  // namespace osier::render

namespace osier {
template <>
struct Choices<render::ColorBy> {
  static constexpr std::array<const char*, 6> names{"rod", "material", "stretch", "curvature", "twist", "speed"};
};
}  // namespace osier

namespace osier::render {

/// Whether a number is shown, and which: unit for the message that tells the range.
bool is_measured(ColorBy by);
const char* unit_of(ColorBy by);

/// One number per segment: change of length over rest length, curvature or twist of the frames [1/m], speed [m/s].
std::vector<double> measured(const Model& model, const Frame& frame, ColorBy by);

/// Which of several colours each segment has, and which shade of it.
struct ColorGroups {
  std::vector<unsigned> color, shade;  ///< per segment
};
/// Rods whose names differ in numbers alone share a colour, in shades of their own.
ColorGroups group_by_rod(const Model& model, const std::vector<Index>& rod_of_segment);
/// By the materials of the scene; rods that a structure made count as one material for each of its families of rods.
ColorGroups group_by_material(const Model& model, const std::vector<Index>& rod_of_segment, const std::string& scene_json);

std::vector<Rgb> color_groups(const ColorGroups& groups, const std::vector<Rgb>& palette);
/// `range`: the value at the end of the scale.
std::vector<Rgb> color_values(const std::vector<double>& values, ColorBy by, double range);

}  // namespace osier::render
