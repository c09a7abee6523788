#include "contact/state_memory.hpp"

#include <algorithm>

namespace osier::contact {

namespace {
constexpr std::size_t kPairNumbers = 11;
}

SolverMemory* find_memory(State& state, const char* name) {
  const auto found =
      std::find_if(state.memory.begin(), state.memory.end(), [&](const SolverMemory& m) { return m.name == name; });
  return found == state.memory.end() ? nullptr : &*found;
}
const SolverMemory* find_memory(const State& state, const char* name) { return find_memory(const_cast<State&>(state), name); }

SolverMemory& make_memory(State& state, const char* name, ElementKind kind) {
  if (SolverMemory* known = find_memory(state, name)) return *known;
  state.memory.push_back({.name = name, .kind = kind, .components = 1, .values = {}});
  return state.memory.back();
}

std::vector<double> stiffness_memory(const State& state) {
  const SolverMemory* known = find_memory(state, kStiffness);
  return known ? known->values : std::vector<double>{};
}

void put_stiffness_memory(State& state, std::vector<double> stiffness) {
  if (stiffness.empty() && !find_memory(state, kStiffness)) return;
  make_memory(state, kStiffness, ElementKind::segment).values = std::move(stiffness);
}

PairMemory pair_memory(const State& state) {
  PairMemory memory;
  const SolverMemory* known = find_memory(state, kPairs);
  memory.exists = known != nullptr;
  for (std::size_t i = 0; known && i + kPairNumbers <= known->values.size(); i += kPairNumbers) {
    const double* v = known->values.data() + i;
    RememberedPair one;
    one.pair = {.a = static_cast<Index>(v[0]), .b = static_cast<Index>(v[1]), .feature = static_cast<Index>(v[2]), .core = v[3]};
    one.force = v[4];
    one.anchor = {v[5], v[6], v[7]};
    one.normal = {v[8], v[9], v[10]};
    memory.pairs.push_back(one);
  }
  return memory;
}

void put_pair_memory(State& state, const std::vector<RememberedPair>& pairs) {
  std::vector<double>& out = make_memory(state, kPairs, ElementKind::whole).values;
  out.clear();
  for (const RememberedPair& r : pairs)
    for (const double x : {static_cast<double>(r.pair.a), static_cast<double>(r.pair.b), static_cast<double>(r.pair.feature),
                           r.pair.core, r.force, r.anchor.x, r.anchor.y, r.anchor.z, r.normal.x, r.normal.y, r.normal.z})
      out.push_back(x);
}

}  // namespace osier::contact
