// What contact remembers from step to step, in the state: the stiffness of segments, anchors of friction, cores of pairs that are
// thinner than their rods, and where obstacles are that were held back.
#include <algorithm>
#include <utility>

#include "contact/contact_step.hpp"
#include "contact/contact_terms.hpp"

namespace osier::contact {

namespace {

const char* const kLate = "contact/late_obstacles";  ///< for each of them: its number, how many values follow, its place

}  // namespace

void put_stiffness(State& state, const Model& model, double stiffness) {
  put_stiffness(state, std::vector<double>(static_cast<std::size_t>(model.segment_count()), stiffness));
}

void put_stiffness(State& state, std::vector<double> stiffness) {
  make_memory(state, kStiffness, ElementKind::segment).values = std::move(stiffness);
}

void ContactStep::read_memory(const State& state) {
  stiffness_.clear();
  stiffness_at_start_.clear();
  if (const SolverMemory* known = find_memory(state, kStiffness);
      known && known->values.size() == static_cast<std::size_t>(m_->segment_count()))
    stiffness_ = known->values;
  PairMemory known = pair_memory(state);
  first_ = !known.exists;
  memory_ = std::move(known.pairs);
}

void ContactStep::read_late_obstacles(const State& state) const {
  if (const SolverMemory* late = find_memory(state, kLate))
    for (std::size_t i = 0; i + 2 <= late->values.size(); i += 2 + static_cast<std::size_t>(late->values[i + 1]))
      contacts_->obstacles()[static_cast<std::size_t>(late->values[i])]->start_from(
          std::span(late->values).subspan(i + 2, static_cast<std::size_t>(late->values[i + 1])));
}

/// Those that were held back.
void ContactStep::save_late_obstacles(State& state) const {
  if (SolverMemory* late = find_memory(state, kLate)) late->values.clear();
  for (std::size_t o = 0; o < obstacle_share_.size(); ++o) {
    if (obstacle_share_[o] == 1 || !contacts_->obstacles()[o]->is_moving()) continue;
    std::vector<double> place;
    contacts_->obstacles()[o]->save_place(obstacle_share_[o], place);
    std::vector<double>& values = make_memory(state, kLate, ElementKind::whole).values;
    values.push_back(static_cast<double>(o));
    values.push_back(static_cast<double>(place.size()));
    values.insert(values.end(), place.begin(), place.end());
  }
}

/// Anchors of friction, and the cores of pairs that are thinner than their rods.
void ContactStep::save_contacts(State& state) const {
  std::vector<RememberedPair> out;
  std::size_t next = 0;
  for (const Pair& pair : pairs_) {
    const bool thin = is_thin(pair);
    const Contact* strongest = nullptr;  // a pair with a hollow obstacle may have two
    for (; next < contacts_at_hand_.size() && contacts_at_hand_[next].pair == pair; ++next)
      if (!strongest || contacts_at_hand_[next].force > strongest->force) strongest = &contacts_at_hand_[next];
    if (!strongest && !thin) continue;
    if (!strongest || !(strongest->limit > 0)) {
      if (thin) out.push_back({.pair = pair, .force = 0, .anchor = {}, .normal = {}});
      continue;
    }
    out.push_back({pair, strongest->force, kept_anchor(strongest->z, strongest->slip), strongest->unit});
  }
  put_pair_memory(state, out);
}

void ContactStep::finish_untouched(State& state) {
  contacts_at_hand_.clear();
  std::fill(obstacle_share_.begin(), obstacle_share_.end(), 1.0);  // nothing was in their way
  for (const char* name : {kStiffness, kPairs, kLate})
    if (SolverMemory* known = find_memory(state, name)) known->values.clear();
}

}  // namespace osier::contact
