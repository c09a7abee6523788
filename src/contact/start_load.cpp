#include "contact/start_load.hpp"

#include <algorithm>
#include <numeric>

#include "math/vec3.hpp"

namespace osier::contact {

std::vector<double> loads_at_start(const Model& model, std::span<const Vec3d> vertex_force) {
  // Vertices that are joined have the same root.
  std::vector<Index> parent(static_cast<std::size_t>(model.vertex_count()));
  std::iota(parent.begin(), parent.end(), Index{0});
  const auto root = [&](Index v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (Index s = 0; s < model.segment_count(); ++s)
    if (model.segment_alive[s]) parent[root(model.segment_vertices[s][0])] = root(model.segment_vertices[s][1]);
  std::vector<double> most(parent.size(), 0);
  for (Index v = 0; v < model.vertex_count(); ++v)
    if (model.vertex_alive[v]) most[root(v)] = std::max(most[root(v)], norm(vertex_force[v]));
  std::vector<double> loads(static_cast<std::size_t>(model.segment_count()));
  for (Index s = 0; s < model.segment_count(); ++s) loads[s] = most[root(model.segment_vertices[s][0])];
  return loads;
}

}  // namespace osier::contact
