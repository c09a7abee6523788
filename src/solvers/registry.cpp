#include <algorithm>
#include <stdexcept>

#include "core/fields.hpp"
#include "osier/error.hpp"
#include "solvers/automatic/automatic.hpp"
#include "solvers/direct/direct.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/projective/projective.hpp"
#include "solvers/solver.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier {

StaticReport Solver::solve_static(const StepInput&, State&, const StaticOptions&) {
  throw RunError("this solver cannot solve statics");
}

PathReport Solver::follow_path(const Model&, LoadPath&, State&, const StaticOptions&, const PathStep&) {
  throw RunError("this solver cannot follow a path");
}

static std::vector<RegistryEntry<SolverSettings>>& entries() {
  static std::vector<RegistryEntry<SolverSettings>> list = {
      registry_entry<SolverSettings, automatic::Settings>("automatic", "Chooses for each scene; the default"),
      registry_entry<SolverSettings, direct::Settings>(
          "direct", "Coupled Gauss-Newton steps by direct solves along the rods, in dynamics and statics"),
      registry_entry<SolverSettings, stable_cosserat::Settings>(
          "stable_cosserat",
          "Stable Cosserat Rods with the viscous addendum: sweeps over positions and closed-form orientations"),
      registry_entry<SolverSettings, newton::Settings>("newton",
                                                       "Sparse Newton, exact and slow: the reference, in dynamics and statics"),
      registry_entry<SolverSettings, projective::Settings>(
          "projective",
          "Cosserat rods with projective dynamics: global solves for positions and for turns, repaired or as printed"),
  };
  return list;
}

template <>
std::span<const RegistryEntry<SolverSettings>> registry<SolverSettings>() {
  return entries();
}

RegisteredSolver::RegisteredSolver(const RegistryEntry<SolverSettings>& entry) { entries().push_back(entry); }
RegisteredSolver::~RegisteredSolver() { entries().pop_back(); }

static std::unique_ptr<SolverSettings> make_settings(const RegistryEntry<SolverSettings>& entry) {
  const Json nothing = Json::object();
  Problems none;
  JsonReader reader(nothing, "", none);
  return entry.read(reader);
}

std::unique_ptr<SolverSettings> make_settings(const std::string& name) {
  for (const auto& entry : entries())
    if (name == entry.name) return make_settings(entry);
  throw std::logic_error("there is no solver " + name);
}

std::string solver_with(SolverRole role) {
  for (const auto& entry : entries())
    if (make_settings(entry)->role() == role) return entry.name;
  throw std::logic_error("there is no solver for this role");
}

}  // namespace osier
