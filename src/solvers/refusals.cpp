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
  std::vector<std::string> able;
  for (const auto& entry : registry<SolverSettings>())
    if (can(make_settings(entry.name)->traits(), needs))
      able.push_back(
          fmt::format("`{}`{}", entry.name, solver.name() == std::string(entry.name) ? " with its default settings" : ""));
  const std::string remedy = able.empty() ? "leave it out" : "use " + join(able, " or ");
  for (const Need& n : needs)
    if (!(traits.*n.trait)) problems.add(n.where, std::string("`") + solver.name() + "` cannot " + n.what, remedy);
}

}  // namespace osier
