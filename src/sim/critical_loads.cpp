#include "sim/critical_loads.hpp"

#include <fmt/format.h>

#include "forces/attachment.hpp"
#include "forces/force.hpp"

namespace osier {

std::vector<std::string> loads_at(const Setup& setup, double time) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& where, const std::string& before, const std::string& now) {
    if (now != before) lines.push_back(fmt::format("{}: {}", where, now));
  };
  const StaticAnalysis* statics = setup.spec.statics();
  const bool ramps = statics && statics->ramp;
  for (const auto& force : setup.spec.forces)
    add(force->where, force->amount(0, ramps ? 0 : 1), force->amount(time, ramps ? time / statics->duration : 1));
  for (const auto& constraint : setup.spec.constraints) add(constraint->where, constraint->amount(0), constraint->amount(time));
  return lines;
}

}  // namespace osier
