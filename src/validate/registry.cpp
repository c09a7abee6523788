// Every instrument and every experiment of the validation catalogue. A new one is a file and a line below.
#include <algorithm>
#include <fmt/format.h>

#include "validate/instrument.hpp"
#include "validate/instruments/extent.hpp"
#include "validate/instruments/turning.hpp"

namespace osier {

template <>
std::span<const RegistryEntry<validate::Instrument>> registry<validate::Instrument>() {
  static const std::array entries{
      registry_entry<validate::Instrument, validate::Turning>("turning", validate::Turning::help()),
      registry_entry<validate::Instrument, validate::Extent>("extent", validate::Extent::help()),
  };
  return entries;
}

template <>
std::span<const RegistryEntry<validate::Experiment>> registry<validate::Experiment>() {
  return {};
}

namespace validate {

const RodInfo* find_rod(const Scene& scene, const std::string& name, const std::string& at, Problems& problems) {
  const std::vector<RodInfo>& rods = scene.model().rods;
  std::vector<std::string> names;
  for (const RodInfo& r : rods) {
    if (name.empty() || r.name == name) return &r;
    names.push_back(r.name);
  }
  const std::string guess = closest(name, names);
  problems.add(at, fmt::format("there is no rod `{}`", shorten(name)),
               guess.empty() ? "rods: " + join(names, ", ") : "did you mean `" + guess + "`?");
  return nullptr;
}

}  // namespace validate

}  // namespace osier
