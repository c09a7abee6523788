#include "sim/energy_watch.hpp"

#include <algorithm>

#include "math/quat.hpp"

namespace osier {
namespace {

constexpr double kShare = 0.02;    ///< of the energy at hand that may be made
constexpr double kMemory = 0.999;  ///< per step: a pendulum has none at hand where it turns

Unknowns unknowns_of(const State& start, const State& state) {
  Unknowns z{std::vector<Vec3d>(state.vertex_position.size()), state.frame_rotation};
  for (std::size_t v = 0; v < z.u.size(); ++v) z.u[v] = state.vertex_position[v] - start.vertex_position[v];
  return z;
}

/// Sum of m |v|^2/2, of velocities or of their changes.
double kinetic(const Model& m, const State& state, const State* before) {
  double sum = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    const Vec3d change = before ? state.vertex_velocity[v] - before->vertex_velocity[v] : state.vertex_velocity[v];
    if (m.vertex_alive[v]) sum += 0.5 * m.vertex_mass[v] * norm2(change);
  }
  return sum;
}

double at_hand(const Model& m, const State& state) {
  const EnergyTerms elastic = elastic_energy(m, state.vertex_position, state.frame_rotation);
  return kinetic(m, state, nullptr) + elastic.stretch_shear + elastic.bend_twist;
}

}  // namespace

double EnergyWatch::gain(const Model& m, const Control& c, const State& start, const State& stage, const State& end) {
  potential_.begin(m, c, start, 0);
  const Unknowns first = unknowns_of(start, start), middle = unknowns_of(start, stage), last = unknowns_of(start, end);
  potential_.set_torque_point(middle.q);
  potential_.gradient(middle, force_, couple_);
  double work = 0;
  for (std::size_t v = 0; v < force_.size(); ++v) work += dot(force_[v], last.u[v]);
  for (std::size_t f = 0; f < couple_.size(); ++f) work += dot(couple_[f], rotation_log(last.q[f] * conj(first.q[f])));
  return potential_.value(last).total() - potential_.value(first).total() - work;
}

bool EnergyWatch::allows(const Model& m, const Control& c, const State& start, const State& stage, const State& end) {
  const double made = made_ + gain(m, c, start, stage, end);
  energy_ = std::max({kMemory * energy_, at_hand(m, start), at_hand(m, end)});
  if (made > kShare * energy_) return false;
  made_ = std::max(made, -kShare * energy_);
  return true;
}

void EnergyWatch::count_damped(const Model& m, const Control& c, const State& start, const State& end) {
  const double lost = kinetic(m, end, &start) - gain(m, c, start, end, end);
  made_ = std::max(made_ - std::max(lost, 0.0), -kShare * energy_);
}

}  // namespace osier
