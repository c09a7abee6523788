#include "validate/experiments/reversal.hpp"

#include <nlohmann/json.hpp>

#include "validate/experiments/scene_transforms.hpp"
#include "validate/experiments/workbench.hpp"

namespace osier::validate {

/// Rod by rod.
static std::vector<Vec3d> positions(const Model& m, const State& state, bool reversed) {
  std::vector<Vec3d> x;
  for (const RodInfo& rod : m.rods)
    for (std::size_t i = 0; i < rod.vertices.size(); ++i)
      x.push_back(state.vertex_position[rod.vertices[reversed ? rod.vertices.size() - 1 - i : i]]);
  return x;
}

std::vector<double> Reversal::examine(const Json& json, const std::filesystem::path& folder) {
  const Scene forward = Scene::parse(json.dump(), "case", folder),
              backward = Scene::parse(reversed_scene(json).dump(), "case", folder);
  const State a = final_state(forward), b = final_state(backward);
  const EnergyTerms ea = elastic_energy(forward.model(), a.vertex_position, a.frame_rotation),
                    eb = elastic_energy(backward.model(), b.vertex_position, b.frame_rotation);
  const std::vector<Vec3d> xa = positions(forward.model(), a, false), xb = positions(backward.model(), b, true);
  const double size = extent(a.vertex_position);
  return {farthest(xa, xb) / size, (ea.stretch_shear - eb.stretch_shear) / ea.total(),
          (ea.bend_twist - eb.bend_twist) / ea.total(),
          farthest(a.vertex_position, forward.initial_state().vertex_position) / size};
}

}  // namespace osier::validate
