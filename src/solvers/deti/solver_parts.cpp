// Fibres that hang together: by springs, or for the time that they may touch.
#include <algorithm>

#include "solvers/deti/deti_solver.hpp"
#include "solvers/deti/fibre_contact.hpp"
#include "solvers/step_potential.hpp"

namespace osier::deti {

/// Springs join fibres to parts that are stepped together.
void Deti::tie_up(const Model& m, const Control& c) {
  std::vector<std::array<Index, 2>> ends;
  for (const Spring& s : c.springs) ends.push_back({s.a, s.b});
  if (ends == tie_ends_) return;
  tie_ends_ = std::move(ends);
  for (std::size_t i = 0; i < part_.size(); ++i) part_[i] = static_cast<Index>(i);
  const auto find = [&](Index i) {
    while (part_[static_cast<std::size_t>(i)] != i) i = part_[static_cast<std::size_t>(i)];
    return i;
  };
  std::vector<std::uint8_t> has(part_.size(), 0);
  for (const auto& [a, b] : tie_ends_)
    for (const Index v : {a, b}) {
      if (v < 0 || place_[static_cast<std::size_t>(v)].chain < 0) continue;
      has[static_cast<std::size_t>(place_[static_cast<std::size_t>(v)].chain)] = 1;
      const Index one = find(place_[static_cast<std::size_t>(v)].chain);
      if (place_[static_cast<std::size_t>(a)].chain < 0) continue;
      const Index other = find(place_[static_cast<std::size_t>(a)].chain);
      part_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
    }
  for (std::size_t i = 0; i < part_.size(); ++i) part_[i] = find(static_cast<Index>(i));
  tied_fibres_.clear();
  std::vector<const Fibre*> fibres;
  for (std::size_t i = 0; i < part_.size(); ++i)
    if (has[i]) tied_fibres_.push_back(i), fibres.push_back(&chain(i).fibre);
  tied_.arrange(fibres);
  touching_fibres_.clear();
  group_fibres();
  (void)m;
}

std::vector<Tie> Deti::ties_within(const FibreSet& set, const std::vector<std::size_t>& fibres, const Control& c) const {
  const auto section = [&](Index v) {
    const Place& p = place_[static_cast<std::size_t>(v)];
    const auto found = std::lower_bound(fibres.begin(), fibres.end(), static_cast<std::size_t>(p.chain));
    if (p.chain < 0 || found == fibres.end() || *found != static_cast<std::size_t>(p.chain)) return Index{-1};
    return set.first_section(static_cast<std::size_t>(found - fibres.begin())) + p.section;
  };
  std::vector<Tie> ties;
  for (const Spring& s : c.springs) {
    Tie tie{.a = section(s.a),
            .b = s.b < 0 ? -1 : section(s.b),
            .anchor = s.anchor,
            .anchor_velocity = s.anchor_velocity,
            .terms = {}};
    if (tie.a < 0 || (s.b >= 0 && tie.b < 0)) continue;
    tie.terms = elastic_terms(s);
    tie.terms.damping = s.damping;
    ties.push_back(tie);
  }
  return ties;
}

void Deti::load_set(const StepInput& input, const Control& c, const State& state, const Memory& memory, FibreSet& set,
                    const std::vector<std::size_t>& fibres) const {
  executor_.for_each_job(fibres.size(),
                         [&](std::size_t i) { load(input.model, c, state, memory, fibres[i], 0, input.h, set.part(i)); });
  set.set_ties(ties_within(set, fibres, c));
}

/// Parts that hang together by pairs that may touch, where one of them is about to, step together. Whether there are new ones.
bool Deti::take_touching(const Model& m) {
  std::vector<Index> group = part_;
  const auto find = [&](Index i) {
    while (group[static_cast<std::size_t>(i)] != i)
      i = group[static_cast<std::size_t>(i)] = group[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
    return i;
  };
  const auto chain_of = [&](Index segment) { return place_[static_cast<std::size_t>(m.segment_vertices[segment][0])].chain; };
  std::vector<std::uint8_t> touches = touches_;
  contact_.find_active();
  const std::vector<contact::Pair>& pairs = contact_.pairs();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Index own = chain_of(pairs[p].a);
    if (contact_.is_active(p)) touches[static_cast<std::size_t>(own)] = 1;
    if (pairs[p].with_obstacle()) continue;
    const Index a = find(own), b = find(chain_of(pairs[p].b));
    group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[i]) touches[static_cast<std::size_t>(find(static_cast<Index>(i)))] = 1;
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[static_cast<std::size_t>(find(static_cast<Index>(i)))]) touches[i] = 1;
  if (touches == touches_) return false;
  touches_ = std::move(touches);
  segment_touches_.assign(static_cast<std::size_t>(m.segment_count()), 0);
  for (std::size_t i = 0; i < touches_.size(); ++i)
    if (touches_[i])
      for (const Index s : chain(i).segments) segment_touches_[static_cast<std::size_t>(s)] = 1;
  return true;
}

/// The mean velocities with which nothing passes through anything, in the place of those that are known. What does not touch
/// keeps its own.
void Deti::meet(const StepInput& input, State& state, Memory& memory, StepReport& report) {
  const Model& m = input.model;
  const Control& c = input.end;
  const double h = input.h;
  contact_.begin(input.contacts, m, c, state, h);
  touches_.assign(plan_.chains.size(), 0);
  segment_touches_.assign(static_cast<std::size_t>(m.segment_count()), 0);
  const std::vector<Vec3d>& x = state.vertex_position;
  std::vector<Vec3d> ahead = x;
  for (std::size_t v = 0; v < x.size(); ++v) {
    const double* w = &memory.motion[kUnknowns * v];
    if (place_[v].chain >= 0) ahead[v] = c.vertex_fixed[v] ? c.vertex_target[v] : x[v] + h * Vec3d{w[0], w[1], w[2]};
  }
  take_touching(m);
  while (!contact_.moves_freely(x, ahead, segment_touches_)) {
    contact_.expect(x, ahead, segment_touches_);
    if (take_touching(m)) continue;
    // Nothing is left out that could be in the way.
    std::fill(touches_.begin(), touches_.end(), std::uint8_t{1});
    std::fill(segment_touches_.begin(), segment_touches_.end(), std::uint8_t{1});
    break;
  }
  if (std::find(touches_.begin(), touches_.end(), 1) == touches_.end()) {
    contact_.finish_untouched(state);
    if (input.record) input.record->clear();
    memory = Memory(m, state);
    std::fill(memory.push.begin(), memory.push.end(), 0.0);
    return;
  }
  std::vector<Vec3d> push(x.size());
  for (std::size_t v = 0; v < push.size(); ++v) push[v] = {memory.push[3 * v], memory.push[3 * v + 1], memory.push[3 * v + 2]};
  for (;;) {
    std::vector<std::size_t> fibres;
    for (std::size_t i = 0; i < touches_.size(); ++i)
      if (touches_[i]) fibres.push_back(i);
    if (fibres != touching_fibres_) {
      touching_fibres_ = fibres;
      std::vector<const Fibre*> list;
      touching_vertex_.clear();
      for (const std::size_t i : fibres) {
        list.push_back(&chain(i).fibre);
        touching_vertex_.insert(touching_vertex_.end(), chain(i).vertices.begin(), chain(i).vertices.end());
      }
      touching_.arrange(list);
    }
    load_set(input, c, state, memory, touching_, touching_fibres_);
    FibreContact together(touching_, contact_, touching_vertex_, push, h, settings_.contact_tolerance);
    const StepReport of_contact = together.solve();
    if (take_touching(m)) {
      // From the start, with obstacles where they were.
      contact_.begin(input.contacts, m, c, state, h);
      take_touching(m);
      continue;
    }
    report.iterations = of_contact.iterations;
    report.not_converged = of_contact.not_converged;
    report.held_back = held_back_ = of_contact.held_back;
    contact_.finish(together.displacements(), state);
    if (input.record) contact_.tell(*input.record);
    break;
  }
  memory = Memory(m, state);
  std::fill(push.begin(), push.end(), Vec3d{});
  contact_.add_gradient(push);
  for (std::size_t v = 0; v < push.size(); ++v)
    memory.push[3 * v] = -push[v].x, memory.push[3 * v + 1] = -push[v].y, memory.push[3 * v + 2] = -push[v].z;
  for (std::size_t i = 0; i < touching_vertex_.size(); ++i)
    std::copy_n(touching_.view().w + kUnknowns * i, kUnknowns,
                &memory.motion[kUnknowns * static_cast<std::size_t>(touching_vertex_[i])]);
}

}  // namespace osier::deti
