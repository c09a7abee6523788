// What the colours of a picture mean.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "io/look.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "render/color.hpp"
#include "render/legend.hpp"

namespace osier::render {

/// `automatic` becomes `material` where the scene gives materials colours, and `rod` elsewhere, before anything is drawn.
enum class ColorBy : std::uint8_t { rod, material, stretch, curvature, curvature_change, twist, twist_change, speed, automatic };

}  // namespace osier::render

namespace osier {
template <>
struct Choices<render::ColorBy> {
  static constexpr std::array<const char*, 9> names{"rod",   "material",     "stretch", "curvature", "curvature_change",
                                                    "twist", "twist_change", "speed",   "auto"};
};
}  // namespace osier

namespace osier::render {

/// `automatic` resolved.
ColorBy chosen(ColorBy by, const Look& look);
/// Whether a number is shown, and which: its name, its unit, and whether it can be negative.
bool is_measured(ColorBy by);
const char* name_of(ColorBy by);
const char* unit_of(ColorBy by);
bool has_sign(ColorBy by);
/// A change against the rest shape: the model must know its joints' rest rotations.
bool needs_rest_shape(ColorBy by);

/// One number per segment: change of length over rest length, curvature or twist of the frames [1/m] or how far each is from
/// that of the rest shape, speed [m/s].
std::vector<double> measured(const Model& model, const Frame& frame, ColorBy by);

/// Which of several colours each segment has, and which shade of it.
struct ColorGroups {
  std::vector<unsigned> color, shade;  ///< per segment
  std::vector<std::string> names;      ///< per colour: what has it
};
/// Rods whose names differ in numbers alone share a colour, in shades of their own.
ColorGroups group_by_rod(const Model& model, const std::vector<Index>& rod_of_segment);
/// As recorded; a structure with stiffnesses of its own counts as a material.
ColorGroups group_by_material(const RunInfo& run);

/// What the scene says, and for materials without a colour what the palette has at their place.
std::vector<Rgb> material_palette(const Look& look, const std::vector<Rgb>& palette);

std::vector<Rgb> color_groups(const ColorGroups& groups, const std::vector<Rgb>& palette);
/// `range`: the value at the end of the scale.
Rgb color_of_value(double value, ColorBy by, double range);
std::vector<Rgb> color_values(const std::vector<double>& values, ColorBy by, double range);

/// Says what they mean. `largest`: in the pictures, which may be beyond the end of the scale.
Legend legend_of_values(ColorBy by, double range, double largest);
Legend legend_of_groups(const std::string& title, const ColorGroups& groups, const std::vector<Rgb>& palette);

}  // namespace osier::render
