#include "core/fields.hpp"
#include "osier/error.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/solver.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier {

StepReport Solver::solve_static(const StepInput&, State&, const StaticOptions&) {
  throw RunError("this solver cannot solve statics");
}

template <>
std::span<const RegistryEntry<SolverSettings>> registry<SolverSettings>() {
  static const RegistryEntry<SolverSettings> entries[] = {
      registry_entry<SolverSettings, stable_cosserat::Settings>(
          "stable_cosserat",
          "Stable Cosserat Rods with the viscous addendum: sweeps over positions and closed-form orientations"),
      registry_entry<SolverSettings, newton::Settings>("newton",
                                                       "Sparse Newton, exact and slow; the reference, and the one for statics"),
  };
  return entries;
}

}  // namespace osier
