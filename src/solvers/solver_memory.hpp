// Named arrays that a solver keeps in the state, so that rollback, continue_from and checkpoints keep them too.
#pragma once

#include <span>

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct MemoryDeclaration {
  const char* name;  ///< "solver/quantity"
  ElementKind kind;
  int components = 1;
  double initial = 0;  ///< of every number, in a state that does not have the array yet
};

/// The array of that name. Made, or made anew, where the state has none that fits the model: the first time it allocates.
std::span<double> solver_memory(State& state, const Model& model, const MemoryDeclaration& declaration);

}  // namespace osier
