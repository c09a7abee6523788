#include "solvers/direct/touching.hpp"

#include <algorithm>

#include "model/parts.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "solvers/systems/tree/compliance_tree.hpp"

namespace osier::direct {

namespace {

/// Positions are small differences of large numbers where rods are pressed together: always in double. Friction is solved for in
/// rounds, each of them with that of the round before.
systems::Options for_contact(systems::Options options) {
  constexpr int kRounds = 3;
  options.precision = Precision::double_precision;
  options.max_iterations *= kRounds;
  return options;
}

/// Columns of loops that a tree may carry along, per segment, before a sparse factor takes less time.
constexpr double kMostColumns = 12;

}  // namespace

Touching::Touching(const systems::Options& options)
    : options_(for_contact(options)), contact_(options.threads), driver_(options_) {}

void Touching::rebind() {
  contact_.forget();
  part_.clear();
  arranged_ = false;
  kept_system_.reset();
  driver_.rebind();
}

void Touching::carry(Archive& archive) {
  archive(part_, part_touches_, segment_in_, count_, age_, whole_, arranged_, has_terms_, spring_ends_, vertex_fixed_,
          frame_control_, sparse_, contact_);
  driver_.carry(archive);
  std::optional<std::string> system = kept_system_;
  if (arranged_ && coupled_) system = carried([&](Archive& a) { coupled_->carry(a); });
  archive(system);
  if (archive.reads()) kept_system_ = std::move(system);
}

void Touching::find_parts(const Model& m, const Control& c) {
  const Parts parts = osier::find_parts(m, c.springs);
  part_ = parts.of;
  part_touches_.assign(static_cast<std::size_t>(parts.count), 0);
  segment_in_.assign(static_cast<std::size_t>(m.segment_count()), 0);
  count_ = 0;
  whole_ = false;
}

/// Springs come and go with the constraints that they belong to.
bool Touching::has_other_springs(const Control& c) {
  std::vector<std::array<Index, 2>> ends;
  for (const Spring& s : c.springs)
    if (s.b >= 0) ends.push_back({s.a, s.b});
  if (ends == spring_ends_) return false;
  spring_ends_ = std::move(ends);
  return true;
}

/// Parts that hang together by pairs, one of which is active or of a part that is marked already, are marked.
void Touching::find_touching_parts(std::vector<std::uint8_t>& touches) {
  group_.resize(touches.size());
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = static_cast<Index>(i);
  const auto find = [&](Index i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  };
  contact_.find_active();
  const std::vector<contact::Pair>& pairs = contact_.pairs();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (contact_.is_active(p)) touches[part_[pairs[p].a]] = 1;
    if (pairs[p].with_obstacle()) continue;
    const Index a = find(part_[pairs[p].a]), b = find(part_[pairs[p].b]);
    group_[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[i]) touches[find(static_cast<Index>(i))] = 1;
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[find(static_cast<Index>(i))]) touches[i] = 1;
}

bool Touching::take_pairs(const Model& m) {
  if (whole_ || (contact_.is_quiet() && !any())) return false;  // all is in, or nothing need be
  part_needed_ = part_touches_;
  find_touching_parts(part_needed_);
  if (part_needed_ == part_touches_) return false;
  part_touches_ = part_needed_;
  count_ = 0;
  Index alive = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    segment_in_[s] = m.segment_alive[s] && part_touches_[part_[s]];
    count_ += segment_in_[s];
    alive += m.segment_alive[s] ? 1 : 0;
  }
  whole_ = count_ == alive;
  arranged_ = false;
  return true;
}

void Touching::take_all(const Model& m) {
  std::fill(part_touches_.begin(), part_touches_.end(), std::uint8_t{1});
  for (Index s = 0; s < m.segment_count(); ++s) segment_in_[s] = m.segment_alive[s];
  count_ = static_cast<Index>(std::count(segment_in_.begin(), segment_in_.end(), std::uint8_t{1}));
  whole_ = true;
  arranged_ = false;
}

void Touching::begin(const StepInput& input, const State& state) {
  const Model& m = input.model;
  if (has_other_springs(input.end)) {
    part_.clear();
    arranged_ = false;
  }
  if (part_.empty()) find_parts(m, input.end);
  contact_.begin(input.contacts, m, input.end, state, input.h, true);
  if (sparse_) sparse_ = arranged_ = false;
  if (++age_ > kKeptFor) {
    age_ = 0;
    part_needed_.assign(part_touches_.size(), 0);
    find_touching_parts(part_needed_);
    if (part_needed_ != part_touches_) {
      std::fill(part_touches_.begin(), part_touches_.end(), std::uint8_t{0});
      std::fill(segment_in_.begin(), segment_in_.end(), std::uint8_t{0});
      count_ = 0;
      whole_ = false;
    }
  }
  take_pairs(m);
}

void Touching::arrange(const StepInput& input) {
  const Control& c = input.end;
  const bool has_terms = c.has_vertex_terms();
  const bool same_holds = vertex_fixed_ == c.vertex_fixed && frame_control_ == c.frame_control && has_terms_ == has_terms;
  const bool restored = arranged_ && same_holds && kept_system_;
  if (arranged_ && same_holds && !restored) {
    if (has_terms) coupled_->bind(input.model, c, subset_, input.h);  // single directions may have turned
    return;
  }
  arranged_ = true;
  has_terms_ = has_terms;
  vertex_fixed_ = c.vertex_fixed;
  frame_control_ = c.frame_control;
  const Model& m = input.model;
  subset_ = whole_ ? whole_of(m) : subset_of(m, segment_in_);
  std::optional<systems::Tree> tree;
  if (!has_terms && !sparse_)
    tree = systems::build_tree_within(m, c, subset_, kMostColumns * static_cast<double>(subset_.segments.size()));
  std::unique_ptr<systems::LinearSystem> rods;
  if (tree) {
    auto recursion = std::make_unique<systems::ComplianceTree<double>>(options_.threads);
    recursion->adopt(std::move(*tree));
    rods = std::move(recursion);
  } else {
    rods = std::make_unique<systems::SparseSystem>();
  }
  auto coupled = std::make_unique<systems::CoupledSystem>(std::move(rods), options_.threads);
  coupled_ = coupled.get();
  driver_.arrange(std::move(coupled));
  coupled_->bind(m, c, subset_, input.h);
  if (restored) {
    Archive kept(*kept_system_);
    coupled_->carry(kept);
  }
  kept_system_.reset();
}

StepReport Touching::solve(const StepInput& input, const State& state) {
  for (;;) {
    arrange(input);
    coupled_->set_contact(contact_);
    StepReport report = driver_.solve(input.model, input.end, state, input.h, subset_, contact_);
    if (take_pairs(input.model)) continue;
    if (report.not_converged && coupled_->has_lost_digits() && !sparse_) {
      sparse_ = true;
      arranged_ = false;
      continue;
    }
    return report;
  }
}

void Touching::finish(State& state) {
  if (any()) contact_.finish(driver_.unknowns().u, state);
  else contact_.finish_untouched(state);
}

}  // namespace osier::direct
