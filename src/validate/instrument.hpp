// What a case can measure beyond probes. An instrument looks on while the scene runs; an experiment does something else with the
// scene altogether. One file each in instruments/ and experiments/, one line each in registry.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "osier/simulation.hpp"

namespace osier::validate {

class Instrument {
 public:
  std::string name;   ///< prefix of its columns
  std::string where;  ///< JSON pointer
  virtual ~Instrument() = default;
  /// Finds what it looks at; adds a problem for what is not there.
  virtual void prepare(const Scene& scene, Problems& problems) = 0;
  /// Names of what finish() returns, without the prefix.
  virtual std::vector<std::string> columns() const = 0;
  virtual void start(const Simulation& simulation) { (void)simulation; }
  virtual void step(const Simulation& simulation) { (void)simulation; }
  virtual std::vector<double> finish(const Simulation& simulation) = 0;
};

/// Throws RunError when it cannot be carried out.
class Experiment {
 public:
  virtual ~Experiment() = default;
  virtual std::vector<std::string> columns() const = 0;
  /// `scene` is complete: expressions are numbers, the solver is chosen.
  virtual std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) = 0;
  /// Whether it runs the scene as it is, so that the column with four sweeps means something.
  virtual bool runs_the_scene() const { return false; }
};

/// The rod of this name, or the first one when the name is empty; a problem and null when there is none.
const RodInfo* find_rod(const Scene& scene, const std::string& name, const std::string& at, Problems& problems);

}  // namespace osier::validate

namespace osier {
template <>
std::span<const RegistryEntry<validate::Instrument>> registry<validate::Instrument>();
template <>
std::span<const RegistryEntry<validate::Experiment>> registry<validate::Experiment>();
}  // namespace osier
