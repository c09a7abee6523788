// What each rod is made of, from the compiled scene.
//
// Stiffnesses are those of segments and joints, averaged along the rod by length (only a taper or a change of material makes them
// differ). Mass lies on vertices: a density comes from those that belong to one rod alone, so that rods which meet do not mix.
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numbers>

#include "io/curve_writer.hpp"

namespace osier {

namespace {

struct Mean {
  double sum = 0, weight = 0;
  void add(double value, double w) { sum += value * w, weight += w; }
  double value() const { return weight > 0 ? sum / weight : 0; }
};

struct RodMeans {
  Mean stretch, shear, bend, twist, radius;
  Mean bend_at_ends, twist_at_ends;  ///< of joints with anchors and other rods: for rods of a single segment
  Mean density, shared_density;
};

}  // namespace

CurveMaterials rod_materials(const Model& model, const std::vector<std::string>& names,
                             const std::vector<Index>& segment_material) {
  const auto rods = RodCurves(model).segments();
  std::vector<std::size_t> owner(model.segment_vertices.size(), 0);
  for (std::size_t k = 0; k < rods.size(); ++k)
    for (const Index s : rods[k].second) owner[static_cast<std::size_t>(s)] = k;
  std::vector<RodMeans> mean(rods.size());
  std::vector<double> vertex_volume(model.vertex_mass.size(), 0);
  std::vector<std::size_t> vertex_owner(model.vertex_mass.size(), rods.size());
  std::vector<std::uint8_t> shared(model.vertex_mass.size(), 0);
  for (std::size_t s = 0; s < owner.size(); ++s) {
    const double l = model.segment_rest_length[s];
    const PerAxis& k = model.segment_stiffness[s];  // times l
    const auto a = static_cast<std::size_t>(model.segment_vertices[s][0]),
               b = static_cast<std::size_t>(model.segment_vertices[s][1]);
    const double r = (model.vertex_radius[a] + model.vertex_radius[b]) / 2;
    RodMeans& m = mean[owner[s]];
    m.stretch.add(k.d3 / l, l), m.shear.add((k.d1 + k.d2) / 2 / l, l), m.radius.add(r, l);
    for (const std::size_t v : {a, b}) {
      vertex_volume[v] += std::numbers::pi * r * r * l / 2;
      if (vertex_owner[v] == rods.size()) vertex_owner[v] = owner[s];
      shared[v] = shared[v] || vertex_owner[v] != owner[s];
    }
  }
  for (std::size_t j = 0; j < model.joint_frames.size(); ++j) {
    const double l = model.joint_length[j];
    const PerAxis& k = model.joint_stiffness[j];  // 4 (EI1, EI2, GJ) / l
    const double bend = (k.d1 + k.d2) / 2 * l / 4, twist = k.d3 * l / 4;
    const auto [a, b] = model.joint_frames[j];
    const bool inside =
        !model.is_anchor(a) && !model.is_anchor(b) && owner[static_cast<std::size_t>(a)] == owner[static_cast<std::size_t>(b)];
    for (const Index s : {a, b}) {
      if (model.is_anchor(s) || (inside && s == b)) continue;
      RodMeans& m = mean[owner[static_cast<std::size_t>(s)]];
      (inside ? m.bend : m.bend_at_ends).add(bend, l), (inside ? m.twist : m.twist_at_ends).add(twist, l);
    }
  }
  for (std::size_t s = 0; s < owner.size(); ++s)
    for (const Index end : model.segment_vertices[s]) {
      const auto v = static_cast<std::size_t>(end);
      if (!(vertex_volume[v] > 0)) continue;
      RodMeans& m = mean[owner[s]];
      (shared[v] ? m.shared_density : m.density).add(model.vertex_mass[v] / vertex_volume[v], vertex_volume[v]);
    }

  CurveMaterials result;
  std::map<std::string, std::size_t> known;  // by name and values to four digits
  for (std::size_t k = 0; k < rods.size(); ++k) {
    const RodMeans& m = mean[k];
    const auto first = static_cast<std::size_t>(rods[k].second.front());
    CurveMaterial material;
    material.name = names[static_cast<std::size_t>(segment_material[first])];
    material.thickness = 2 * m.radius.value();
    material.density = m.density.weight > 0 ? m.density.value() : m.shared_density.value();
    material.stretch = m.stretch.value(), material.shear = m.shear.value();
    material.bend = m.bend.weight > 0 ? m.bend.value() : m.bend_at_ends.value();
    material.twist = m.twist.weight > 0 ? m.twist.value() : m.twist_at_ends.value();
    const std::string key = fmt::format("{} {:.4g} {:.4g} {:.4g} {:.4g} {:.4g} {:.4g}", material.name, material.thickness,
                                        material.density, material.stretch, material.shear, material.bend, material.twist);
    const auto [place, fresh] = known.try_emplace(key, result.list.size());
    if (fresh) result.list.push_back(std::move(material));
    result.of_curve[rods[k].first] = place->second;
  }
  return result;
}

}  // namespace osier
