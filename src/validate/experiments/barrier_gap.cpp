#include "validate/experiments/barrier_gap.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "certificate/segment_distance.hpp"
#include "contact/contact_step.hpp"
#include "contact/record.hpp"
#include "scene/setup.hpp"

namespace osier::validate {

std::vector<double> BarrierGap::examine(const Json& json, const std::filesystem::path& folder) {
  const Scene scene = Scene::parse(json.dump(), "case", folder);
  const Model& m = scene.model();
  Simulation simulation(scene);
  contact::put_stiffness(simulation.mutable_state(), m, stiffness);
  if (simulation.step().not_converged) throw RunError("the step did not converge");
  const std::vector<Vec3d>& x = simulation.state().vertex_position;
  const Contacts& contacts = scene.setup().contacts;
  double nearest = std::numeric_limits<double>::infinity();
  std::vector<double> values;
  Vec3d force, sum;
  double sizes = 0;
  for (const contact::Touch& touch : simulation.touched().touches) {
    const auto [a, b] = std::pair(touch.pair.a, touch.pair.b);
    const auto& [a0, a1] = m.segment_vertices[a];
    const auto& [b0, b1] = m.segment_vertices[b];
    const double distance = norm(certificate::segment_offset(x[a0], x[a1], x[b0], x[b1]));
    nearest = std::min(nearest, (distance - contacts.core(a, b)) / contacts.range(a, b));
    force += touch.push;
    for (std::size_t j = 0; j < 4; ++j) sum += touch.weight[j] * touch.push;
    sizes += norm(touch.push);
  }
  if (sizes == 0) throw RunError("the rods do not touch");
  return {nearest, norm(force), norm(sum) / sizes};
}

}  // namespace osier::validate
