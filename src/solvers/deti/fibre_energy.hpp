// What the solver remembers of sections between steps, and the energies of its network.
#pragma once

#include <span>

#include "osier/state.hpp"
#include "solvers/deti/fibre_plan.hpp"

namespace osier::deti {

/// Arrays of State::memory; they are made where the state has none.
struct Memory {
  std::span<double> sections;  ///< a1, a2, a3 of every vertex
  std::span<double> motion;    ///< 12 per vertex: mean velocity of the next step
  std::span<double> velocity;  ///< 12 per vertex: as the last step has left it
  std::span<double> step;      ///< one number: length of the step that `motion` is for
  std::span<double> push;      ///< 3 per vertex: force of contact at the end of the last step
  Memory(const Model& model, State& state);
};

/// Section k of a chain as 12 numbers.
void put_unknowns(const Chain& chain, std::size_t k, const State& state, const Memory& memory, double* unknowns);

/// Of all fibres, in the state that a step has left [J].
struct NetworkEnergy {
  double kinetic = 0, elastic = 0;
};
NetworkEnergy network_energy(const Model& model, const Settings& settings, State& state);

}  // namespace osier::deti
