#include "validate/experiments/certified.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "certificate/linking.hpp"
#include "scene/setup.hpp"
#include "validate/trial.hpp"

namespace osier::validate {

namespace {

Vec3d momentum(const Model& m, const State& state) {
  Vec3d sum;
  for (Index v = 0; v < m.vertex_count(); ++v) sum += m.vertex_mass[v] * state.vertex_velocity[v];
  return sum;
}

double momentum_sizes(const Model& m, const State& state) {
  double sum = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) sum += m.vertex_mass[v] * norm(state.vertex_velocity[v]);
  return sum;
}

/// The largest change of a linking number of two closed rods.
long linking_change(const Model& m, const State& before, const State& after) {
  certificate::Linking linking(m, before.vertex_position, {});
  const auto old = linking.pairs();
  linking.update(m, after.vertex_position);
  long most = 0;
  for (std::size_t p = 0; p < old.size(); ++p) most = std::max(most, std::labs(linking.pairs()[p].number - old[p].number));
  return most;
}

}  // namespace

std::vector<double> Certified::examine(const Json& json, const std::filesystem::path& folder) {
  const Scene scene = Scene::parse(json.dump(), "case", folder);
  const Model& m = scene.model();
  const State start = scene.initial_state();
  Simulation simulation(scene);
  simulation.certify();
  const double sizes = momentum_sizes(m, start);
  double drift = 0, apart = 1, unsolved = 0;
  for (long k = step_count(scene.setup()); k > 0; --k) {
    try {
      unsolved += simulation.step().not_converged ? 1 : 0;
    } catch (const CertificateError&) {
      apart = 0;
      break;
    }
    drift = std::max(drift, norm(momentum(m, simulation.state()) - momentum(m, start)));
  }
  const CertificateReport& found = simulation.certificate();
  return {apart,
          found.least_gap,
          static_cast<double>(found.most_contacts),
          static_cast<double>(found.curve_pairs),
          static_cast<double>(linking_change(m, start, simulation.state())),
          sizes > 0 ? drift / sizes : 0,
          found.energy_error,
          found.momentum_error,
          unsolved};
}

}  // namespace osier::validate
