#include "validate/experiments/steady_state.hpp"

#include <nlohmann/json.hpp>

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

/// The same scene as statics, without what acts on motion only.
static Json statics_of(Json scene, int load_steps) {
  scene["analysis"] = {{"type", "static"}, {"load_steps", load_steps}, {"tolerance", 1e-12}};
  scene["solver"] = {{"name", solver_with(SolverRole::reference)}};
  Json forces = Json::array();
  for (const Json& f : scene.value("forces", Json::array()))
    if (f.value("type", "") != "drag") forces.push_back(f);
  scene["forces"] = forces;
  return scene;
}

std::vector<double> SteadyState::examine(const Json& json, const std::filesystem::path& folder) {
  Json probed = json;
  probed["probes"] = {{{"name", "at"}, {"vertex", vertex}}};
  const Scene moving = Scene::parse(probed.dump(), "case", folder),
              resting = Scene::parse(statics_of(probed, load_steps).dump(), "case", folder);
  const Index v = moving.setup().probes.at(0).element;
  const State end = final_state(moving), exact = final_state(resting);
  double speed = 0;
  for (const Vec3d& u : end.vertex_velocity) speed = std::max(speed, norm(u));
  const Vec3d &x = end.vertex_position[v], &y = exact.vertex_position[v];
  return {x.x, x.y, x.z, y.x, y.y, y.z, speed};
}

}  // namespace osier::validate
