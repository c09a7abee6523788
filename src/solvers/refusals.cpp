#include "solvers/refusals.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/text.hpp"

namespace osier {

bool can(const Traits& traits, const std::vector<Need>& needs) {
  return std::all_of(needs.begin(), needs.end(), [&](const Need& n) { return traits.*n.trait; });
}

void refuse(const SolverSettings& solver, const std::vector<Need>& needs, Problems& problems) {
  const Traits traits = solver.traits();
  if (can(traits, needs)) return;
  const Device device = solver.execution.device;
  const auto able_on = [&](Device where) {
    std::vector<std::string> able;
    for (const auto& entry : registry<SolverSettings>()) {
      const std::unique_ptr<SolverSettings> other = make_settings(entry.name);
      other->execution.device = where;
      const bool same = solver.name() == std::string(entry.name) && where == device;
      if (can(other->traits(), needs))
        able.push_back(fmt::format("`{}`{}", entry.name, same ? " with its default settings" : ""));
    }
    return join(able, " or ");
  };
  const auto name_of = [](Device where) {
    return std::string("`device` ") + Choices<Device>::names[static_cast<std::size_t>(where)];
  };
  std::string remedy = "leave it out";
  if (const std::string able = able_on(device); !able.empty()) remedy = "use " + able;
  else if (device != Device::cpu && !able_on(Device::cpu).empty()) remedy = "use " + name_of(Device::cpu);
  const std::string on_device = device == Device::cpu ? "" : " on " + name_of(device);
  std::vector<std::string> refused;  // one reason for a place is enough
  for (const Need& n : needs)
    if (!(traits.*n.trait) && std::find(refused.begin(), refused.end(), n.where + n.what) == refused.end()) {
      refused.push_back(n.where + n.what);
      problems.add(n.where, std::string("`") + solver.name() + "`" + on_device + " cannot " + n.what, remedy);
    }
}

}  // namespace osier
