#include "render/coloring.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "energies/bend_twist.hpp"
#include "math/quat.hpp"
#include "model/rod_family.hpp"

namespace osier::render {

ColorBy chosen(ColorBy by, const Look& look) {
  if (by != ColorBy::automatic) return by;
  return look.has_colors() ? ColorBy::material : ColorBy::rod;
}

bool is_measured(ColorBy by) { return by != ColorBy::rod && by != ColorBy::material && by != ColorBy::automatic; }

const char* name_of(ColorBy by) {
  if (by == ColorBy::curvature_change) return "change of curvature";
  if (by == ColorBy::twist_change) return "change of twist";
  return Choices<ColorBy>::names[static_cast<std::size_t>(by)];
}

const char* unit_of(ColorBy by) {
  if (by == ColorBy::speed) return "m/s";
  return is_measured(by) && by != ColorBy::stretch ? "1/m" : "";
}

bool has_sign(ColorBy by) { return by == ColorBy::stretch || by == ColorBy::twist || by == ColorBy::twist_change; }
bool needs_rest_shape(ColorBy by) { return by == ColorBy::curvature_change || by == ColorBy::twist_change; }

namespace {

/// Mean over a segment's living joints of what `f` makes of the joint's curvature, or of its change from rest.
template <class F>
std::vector<double> over_joints(const Model& model, const Frame& frame, bool change, const F& f) {
  std::vector<double> sum(static_cast<std::size_t>(model.segment_count()), 0), weight(sum.size(), 0);
  for (Index j = 0; j < model.joint_count(); ++j) {
    const auto [a, b] = model.joint_frames[j];
    if (model.is_anchor(a) || model.is_anchor(b) || !frame.segment_alive[a] || !frame.segment_alive[b]) continue;
    const Quatd r = conj(frame.segment_frame[a]) * frame.segment_frame[b];
    const double length = model.joint_length[j];
    double value = 0;
    if (length > 0) {
      Vec3d k = bend_twist::curvature(r, length);
      if (change) k -= bend_twist::curvature(model.joint_rest_rotation[j], length);
      value = f(k);
    }
    for (const Index s : {a, b}) sum[s] += value, weight[s] += 1;
  }
  for (std::size_t s = 0; s < sum.size(); ++s)
    if (weight[s] > 0) sum[s] /= weight[s];
  return sum;
}

}  // namespace

std::vector<double> measured(const Model& model, const Frame& frame, ColorBy by) {
  const bool change = needs_rest_shape(by);
  if (by == ColorBy::curvature || by == ColorBy::curvature_change)
    return over_joints(model, frame, change, [](const Vec3d& k) { return std::hypot(k.x, k.y); });
  if (by == ColorBy::twist || by == ColorBy::twist_change)
    return over_joints(model, frame, change, [](const Vec3d& k) { return k.z; });
  std::vector<double> values(static_cast<std::size_t>(model.segment_count()));
  for (std::size_t s = 0; s < values.size(); ++s) {
    const auto [a, b] = model.segment_vertices[s];
    if (by == ColorBy::speed) values[s] = norm(0.5 * (frame.vertex_velocity[a] + frame.vertex_velocity[b]));
    else values[s] = norm(frame.vertex_position[b] - frame.vertex_position[a]) / model.segment_rest_length[s] - 1;
  }
  return values;
}

ColorGroups group_by_rod(const Model& model, const std::vector<Index>& rod_of_segment) {
  const RodFamilies families = rod_families(model, rod_of_segment);
  ColorGroups groups;
  for (const Index r : rod_of_segment) {
    groups.color.push_back(r < 0 ? 0 : families.of_rod[static_cast<std::size_t>(r)]);
    groups.shade.push_back(r < 0 ? 0 : families.place[static_cast<std::size_t>(r)]);
  }
  groups.names = families.names;
  return groups;
}

ColorGroups group_by_material(const RunInfo& run) {
  ColorGroups groups;
  groups.color.assign(run.segment_material.begin(), run.segment_material.end());
  groups.shade.assign(groups.color.size(), 0);
  groups.names = run.materials;
  return groups;
}

std::vector<Rgb> material_palette(const Look& look, const std::vector<Rgb>& palette) {
  std::vector<Rgb> colors;
  for (std::size_t m = 0; m < look.material.size(); ++m)
    colors.push_back(look.material[m] ? to_rgb(*look.material[m]) : palette[m % palette.size()]);
  return colors.empty() ? palette : colors;
}

std::vector<Rgb> color_groups(const ColorGroups& groups, const std::vector<Rgb>& palette) {
  std::vector<Rgb> colors(groups.color.size());
  for (std::size_t s = 0; s < colors.size(); ++s)
    colors[s] = shade_of(palette[groups.color[s] % palette.size()], groups.shade[s]);
  return colors;
}

Rgb color_of_value(double value, ColorBy by, double range) {
  const auto t = static_cast<float>(range > 0 ? value / range : 0);
  return has_sign(by) ? diverging(t) : sequential(t);
}

std::vector<Rgb> color_values(const std::vector<double>& values, ColorBy by, double range) {
  std::vector<Rgb> colors(values.size());
  for (std::size_t s = 0; s < values.size(); ++s) colors[s] = color_of_value(values[s], by, range);
  return colors;
}

Legend legend_of_values(ColorBy by, double range, double largest) {
  Legend legend;
  const std::string unit = unit_of(by);
  legend.title = name_of(by) + (unit.empty() ? "" : fmt::format(" [{}]", unit));
  const double low = has_sign(by) ? -range : 0, middle = 0.5 * (low + range);
  constexpr int kStops = 60;  // a multiple of what both scales are made of
  for (int i = 0; i <= kStops; ++i) legend.scale.push_back(color_of_value(low + (range - low) * i / kStops, by, range));
  const auto number = [](double value) { return fmt::format("{}{:.3g}", value < 0 ? "−" : "", std::abs(value)); };
  const bool beyond = largest > range * (1 + 1e-9);
  legend.labels = {(beyond && low < 0 ? "≤ " : "") + number(low), number(middle), (beyond ? "≥ " : "") + number(range)};
  if (!(range > 0)) legend.labels = {"", "0 everywhere", ""};
  return legend;
}

Legend legend_of_groups(const std::string& title, const ColorGroups& groups, const std::vector<Rgb>& palette) {
  Legend legend;
  legend.title = title;
  for (std::size_t i = 0; i < groups.names.size(); ++i) legend.names.push_back({groups.names[i], palette[i % palette.size()]});
  return legend;
}

}  // namespace osier::render
