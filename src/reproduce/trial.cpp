#include "reproduce/trial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/vec3.hpp"

namespace osier::reproduction {

Trial::Trial(const std::filesystem::path& scene, const std::vector<std::string>& changes) {
  LoadOptions options;
  options.overrides = changes;
  simulation_ = std::make_unique<Simulation>(Scene::load(scene, options));
  const std::vector<double>& lengths = model().segment_rest_length;
  length_ = std::accumulate(lengths.begin(), lengths.end(), 0.0);
}

void Trial::step() {
  const StepReport report = simulation_->step();
  seconds_ += report.seconds;
  iterations_ += report.iterations;
  ++steps_;
  finite_ = finite_ && !report.non_finite;
}

void Trial::run_to(double time) {
  const double h = simulation_->time_step();
  while (simulation_->state().time < time - 0.5 * h) step();
}

bool Trial::settle(double still, double latest) {
  while (state().time < latest) {
    const std::vector<Vec3d> before = state().vertex_position;
    run_to(state().time + 0.1);
    double moved = 0;
    for (std::size_t v = 0; v < before.size(); ++v) moved = std::max(moved, norm(state().vertex_position[v] - before[v]));
    if (moved <= still * length_) return true;
  }
  return false;
}

Vec3d Trial::at(double fraction) const {
  const auto last = static_cast<double>(model().vertex_count() - 1);
  return (1 / length_) * state().vertex_position[static_cast<std::size_t>(std::lround(fraction * last))];
}

std::vector<std::pair<double, double>> Trial::outline(int across, int up) const {
  std::vector<std::pair<double, double>> points;
  for (const Vec3d& x : state().vertex_position) {
    const double c[3] = {x.x / length_, x.y / length_, x.z / length_};
    points.emplace_back(c[across], c[up]);
  }
  return points;
}

}  // namespace osier::reproduction
