// What contact remembers from step to step, in State::memory: a stiffness per segment, and for every contact its load and anchor.
#pragma once

#include <vector>

#include "contact/pair.hpp"
#include "osier/state.hpp"

namespace osier::contact {

struct RememberedPair {
  Pair pair;
  double force = 0;  ///< 0: the pair is only thin [N]
  Vec3d anchor, normal;
};
struct PairMemory {
  bool exists = false;                ///< a step with contact has been made
  std::vector<RememberedPair> pairs;  ///< ascending
};

constexpr const char* kStiffness = "contact/stiffness";
constexpr const char* kPairs = "contact/pairs";

SolverMemory* find_memory(State& state, const char* name);
const SolverMemory* find_memory(const State& state, const char* name);
SolverMemory& make_memory(State& state, const char* name, ElementKind kind);

/// Empty where nothing is remembered.
std::vector<double> stiffness_memory(const State& state);
void put_stiffness_memory(State& state, std::vector<double> stiffness);
PairMemory pair_memory(const State& state);
void put_pair_memory(State& state, const std::vector<RememberedPair>& pairs);

}  // namespace osier::contact
