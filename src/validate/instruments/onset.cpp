#include "validate/instruments/onset.hpp"

#include <cmath>

namespace osier::validate {

void Onset::step(const Simulation& simulation) {
  const double now = simulation.state().time;
  if (time_ < 0 && now >= from && std::abs(column_.value(simulation)) > above) time_ = now;
}

std::vector<double> Onset::finish(const Simulation&) {
  if (time_ < 0) throw RunError("what an onset waits for has not begun; run longer");
  return {time_};
}

}  // namespace osier::validate
