#include "validate/instruments/extent.hpp"

#include "math/quat.hpp"

namespace osier::validate {

void Extent::prepare(const Scene& scene, Problems& problems) {
  if (const RodInfo* r = find_rod(scene, rod, where + "/rod", problems)) vertices_ = r->vertices, closed_ = r->closed;
  if (norm(direction) == 0) problems.add(where + "/direction", "is zero", "give a direction");
  else direction = normalized(direction);
}

double Extent::farthest(const State& state, double sign) const {
  const std::size_t n = vertices_.size();
  const auto along = [&](std::size_t i) { return sign * dot(state.vertex_position[vertices_[i % n]], direction); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (along(i) > along(best)) best = i;
  const double b = along(best);
  if (n < 3 || (!closed_ && (best == 0 || best + 1 == n))) return sign * b;  // an end is an end
  const double a = along(best + n - 1), c = along(best + 1), bulge = 2 * b - a - c;
  return sign * (bulge > 0 ? b + (c - a) * (c - a) / (8 * bulge) : b);
}

std::vector<double> Extent::finish(const Simulation& simulation) {
  const double least = farthest(simulation.state(), -1), most = farthest(simulation.state(), 1);
  return {least, most, most - least};
}

}  // namespace osier::validate
