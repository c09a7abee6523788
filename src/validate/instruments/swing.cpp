#include "validate/instruments/swing.hpp"

#include <cmath>

#include "math/quat.hpp"
#include "validate/instruments/crossings.hpp"

namespace osier::validate {

void Swing::prepare(const Scene& scene, Problems& problems) {
  if (const RodInfo* r = find_rod(scene, rod, where + "/rod", problems)) from_ = r->vertices.front(), to_ = r->vertices.back();
  if (norm(direction) == 0) problems.add(where + "/direction", "is zero", "give a direction");
}

void Swing::step(const Simulation& simulation) {
  const std::vector<Vec3d>& x = simulation.state().vertex_position;
  samples_.push_back(dot(x[to_] - x[from_], direction));
}

std::vector<double> Swing::finish(const Simulation& simulation) {
  const std::vector<Crossing> passes = zero_crossings(samples_);
  if (passes.empty()) throw RunError("the rod does not pass its middle; run longer");
  const double h = simulation.time_step();
  if (passes.size() < 3) return {h * passes[0].at, std::nan("")};
  const std::size_t periods = (passes.size() - 1) / 2;
  return {h * passes[0].at, h * (passes[2 * periods].at - passes[0].at) / static_cast<double>(periods)};
}

}  // namespace osier::validate
