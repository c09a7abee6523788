#include "solvers/solver_memory.hpp"

#include <algorithm>

namespace osier {

static std::size_t element_count(const Model& m, ElementKind kind) {
  switch (kind) {
    case ElementKind::vertex:
      return static_cast<std::size_t>(m.vertex_count());
    case ElementKind::segment:
      return static_cast<std::size_t>(m.segment_count());
    case ElementKind::frame:
      return static_cast<std::size_t>(m.frame_count());
    case ElementKind::joint:
      return static_cast<std::size_t>(m.joint_count());
    case ElementKind::whole:
      break;
  }
  return 1;
}

std::span<double> solver_memory(State& state, const Model& model, const MemoryDeclaration& d) {
  const std::size_t size = element_count(model, d.kind) * static_cast<std::size_t>(d.components);
  auto array = std::find_if(state.memory.begin(), state.memory.end(), [&](const SolverMemory& m) { return m.name == d.name; });
  if (array == state.memory.end())
    array = state.memory.insert(array, {.name = d.name, .kind = d.kind, .components = d.components, .values = {}});
  if (array->values.size() != size || array->kind != d.kind || array->components != d.components) {
    array->kind = d.kind;
    array->components = d.components;
    array->values.assign(size, d.initial);
  }
  return array->values;
}

}  // namespace osier
