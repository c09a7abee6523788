#include "sim/pull.hpp"

#include <algorithm>

namespace osier {

double pull_stiffness(const Model& model, Index vertex) {
  const auto has_it = [&](const RodInfo& rod) {
    return std::find(rod.vertices.begin(), rod.vertices.end(), vertex) != rod.vertices.end();
  };
  const auto rod = std::find_if(model.rods.begin(), model.rods.end(), has_it);
  double mass = model.vertex_mass[vertex], length = 0, bending = 0;  // m [kg], L [m], EI [N m^2]
  if (rod != model.rods.end()) {
    mass = 0;
    for (const Index v : rod->vertices) mass += model.vertex_mass[v];
    for (const Index s : rod->segments) length += model.segment_rest_length[s];
    for (const Index j : rod->joints) bending = std::max(bending, model.joint_stiffness[j].largest() * model.joint_length[j] / 4);
  }
  constexpr double kRate = 30;  // [1/s]
  const double inertial = mass * kRate * kRate, elastic = length > 0 ? 3 * bending / (length * length * length) : 0;
  return inertial + 10 * elastic;
}

}  // namespace osier
