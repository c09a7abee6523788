// The stiffness of contacts: what it is at first, at most, and how it follows the load.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"

namespace osier::contact {

namespace {

constexpr double kLeastStiffness = 1e-3;  ///< of the inertial one

}  // namespace

/// So that half of the range stops a vertex within a step or so.
double ContactStep::inertial_stiffness(Index s) const {
  const auto [a, b] = m_->segment_vertices[s];
  const double range = 2 * contacts_->range(s), mass = 0.5 * (m_->vertex_mass[a] + m_->vertex_mass[b]);
  if (mass > 0) return 0.1 * mass * range * range / (h_ * h_);
  const double l = m_->segment_rest_length[s];
  return 1e-4 * m_->segment_stiffness[s].largest() / (l * l) * range * range;
}

/// The stiffness of a contact that has carried nothing yet. A rod that snaps into itself is not stopped by what stops the mass of
/// one vertex: the contact is as stiff as the rod is in bending, held twenty radii apart (48 EI/L^3).
double ContactStep::base_stiffness(Index s) const {
  constexpr double kSpan = 20;
  double bending = 0;
  for (const Index e : m_->frame_joints.of(s))
    bending = std::max(bending, 0.25 * m_->joint_stiffness[e / 2].largest() * m_->joint_length[e / 2]);
  const double length = kSpan * contacts_->radius(s), range = 2 * contacts_->range(s);
  return std::max(inertial_stiffness(s), 48 * bending / (length * length * length) * range * range);
}

/// No load needs more: a force that would stretch the rod to twice its length, or stop a vertex many times over. Where the guard
/// holds contacts at a distance, step after step without convergence, force and stiffness would raise each other without end.
double ContactStep::largest_stiffness(Index s) const {
  constexpr double kStops = 1000;
  const auto [a, b] = m_->segment_vertices[s];
  const double speed = std::sqrt(std::max(norm2(start_->vertex_velocity[a]), norm2(start_->vertex_velocity[b])));
  const double tension = m_->segment_stiffness[s].largest() / m_->segment_rest_length[s];  // EA [N]
  const double impact = std::max(m_->vertex_mass[a], m_->vertex_mass[b]) * speed / h_;
  return std::max({(tension + impact) * 2 * contacts_->range(s), kStops * inertial_stiffness(s), base_stiffness(s)});
}

/// Rods that are within range of something at the start of a run have been put there. What stops a rod that comes flying would
/// throw them off: their contacts begin with what carries, where they are, the loads of the segment, its weight above all, or
/// stops it in a step. The softest one counts where a segment has several.
void ContactStep::settle_stiffness_of_start() {
  if (!stiffness_.empty()) return;
  stiffness_.assign(static_cast<std::size_t>(m_->segment_count()), 0);
  const auto load_of = [&](Index v) {
    return norm(c_->vertex_force[v]) + m_->vertex_mass[v] / h_ * norm(start_->vertex_velocity[v]);
  };
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    const double range = range_of(pair), s = (pair_distance_[p] - pair.core) / range;
    if (!pair.pushes || s >= 1) continue;
    for (const Index segment : {pair.a, pair.with_obstacle() ? Index{-1} : pair.b}) {
      if (segment < 0) continue;
      const auto [a, b] = m_->segment_vertices[segment];
      const double load = 0.5 * (load_of(a) + load_of(b)), base = base_stiffness(segment),
                   least = std::min(kLeastStiffness * inertial_stiffness(segment), base),
                   push = s > 0 ? barrier(s, range, 1.0).force : 0, k = push > 0 ? std::clamp(load / push, least, base) : least;
      stiffness_[segment] = stiffness_[segment] > 0 ? std::min(stiffness_[segment], k) : k;
    }
  }
}

/// Once for every step that needs them.
void ContactStep::settle_stiffness() {
  if (!stiffness_.empty() && stiffness_at_start_.size() == stiffness_.size()) return;
  stiffness_.resize(static_cast<std::size_t>(m_->segment_count()), 0);
  for (Index s = 0; s < m_->segment_count(); ++s)
    if (!(stiffness_[s] > 0)) stiffness_[s] = base_stiffness(s);
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

/// Segments next to one that carries a load will soon carry it, too, and contacts whose stiffness jumps from one segment to the
/// next would catch on each other. Each next segment has 0.7 of it at least: with more, a heavy contact would lift the light ones
/// beside it to the outer end of their range; with nothing, loose knots lock. `stiffness`: of those that carry one; 0 elsewhere.
void ContactStep::spread(std::vector<double>& stiffness) const {
  constexpr double kShare = 0.7;
  const auto take = [&](Index s) {
    if (!m_->segment_alive[s]) return;
    for (const Index v : m_->segment_vertices[s])
      for (const Index e : m_->vertex_segments.of(v)) stiffness[s] = std::max(stiffness[s], kShare * stiffness[e / 2]);
  };
  for (Index s = 0; s < m_->segment_count(); ++s) take(s);
  for (Index s = m_->segment_count(); s-- > 0;) take(s);
}

/// For the next step.
void ContactStep::adapt_stiffness(State& state) const {
  // A stiffness that follows the load at once leaves nothing that restores: the force of the next step is that of this one,
  // wherever the contact is, and rods bounce for ever. It may follow as fast as the time integration damps the bounce, which
  // takes about 1/(w h)^2 steps at a frequency w; at once where a contact is near its core. The mobility here is that of the
  // vertices next to the contact; a stiff rod that rests on few contacts is heavier, for which the pace has a margin.
  constexpr double kSqueezed = 0.2, kPace = 0.05;
  std::vector<double> adapted = stiffness_, need(stiffness_.size(), -1);
  for (const Contact& c : contacts_at_hand_) {
    // What a held vertex carries asks for nothing: it is carried whatever the stiffness is, which would never ease.
    double free[2] = {0, 0};
    for (std::size_t j = 0; j < 4; ++j)
      if (c.vertex[j] >= 0 && !c_->vertex_fixed[c.vertex[j]]) free[j / 2] += std::abs(c.weight[j]);
    const double full = c.s() > 0 ? std::max(free[0], free[1]) * c.force * c.range / kPhiAtHalf : c.stiffness_k;
    double mobility = 0;
    for (std::size_t j = 0; j < 4; ++j)
      if (c.vertex[j] >= 0) mobility += c.weight[j] * c.weight[j] / m_->vertex_mass[c.vertex[j]];
    const double pace = c.s() > kSqueezed ? std::min(1.0, kPace * c.stiffness * h_ * h_ * mobility) : 1;
    const double wanted = pace < 1 ? c.stiffness_k * std::pow(full / c.stiffness_k, pace) : full;
    for (const Index s : {c.pair.a, c.pair.b})
      if (s >= 0) need[s] = std::max(need[s], wanted);
  }
  for (Index s = 0; s < m_->segment_count(); ++s) {
    // A contact that opens goes back to its first stiffness slowly: one that opens and closes would be hit by it again and again.
    const bool carries = need[s] >= 0;
    const double least = carries ? kLeastStiffness * inertial_stiffness(s) : base_stiffness(s), most_growth = carries ? 4 : 1.1;
    double& k = adapted[s];
    const double goal = std::max(std::min(need[s], largest_stiffness(s)), least);
    k = goal > k ? std::min(goal, most_growth * k) : std::max(goal, 0.8 * k);
  }
  std::vector<double> carried(adapted.size(), 0);
  for (std::size_t s = 0; s < carried.size(); ++s)
    if (need[s] >= 0) carried[s] = adapted[s];
  spread(carried);
  for (std::size_t s = 0; s < carried.size(); ++s) adapted[s] = std::max(adapted[s], carried[s]);
  put_stiffness(state, std::move(adapted));
}

}  // namespace osier::contact
