// The list of pairs of a step: what may touch while every vertex stays in the room that it has around its centre, which drifts
// along with what its neighbourhood has in common. Where a vertex leaves its room the list is made anew.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "contact/contact_step.hpp"
#include "exec/reduce.hpp"

namespace osier::contact {

namespace {

constexpr double kNoMotion = 1e100;  ///< a way that is longer leads nowhere [m]

}  // namespace

/// Lists the pairs that may touch while vertices stay near u, or on their way along du. `drifts`: the next motion begins with
/// what they share of that way.
void ContactStep::make_list(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du, bool drifts) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const Model& m = *m_;
  const auto nv = static_cast<std::size_t>(m.vertex_count());
  for (auto* list : {&centre_, &listed_at_, &measured_at_, &way_}) list->resize(nv);
  for (auto* list : {&ball_, &room_, &moved_, &reach_of_}) list->resize(nv);
  alive_ = m.segment_alive;
  executor_.for_each(nv, [&](std::size_t v) {
    centre_[v] = listed_at_[v] = measured_at_[v] = at(u, static_cast<Index>(v));
    way_[v] = norm(du[v]) < kNoMotion ? du[v] : Vec3d{};
    reach_of_[v] = 0;
    for (const Index e : m.vertex_segments.of(static_cast<Index>(v)))
      reach_of_[v] = std::max(reach_of_[v], contact::reach_of(contacts_->radius(e / 2)));
  });
  ratio_ = 1, most_bend_ = 0;
  shared_.clear();
  if (drifts) {
    drift_.lay(listed_at_, m.vertex_alive);
    drift_.fit([&](std::size_t v) { return way_[v]; });
    longest_ = 0;
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_alive[s])
        longest_ = std::max(longest_, norm(listed_at_[m.segment_vertices[s][1]] - listed_at_[m.segment_vertices[s][0]]));
    if (take_drift()) {
      shared_.resize(nv);
      executor_.for_each(nv, [&](std::size_t v) {
        shared_[v] = drift_.at(listed_at_[v]);
        way_[v] -= shared_[v];
      });
    }
  }
  find_pairs();
  listed_ = true;
  active_.clear();
  amid_step_ = false;
  quiet_far_ = 0;
  go_with_drift();
  ++lists_made_;
  list_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Fills `pairs_`, with balls that suit the way that vertices go by themselves.
void ContactStep::find_pairs() {
  constexpr double kSlack = 2, kMostPairs = 48;    // radii; pairs of a segment
  constexpr double kMostSlack = 8, kFewPairs = 8;  // segments; pairs of a segment
  constexpr int kTryAgain = 16;
  const Model& m = *m_;
  const std::size_t nv = centre_.size();
  const auto segments = static_cast<double>(m.segment_count());
  const auto find = [&] {
    // What the drift takes from a ball at once.
    executor_.for_each(nv, [&](std::size_t v) { ball_[v] = ball_for_drift(ball_[v], reach_of_[v], ratio_, most_bend_); });
    candidates_.find(*contacts_, m, listed_at_, ball_, executor_, pairs_);
    return static_cast<double>(pairs_.size());
  };
  // Where rods are far from each other, lists with large balls last long.
  if (generous_ || ++lists_ % kTryAgain == 0) {
    executor_.for_each(nv, [&](std::size_t v) {
      double length = 0;
      for (const Index e : m.vertex_segments.of(static_cast<Index>(v))) length = std::max(length, m.segment_rest_length[e / 2]);
      ball_[v] = slack_ * length + 1.2 * norm(way_[v]);
    });
    const double found = find();
    generous_ = found <= kFewPairs * segments;
    if (!generous_) slack_ = 1;
    else if (found <= 0.1 * kFewPairs * segments) slack_ = std::min(2 * slack_, kMostSlack);
  }
  double longest = 0;
  for (const Vec3d& way : way_) longest = std::max(longest, norm2(way));
  longest = std::sqrt(longest);
  // Fast vertices need large balls, and large balls many pairs: where there are too many, the step goes in several pieces.
  for (double most = longest; !generous_; most *= 0.5) {
    executor_.for_each(nv, [&](std::size_t v) { ball_[v] = kSlack * m.vertex_radius[v] + 1.2 * std::min(norm(way_[v]), most); });
    if (find() <= kMostPairs * segments + 1000 || !(most > 1e-3 * longest)) break;
  }
  pair_distance_.resize(pairs_.size());
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    Pair& pair = pairs_[p];
    pair_distance_[p] = distance_at(pair, listed_at_);
    settle_core(pair, p);
  });
  measured_ = pair_distance_;
}

/// The plain distance of a pair with vertices at x and its obstacle at a share of its motion.
double ContactStep::distance_at(const Pair& pair, const std::vector<Vec3d>& x, double obstacle_share) const {
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  if (pair.with_obstacle())
    return distance_of(*contacts_->obstacles()[pair.obstacle()], pair.feature, x[a0], x[a1], obstacle_share);
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  return nearest_points({{Vec3d{}, x[a1] - x[a0]}, {x[b0] - x[a0], x[b1] - x[a0]}}, 0, 0).distance;
}

/// Measures the pairs where they are, so that least_distance() is good for what is near there.
void ContactStep::measure_pairs(const std::vector<Vec3d>& u) {
  executor_.for_each(measured_at_.size(), [&](std::size_t v) { measured_at_[v] = at(u, static_cast<Index>(v)); });
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    const Pair& pair = pairs_[p];
    // least_distance() has no bound for obstacles that move.
    if (!pair.with_obstacle() || !contacts_->obstacles()[pair.obstacle()]->is_moving())
      measured_[p] = distance_at(pair, measured_at_);
  });
}

/// Of a pair that did not start overlapped [m].
double ContactStep::full_core(const Pair& pair) const {
  return pair.with_obstacle() ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b);
}

bool ContactStep::is_thin(const Pair& pair) const { return pair.pushes && pair.core < full_core(pair); }

double ContactStep::range_of(const Pair& pair) const {
  const double range = pair.with_obstacle() ? contacts_->range(pair.a) : contacts_->range(pair.a, pair.b);
  const double full = full_core(pair);
  return contact::range_of(range, pair.core, full, pair.pushes);
}

/// See thickness.hpp.
void ContactStep::settle_core(Pair& pair, std::size_t index) {
  const double distance = std::max(0.0, pair_distance_[index]);
  if (pair.pushes) pair.core = full_core(pair);
  const double full = pair.core;
  const auto found =
      std::lower_bound(memory_.begin(), memory_.end(), pair, [](const RememberedPair& m, const Pair& p) { return m.pair < p; });
  // Where the step began, whenever in it the list is made: a core that grew amid a step would make energy at its start.
  const auto distance_at_start = [&] { return distance_at(pair, start_->vertex_position, 0); };
  if (found != memory_.end() && found->pair == pair && found->pair.core < full)
    pair.core = grown_core(found->pair.core, full, distance_at_start());
  else pair.core = core_at_first(full, distance, pair.pushes, first_);
}

/// The least of(v) of a vertex that lives, or `most`.
template <class F>
double ContactStep::least_of_vertices(const F& of, double most) const {
  partial_.resize(blocks_of(centre_.size(), kChunk));
  return reduce(
      executor_, centre_.size(), kChunk, partial_.data(), [&](std::size_t v) { return m_->vertex_alive[v] ? of(v) : most; },
      [](double& all, double x) { all = std::min(all, x); }, most);
}

/// How far from its centre a vertex may be while the list holds. A pair that is not on it was further apart than the reaches and
/// balls of both, and what drifts keeps `ratio_` of that.
double ContactStep::room_of(std::size_t v) const { return room_in_drift(ball_[v], reach_of_[v], ratio_, most_bend_); }

/// Takes over the bounds of the drift, if they are good for something.
bool ContactStep::take_drift() {
  constexpr double kLeastRatio = 0.75;
  ratio_ = drift_.least_ratio();
  most_bend_ = drift_.most_bend(longest_);
  if (ratio_ > kLeastRatio) return true;
  ratio_ = 1, most_bend_ = 0;
  return false;
}

/// Lets the list drift to where the step leads. Returns whether it holds on all of that way: what vertices share of it first, and
/// then the rest.
bool ContactStep::drifts_on() {
  if (!predicts_) return false;
  const auto& x = start_->vertex_position;
  drift_.fit([&](std::size_t v) { return x[v] + first_motion(static_cast<Index>(v)) - listed_at_[v]; });
  if (!take_drift()) return false;
  shared_.assign(centre_.size(), {});
  const double holds = least_of_vertices([&](std::size_t v) {
    const Vec3d centre = listed_at_[v] + drift_.at(listed_at_[v]), from = x[v] - centre_[v];
    shared_[v] = centre - centre_[v];
    const Vec3d to = x[v] + first_motion(static_cast<Index>(v)) - centre;
    const double room = room_of(v);
    return room > 0 && norm2(from) <= room * room && norm2(to) <= room * room ? 1.0 : 0.0;
  });
  if (holds == 0) {
    shared_.clear();
    return false;
  }
  go_with_drift();
  return true;
}

/// Puts the centres where the drift leads.
void ContactStep::go_with_drift() {
  least_room_ = least_of_vertices(
      [&](std::size_t v) {
        if (!shared_.empty()) centre_[v] += shared_[v];
        return room_[v] = room_of(v);
      },
      std::numeric_limits<double>::infinity());
  find_quiet();
}

bool ContactStep::stays(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) const {
  return least_of_vertices([&](std::size_t v) {
           return norm2(at(u, static_cast<Index>(v)) + du[v] - centre_[v]) <= room_[v] * room_[v] ? 1.0 : 0.0;
         }) > 0;
}

/// The largest share of du with which every vertex stays in its ball.
double ContactStep::room(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) const {
  return least_of_vertices([&](std::size_t v) {
    const Vec3d from = at(u, static_cast<Index>(v)) - centre_[v], &d = du[v];
    const double r2 = room_[v] * room_[v];
    if (norm2(from + d) <= r2) return 1.0;
    // |from + t d| = ball
    const double a = norm2(d), b = dot(from, d), c = norm2(from) - r2;
    const double t = c >= 0 ? 0 : (-b + std::sqrt(b * b - a * c)) / a;
    return std::isfinite(t) ? std::clamp((1 - 1e-9) * t, 0.0, 1.0) : 0;
  });
}

/// Amid the step: the new pairs that may touch are those of the step's start and those that are in range by now.
void ContactStep::renew_list(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) {
  make_list(u, du, false);
  amid_step_ = true;
}

void ContactStep::reach(const std::vector<Vec3d>& u) {
  const std::vector<Vec3d> still(u.size());
  if (!stays(u, still)) renew_list(u, still);
}

void ContactStep::ensure_list(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  if (!stays(u, du)) renew_list(u, du);
  const double share = room(u, du);
  if (share < 1)
    for (Vec3d& d : du) d = share * d;
}

bool ContactStep::leaves_list(const std::vector<Vec3d>& x, const std::vector<std::uint8_t>& elsewhere) const {
  for (Index s = 0; s < m_->segment_count(); ++s) {
    if (!elsewhere.empty() && elsewhere[s]) continue;
    for (const Index v : m_->segment_vertices[s])
      if (!(norm2(x[v] - centre_[v]) <= room_[v] * room_[v])) return true;
  }
  return false;
}

}  // namespace osier::contact
