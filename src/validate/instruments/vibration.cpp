#include "validate/instruments/vibration.hpp"

#include <nlohmann/json.hpp>

#include "math/quat.hpp"
#include "scene/setup.hpp"
#include "validate/instruments/crossings.hpp"

namespace osier::validate {

/// The scene without its poses: its initial state is the rest shape.
static Scene at_rest(const Scene& scene) {
  Json json = Json::parse(scene.json());
  for (Json& rod : json["rods"])
    for (const char* key : {"pose", "pose_twist", "velocity"}) rod.erase(key);
  return Scene::parse(json.dump());
}

void Vibration::prepare(const Scene& scene, Problems& problems) {
  const RodInfo* r = find_rod(scene, rod, where + "/rod", problems);
  if (!r) return;
  const SceneSpec& spec = scene.setup().spec;
  integrator_.reset();
  if (spec.dynamic() && spec.solver->traits().integrator_choice) integrator_ = spec.integrator();
  if (const auto rho = spec.solver->own_rho()) integrator_ = TimeIntegrator(IntegratorKind::generalized_alpha, *rho);
  vertices_ = r->vertices, segments_ = r->segments;
  try {
    rest_ = at_rest(scene).initial_state();
  } catch (const InputError&) {
    problems.add(where, "the scene does not stand without its poses", "give the rods rest shapes that fit together");
  }
}

Vec3d Vibration::turn(const State& state, Index s) const {
  return rotation_log(conj(rest_.frame_rotation[s]) * state.frame_rotation[s]);
}

void Vibration::start(const Simulation& simulation) {
  const State& state = simulation.state();
  const Model& m = simulation.model();
  weight_.clear(), turn_weight_.clear();
  for (Index v : vertices_) weight_.push_back(m.vertex_mass[v] * (state.vertex_position[v] - rest_.vertex_position[v]));
  for (Index s : segments_) turn_weight_.push_back(times(cast<double>(m.segment_inertia[s]), turn(state, s)));
  samples_ = {amplitude(simulation)};
  if (samples_[0] == 0) throw RunError("the rod starts at rest in its rest shape: there is no vibration to measure");
}

double Vibration::amplitude(const Simulation& simulation) const {
  const State& state = simulation.state();
  double sum = 0;
  for (std::size_t i = 0; i < vertices_.size(); ++i)
    sum += dot(weight_[i], state.vertex_position[vertices_[i]] - rest_.vertex_position[vertices_[i]]);
  for (std::size_t i = 0; i < segments_.size(); ++i)
    if (norm2(turn_weight_[i]) > 0) sum += dot(turn_weight_[i], turn(state, segments_[i]));
  return sum;
}

std::vector<double> Vibration::finish(const Simulation& simulation) {
  const Oscillation o =
      oscillation(zero_crossings(samples_), skip, simulation.time_step(), integrator_ ? &*integrator_ : nullptr);
  return {o.frequency, o.damping_ratio, o.raw_frequency, o.raw_damping,
          damping_by_recursion(samples_, o.raw_frequency, simulation.time_step())};
}

}  // namespace osier::validate
