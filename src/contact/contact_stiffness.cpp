// The stiffness of contacts: what it is at first, at most, and how it follows the load.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "contact/start_load.hpp"

namespace osier::contact {

/// At which the faster one of a segment's ends began the step.
double ContactStep::speed_of(Index s) const {
  const auto [a, b] = m_->segment_vertices[s];
  return std::sqrt(std::max(norm2(start_->vertex_velocity[a]), norm2(start_->vertex_velocity[b])));
}

/// Of the contacts that are there at the start of a run (load_following.hpp). The softest one counts where a segment has several.
void ContactStep::settle_stiffness_of_start() {
  if (!stiffness_.empty()) return;
  stiffness_.assign(static_cast<std::size_t>(m_->segment_count()), 0);
  const std::vector<double> loads = loads_at_start(*m_, c_->vertex_force);
  const auto stop = [&](Index v) { return m_->vertex_mass[v] / h_ * norm(start_->vertex_velocity[v]); };
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    const double range = range_of(pair), s = (pair_distance_[p] - pair.core) / range;
    if (!pair.pushes || s >= 1) continue;
    for (const Index segment : {pair.a, pair.with_obstacle() ? Index{-1} : pair.b}) {
      if (segment < 0) continue;
      const auto [a, b] = m_->segment_vertices[segment];
      const double load = loads[segment] + 0.5 * (stop(a) + stop(b)),
                   k = stiffness_at_start(strength_of(segment), load, s, range, h_);
      stiffness_[segment] = stiffness_[segment] > 0 ? std::min(stiffness_[segment], k) : k;
    }
  }
}

/// Once for every step that needs them.
void ContactStep::settle_stiffness() {
  if (!stiffness_.empty() && stiffness_at_start_.size() == stiffness_.size()) return;
  stiffness_.resize(static_cast<std::size_t>(m_->segment_count()), 0);
  for (Index s = 0; s < m_->segment_count(); ++s)
    if (!(stiffness_[s] > 0)) stiffness_[s] = strength_of(s).base(h_);
  stiffness_at_start_ = stiffness_;
}

double ContactStep::k_of(const Pair& pair) const {
  const double k = stiffness_[pair.a];
  return pair.with_obstacle() ? k : std::max(k, stiffness_[pair.b]);
}

bool ContactStep::stiffen() {
  // Where the guard holds contacts at a distance, their load grows with their stiffness and not the other way round.
  constexpr double kMostGrowth = 64;
  bool changed = false;
  for (const Contact& c : contacts_at_hand_) {
    if (!(c.s() > 0 && c.s() < 0.1)) continue;
    const double wanted = std::min(8 * c.stiffness_k, c.force * c.range / kPhiAtHalf);
    for (const Index s : {c.pair.a, c.pair.b}) {
      if (s < 0) continue;
      const double k = std::min({wanted, kMostGrowth * stiffness_at_start_[s], largest_stiffness(s)});
      if (k > stiffness_[s]) stiffness_[s] = k, changed = true;
    }
  }
  return changed;
}

/// See load_following.hpp. `stiffness`: of segments that carry a load; 0 elsewhere.
void ContactStep::spread(std::vector<double>& stiffness) const {
  const auto take = [&](Index s) {
    if (!m_->segment_alive[s]) return;
    for (const Index v : m_->segment_vertices[s])
      for (const Index e : m_->vertex_segments.of(v)) stiffness[s] = std::max(stiffness[s], kSpreadShare * stiffness[e / 2]);
  };
  for (Index s = 0; s < m_->segment_count(); ++s) take(s);
  for (Index s = m_->segment_count(); s-- > 0;) take(s);
}

/// For the next step.
void ContactStep::adapt_stiffness(State& state) const {
  std::vector<double> adapted = stiffness_, need(stiffness_.size(), -1);
  for (const Contact& c : contacts_at_hand_) {
    double mobility = 0, free[2] = {0, 0};
    for (std::size_t j = 0; j < 4; ++j) {
      if (c.vertex[j] < 0) continue;
      mobility += c.weight[j] * c.weight[j] / m_->vertex_mass[c.vertex[j]];
      if (!c_->vertex_fixed[c.vertex[j]]) free[j / 2] += std::abs(c.weight[j]);
    }
    const double wanted =
        stiffness_for_load(c.stiffness_k, {0, c.force, c.stiffness}, c.s(), c.range, h_, mobility, std::max(free[0], free[1]));
    for (const Index s : {c.pair.a, c.pair.b})
      if (s >= 0) need[s] = std::max(need[s], wanted);
  }
  for (Index s = 0; s < m_->segment_count(); ++s)
    adapted[s] = followed_stiffness(adapted[s], need[s], strength_of(s), h_, speed_of(s));
  std::vector<double> carried(adapted.size(), 0);
  for (std::size_t s = 0; s < carried.size(); ++s)
    if (need[s] >= 0) carried[s] = adapted[s];
  spread(carried);
  for (std::size_t s = 0; s < carried.size(); ++s) adapted[s] = std::max(adapted[s], carried[s]);
  put_stiffness(state, std::move(adapted));
}

}  // namespace osier::contact
