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
  double initial = 0;  ///< initial value of every number
};

/// The array of that name. It is made where the state has none that fits the model, which allocates.
std::span<double> solver_memory(State& state, const Model& model, const MemoryDeclaration& declaration);

}  // namespace osier
