#include <cmath>
#include <numbers>

#include "io/curve_writer.hpp"

namespace osier {

CurveMaterial mean_material(const Model& model) {
  CurveMaterial m;
  double length = 0, joints = 0, mass = 0, volume = 0, radius = 0;
  for (std::size_t s = 0; s < model.segment_vertices.size(); ++s) {
    const double l = model.segment_rest_length[s];
    const PerAxis& k = model.segment_stiffness[s];  // times l, so its sum over lengths is a mean
    m.stretch += k.d3, m.shear += (k.d1 + k.d2) / 2;
    const auto [a, b] = model.segment_vertices[s];
    const double r = (model.vertex_radius[static_cast<std::size_t>(a)] + model.vertex_radius[static_cast<std::size_t>(b)]) / 2;
    radius += r * l, volume += std::numbers::pi * r * r * l, length += l;
  }
  for (std::size_t j = 0; j < model.joint_frames.size(); ++j) {
    const double l = model.joint_length[j];
    const PerAxis& k = model.joint_stiffness[j];  // 4 (EI1, EI2, GJ) / l
    m.bend += (k.d1 + k.d2) / 2 * l / 4 * l, m.twist += k.d3 * l / 4 * l, joints += l;
  }
  for (const double v : model.vertex_mass) mass += v;
  if (length > 0) m.stretch /= length, m.shear /= length, m.thickness = 2 * radius / length;
  if (joints > 0) m.bend /= joints, m.twist /= joints;
  if (volume > 0) m.density = mass / volume;
  return m;
}

}  // namespace osier
