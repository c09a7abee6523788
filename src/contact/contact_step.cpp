#include "contact/contact_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "contact/contact_terms.hpp"
#include "exec/reduce.hpp"
#include "math/quat.hpp"
#include "model/held_axes.hpp"

namespace osier::contact {

namespace {

constexpr std::size_t kChunk = 256;                  ///< pairs whose contacts are found together
constexpr double kNoMotion = 1e100;                  ///< a way that is longer leads nowhere [m]
const char* const kLate = "contact/late_obstacles";  ///< for each of them: its number, how many values follow, its place

}  // namespace

void put_stiffness(State& state, const Model& model, double stiffness) {
  make_memory(state, kStiffness, ElementKind::segment).values.assign(static_cast<std::size_t>(model.segment_count()), stiffness);
}

void ContactStep::begin(const Contacts& contacts, const Model& m, const Control& c, const State& start, double h, bool predicts) {
  if (!restored_ && (contacts_ != &contacts || m_ != &m)) listed_ = false;
  restored_ = false;
  contacts_ = &contacts;
  m_ = &m;
  c_ = &c;
  start_ = &start;
  h_ = h;
  predicts_ = predicts && contacts.obstacles().empty();
  arrived_ = true;
  late_vertex_ = -1;
  list_seconds_ = 0;
  lists_made_ = 0;
  obstacle_share_.assign(contacts.obstacles().size(), 0);
  obstacle_goal_ = obstacle_share_;
  obstacle_way_.assign(obstacle_share_.size(), 1);
  if (const SolverMemory* late = find_memory(start, kLate))
    for (std::size_t i = 0; i + 2 <= late->values.size(); i += 2 + static_cast<std::size_t>(late->values[i + 1]))
      contacts.obstacles()[static_cast<std::size_t>(late->values[i])]->start_from(
          std::span(late->values).subspan(i + 2, static_cast<std::size_t>(late->values[i + 1])));
  for (std::size_t o = 0; o < obstacle_share_.size(); ++o)
    if (!contacts.obstacles()[o]->is_moving()) obstacle_share_[o] = 1;
  const bool obstacles_move = std::any_of(contacts.obstacles().begin(), contacts.obstacles().end(),
                                          [](const auto& obstacle) { return obstacle->is_moving(); });
  shared_.clear();
  bool keep = listed_ && !obstacles_move && alive_ == m.segment_alive;
  // Where the last step ended far from everything, nobody looks at a vertex before the step has been made.
  is_quiet_ = keep && quiet_reach_ >= 0 && quiet_reach_ < std::min(quiet_, least_room_);
  quiet_reach_ = -1;
  contacts_at_hand_.clear();
  active_.clear();
  amid_step_ = false;
  if (is_quiet_) {
    read_memory(start);
    active_.assign(pairs_.size(), 0);
    return;
  }
  double far2 = 0, fastest2 = 0;  // the farthest that a vertex is, or is to be, from where it was listed
  if (keep) {
    Reach reach = reach_of_first_motion();
    if (!reach.inside && (keep = drifts_on())) reach = reach_of_first_motion();
    far2 = reach.far2, fastest2 = reach.fastest2;
  }
  is_quiet_ = keep && far2 < quiet_ * quiet_;
  // A new list takes less time than to look at all its pairs in step after step.
  constexpr double kWorthwhile = 4;  // steps that it has to last
  if (keep && !is_quiet_ && generous_ && kWorthwhile * kWorthwhile * fastest2 < quiet_ * quiet_) keep = false;
  read_memory(start);
  if (is_quiet_) {
    active_.assign(pairs_.size(), 0);
    return;
  }
  const std::vector<Vec3d> still(static_cast<std::size_t>(m.vertex_count()));
  if (keep) {
    executor_.for_each(pairs_.size(), [&](std::size_t p) { settle_core(pairs_[p], p); });
  } else {
    du_.resize(still.size());
    executor_.for_each(du_.size(), [&](std::size_t v) { du_[v] = first_motion(static_cast<Index>(v)); });
    make_list(still, du_, predicts_);
    fastest2 = reach_of_first_motion().fastest2;
    // Lists that are made later in the step do not take what has been pressed together since for an overlap at the start.
    for (const Pair& pair : pairs_)
      if (first_ && is_thin(pair)) memory_.push_back({.pair = pair, .force = 0, .anchor = {}, .normal = {}});
    first_ = false;
    if ((is_quiet_ = fastest2 < quiet_ * quiet_)) {
      active_.assign(pairs_.size(), 0);
      return;
    }
  }
}

/// How far from where they were listed vertices are, and are to be when they go on as they do.
ContactStep::Reach ContactStep::reach_of_first_motion() const {
  return reach_of_vertices([&](std::size_t v) {
    const Vec3d from = start_->vertex_position[v] - centre_[v], motion = first_motion(static_cast<Index>(v));
    const double there = norm2(from + motion);
    return Reach{there <= room_[v] * room_[v], std::max(there, norm2(from)), norm2(motion)};
  });
}

/// Of those that live.
template <class ReachOf>
ContactStep::Reach ContactStep::reach_of_vertices(const ReachOf& reach_of) const {
  reach_.resize(blocks_of(centre_.size(), kChunk));
  return reduce(
      executor_, centre_.size(), kChunk, reach_.data(),
      [&](std::size_t v) { return m_->vertex_alive[v] ? reach_of(v) : Reach{}; },
      [](Reach& all, const Reach& one) {
        all.inside = all.inside && one.inside;
        all.far2 = std::max(all.far2, one.far2), all.fastest2 = std::max(all.fastest2, one.fastest2);
      });
}

void ContactStep::carry(Archive& archive) {
  archive(listed_, listed_at_, ball_, drift_, ratio_, most_bend_, longest_, reach_of_, centre_, room_, way_, alive_, pairs_,
          pair_distance_, measured_, measured_at_, active_, generous_, slack_, quiet_, is_quiet_, least_room_, quiet_reach_,
          first_, lists_);
  restored_ = restored_ || archive.reads();
  moved_.resize(centre_.size());
}

/// Half of the least room that a pair on the list has, since both of its segments may move. None where an obstacle moves, or
/// where a pair is thin, which grows.
void ContactStep::find_quiet() {
  partial_.resize(blocks_of(pairs_.size(), kChunk));
  const double least = reduce(
      executor_, pairs_.size(), kChunk, partial_.data(),
      [&](std::size_t p) {
        const Pair& pair = pairs_[p];
        if (is_thin(pair) || (pair.with_obstacle() && contacts_->obstacles()[pair.obstacle()]->is_moving())) return 0.0;
        const double away = pair.core + (pair.pushes ? 1 : 0.1) * range_of(pair);
        return ratio_ * pair_distance_[p] - away - 2 * most_bend_;
      },
      [](double& all, double x) { all = std::min(all, x); }, std::numeric_limits<double>::infinity());
  quiet_ = std::max(0.0, (0.5 - 1e-6) * least);
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

/// Whether a pair at x stays out of its range, and a pair that is only guarded apart, while every vertex v moves straight by
/// motion(v). What both have in common does not count.
template <class Motion>
bool ContactStep::stays_apart(const Pair& pair, const std::vector<Vec3d>& x, const Motion& motion) const {
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  const double away = pair.core + (pair.pushes ? 1 : 0.1) * range_of(pair);
  if (pair.with_obstacle()) {
    const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
    const double travel = std::max(norm(motion(a0)), norm(motion(a1))) + obstacle.reach(pair.feature, 0, 1);
    return distance_of(obstacle, pair.feature, x[a0], x[a1], 0) >= away + travel;
  }
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  double travel = 0;
  for (const Index a : {a0, a1})
    for (const Index b : {b0, b1}) travel = std::max(travel, norm2(motion(b) - motion(a)));
  return nearest_points({{Vec3d{}, x[a1] - x[a0]}, {x[b0] - x[a0], x[b1] - x[a0]}}, 0, 0).distance >= away + std::sqrt(travel);
}

void ContactStep::find_active() {
  if (active_.size() == pairs_.size()) return;
  active_.resize(pairs_.size());
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    const Pair& pair = pairs_[p];
    active_[p] = !stays_apart(pair, start_->vertex_position, [&](Index v) { return first_motion(v); }) ||
                 (amid_step_ && pair_distance_[p] < pair.core + range_of(pair));
  });
}

bool ContactStep::leaves_list(const std::vector<Vec3d>& x, const std::vector<std::uint8_t>& elsewhere) const {
  for (Index s = 0; s < m_->segment_count(); ++s) {
    if (!elsewhere.empty() && elsewhere[s]) continue;
    for (const Index v : m_->segment_vertices[s])
      if (!(norm2(x[v] - centre_[v]) <= room_[v] * room_[v])) return true;
  }
  return false;
}

bool ContactStep::moves_freely(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1,
                               const std::vector<std::uint8_t>& elsewhere) const {
  if (is_quiet_) {
    const double most = std::min(quiet_, least_room_), most2 = most * most;
    const Reach reach = reach_of_vertices([&](std::size_t v) {
      const double before = norm2(x0[v] - centre_[v]), after = norm2(x1[v] - centre_[v]);
      return Reach{before <= most2 && after <= most2, after, norm2(x1[v] - x0[v])};
    });
    constexpr double kFaster = 1.5;  // than in this step
    if (reach.inside) {
      quiet_reach_ = std::sqrt(reach.far2) + kFaster * std::sqrt(reach.fastest2);
      return true;
    }
  }
  if (leaves_list(x1, elsewhere)) return false;
  partial_.resize(blocks_of(pairs_.size(), kChunk));
  return reduce_ranges(
             executor_, pairs_.size(), kChunk, partial_.data(),
             [&](std::size_t begin, std::size_t end) {
               double in_the_way = 0;
               for (std::size_t p = begin; p < end && in_the_way == 0; ++p) {
                 if (!elsewhere.empty() && elsewhere[pairs_[p].a]) continue;
                 if (!stays_apart(pairs_[p], x0, [&](Index v) { return x1[v] - x0[v]; })) in_the_way = 1;
               }
               return in_the_way;
             },
             [](double& sum, double x) { sum += x; }) == 0;
}

void ContactStep::expect(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1, const std::vector<std::uint8_t>& elsewhere) {
  is_quiet_ = false;
  if (leaves_list(x1, elsewhere)) {
    du_.resize(x0.size());
    for (std::size_t v = 0; v < x0.size(); ++v) du_[v] = x1[v] - x0[v];
    make_list(std::vector<Vec3d>(x0.size()), du_, false);
  }
  find_active();
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    if (!elsewhere.empty() && elsewhere[pairs_[p].a]) return;
    if (!stays_apart(pairs_[p], x0, [&](Index v) { return x1[v] - x0[v]; })) active_[p] = 1;
  });
}

/// Where inertia and prescribed motion lead.
Vec3d ContactStep::first_motion(Index v) const {
  if (!m_->vertex_alive[v]) return {};
  if (c_->vertex_fixed[v]) return c_->vertex_target[v] - start_->vertex_position[v];
  const Vec3d free = h_ * start_->vertex_velocity[v];
  const HeldAxes* held = c_->held_axes.empty() ? nullptr : held_axes_of(*c_, v);
  return held ? held_place(*held, start_->vertex_position[v] + free) - start_->vertex_position[v] : free;
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

/// At which the faster one of a segment's ends began the step.
double ContactStep::speed_of(Index s) const {
  const auto [a, b] = m_->segment_vertices[s];
  return std::sqrt(std::max(norm2(start_->vertex_velocity[a]), norm2(start_->vertex_velocity[b])));
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

TwoSegments ContactStep::ends(const Pair& pair, const std::vector<Vec3d>& u) const {
  const auto& x = start_->vertex_position;
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  const auto from = [&](Index v) { return (x[v] - x[a0]) + (u[v] - u[a0]); };
  if (pair.with_obstacle()) return {{Vec3d{}, from(a1)}, {}};
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  return {{Vec3d{}, from(a1)}, {from(b0), from(b1)}};
}

/// See thickness.hpp.
void ContactStep::settle_core(Pair& pair, std::size_t index) {
  const double distance = std::max(0.0, pair_distance_[index]);
  if (pair.with_obstacle()) pair.core = contacts_->core(pair.a);
  else if (pair.pushes) pair.core = contacts_->core(pair.a, pair.b);
  const double full = pair.core;
  const auto found =
      std::lower_bound(memory_.begin(), memory_.end(), pair, [](const RememberedPair& m, const Pair& p) { return m.pair < p; });
  // Where the step began, whenever in it the list is made: a core that grew amid a step would make energy at its start.
  const auto distance_at_start = [&] {
    const std::vector<Vec3d>& x = start_->vertex_position;
    const auto [a0, a1] = m_->segment_vertices[pair.a];
    if (pair.with_obstacle()) {
      const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
      return distance_of(obstacle, pair.feature, x[a0], x[a1], obstacle.is_moving() ? 0 : 1);
    }
    const auto [b0, b1] = m_->segment_vertices[pair.b];
    return nearest_points({{Vec3d{}, x[a1] - x[a0]}, {x[b0] - x[a0], x[b1] - x[a0]}}, 0, 0).distance;
  };
  if (found != memory_.end() && found->pair == pair && found->pair.core < full)
    pair.core = grown_core(found->pair.core, full, distance_at_start());
  else pair.core = core_at_first(full, distance, pair.pushes, first_);
}

bool ContactStep::is_thin(const Pair& pair) const {
  return pair.pushes && pair.core < (pair.with_obstacle() ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b));
}

double ContactStep::range_of(const Pair& pair) const {
  const bool obstacle = pair.with_obstacle();
  const double range = obstacle ? contacts_->range(pair.a) : contacts_->range(pair.a, pair.b);
  const double full = obstacle ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b);
  return contact::range_of(range, pair.core, full, pair.pushes);
}

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
    const auto [a0, a1] = m.segment_vertices[pair.a];
    if (pair.with_obstacle()) {
      const auto& obstacle = *contacts_->obstacles()[pair.obstacle()];
      const double share = obstacle_share_[pair.obstacle()];
      pair_distance_[p] = distance_of(obstacle, pair.feature, listed_at_[a0], listed_at_[a1], share);
    } else {
      const auto [b0, b1] = m.segment_vertices[pair.b];
      const Vec3d& from = listed_at_[a0];
      const TwoSegments both{{Vec3d{}, listed_at_[a1] - from}, {listed_at_[b0] - from, listed_at_[b1] - from}};
      pair_distance_[p] = nearest_points(both, 0, 0).distance;
    }
    settle_core(pair, p);
  });
  measured_ = pair_distance_;
}

/// Measures the pairs where they are, so that least_distance() is good for what is near there.
void ContactStep::measure_pairs(const std::vector<Vec3d>& u) {
  executor_.for_each(measured_at_.size(), [&](std::size_t v) { measured_at_[v] = at(u, static_cast<Index>(v)); });
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    const Pair& pair = pairs_[p];
    if (!pair.with_obstacle()) {
      measured_[p] = nearest_points(ends(pair, u), 0, 0).distance;
      return;
    }
    const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
    if (obstacle.is_moving()) return;  // least_distance() has no bound for it
    const auto [a0, a1] = m_->segment_vertices[pair.a];
    measured_[p] = distance_of(obstacle, pair.feature, at(u, a0), at(u, a1), obstacle_share_[pair.obstacle()]);
  });
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

/// The least of(v) of a vertex that lives, or `most`.
template <class F>
double ContactStep::least_of_vertices(const F& of, double most) const {
  partial_.resize(blocks_of(centre_.size(), kChunk));
  return reduce(
      executor_, centre_.size(), kChunk, partial_.data(), [&](std::size_t v) { return m_->vertex_alive[v] ? of(v) : most; },
      [](double& all, double x) { all = std::min(all, x); }, most);
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

void ContactStep::measure_motion(const std::vector<Vec3d>& u) const {
  executor_.for_each(u.size(), [&](std::size_t v) { moved_[v] = norm(at(u, static_cast<Index>(v)) - measured_at_[v]); });
}

/// No pair is nearer than this after the motion that measure_motion() found.
double ContactStep::least_distance(std::size_t p) const {
  const Pair& pair = pairs_[p];
  const auto moved = [&](Index s) {
    const auto [a, b] = m_->segment_vertices[s];
    return std::max(moved_[a], moved_[b]);
  };
  // An obstacle has moved as well; its motion is bounded where it is moved.
  if (pair.with_obstacle())
    return contacts_->obstacles()[pair.obstacle()]->is_moving() ? -std::numeric_limits<double>::infinity()
                                                                : measured_[p] - moved(pair.a);
  return measured_[p] - moved(pair.a) - moved(pair.b);
}

/// Calls f(contact) for what a pair makes at u with geometry alone: vertices, weights, normal and distance.
template <class F>
void ContactStep::each_contact(const Pair& pair, const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share,
                               const F& f) const {
  Contact c;
  c.pair = pair;
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  c.vertex[0] = a0, c.vertex[1] = a1;
  if (!pair.with_obstacle()) {
    const auto [b0, b1] = m_->segment_vertices[pair.b];
    c.vertex[2] = b0, c.vertex[3] = b1;
    c.range = range_of(pair);
    const double la = kRegularisation * m_->segment_rest_length[pair.a], lb = kRegularisation * m_->segment_rest_length[pair.b];
    const TwoSegments both = ends(pair, u);
    const Nearest near = nearest_points(both, la * la, lb * lb);
    c.distance = near.distance;
    if (!(c.s() < 1)) return;
    c.weight = near.weights();
    c.n = near.distance > 0 ? (1 / near.distance) * near.d : Vec3d{};
    c.place = at(u, a0) + near.s * both.edge_a();
    c.sliding = sliding(both, near, la * la, lb * lb);
    f(c);
    return;
  }
  const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
  const double share = obstacle_share[pair.obstacle()];
  c.range = range_of(pair);
  const auto take = [&](const ObstaclePoint& p) {
    c.distance = p.distance;
    if (!(c.s() < 1)) return;
    c.weight = {1 - p.along, p.along, 0, 0};
    c.n = p.normal;
    c.place = at(u, a0) + p.along * (at(u, a1) - at(u, a0));
    c.curvature = p.curvature;
    c.surface = p.point;
    c.sliding.count = 0;
    if (p.along_stiffness > 0) {
      c.sliding.count = 1;
      c.sliding.y[0] = sliding_on_surface(c.weight, p, at(u, a1) - at(u, a0));
    }
    f(c);
  };
  if (obstacle.kind() == Obstacle::Kind::hollow) {
    for (const Index v : {a0, a1}) {
      ObstaclePoint p = obstacle.nearest(pair.feature, at(u, v), at(u, v), share, 0);
      p.along = v == a0 ? 0 : 1;
      take(p);
    }
  } else {
    take(obstacle.nearest(pair.feature, at(u, a0), at(u, a1), share, regular(pair.a)));
  }
}

void ContactStep::contacts_of(Pair pair, const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share,
                              std::vector<Contact>& out) const {
  const auto listed = std::lower_bound(pairs_.begin(), pairs_.end(), pair);
  const bool known = listed != pairs_.end() && *listed == pair;
  if (known) pair = *listed;
  else pair.core = pair.with_obstacle() ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b);
  if (!pair.pushes) return;
  each_contact(pair, u, obstacle_share, [&](Contact& c) {
    c.stiffness_k = k_of(pair);
    const Barrier b = barrier(c.s(), c.range, c.stiffness_k);
    c.force = b.force, c.stiffness = b.stiffness;
    out.push_back(c);
  });
}

void ContactStep::linearise(const std::vector<Vec3d>& u, double freshness) {
  settle_stiffness();
  measure_motion(u);
  earlier_.swap(contacts_at_hand_);
  const std::size_t chunks = blocks_of(pairs_.size(), kChunk);
  found_.resize(std::max(found_.size(), chunks));
  executor_.for_each(
      chunks,
      [&](std::size_t chunk) {
        std::vector<Contact>& out = found_[chunk];
        out.clear();
        const std::size_t end = std::min(pairs_.size(), (chunk + 1) * kChunk);
        for (std::size_t p = chunk * kChunk; p < end; ++p) {
          const Pair& pair = pairs_[p];
          if (!pair.pushes) continue;
          const double reach = pair.core + range_of(pair);
          if (least_distance(p) > reach) continue;
          each_contact(pair, u, [&](Contact& c) {
            c.stiffness_k = k_of(pair);
            const Barrier b = barrier(c.s(), c.range, c.stiffness_k);
            c.force = b.force, c.stiffness = b.stiffness;
            set_friction(c, u, freshness);
            out.push_back(c);
          });
        }
      },
      kChunk);
  put_together(chunks);
  list_touches();
}

/// The contacts of all chunks in a row.
void ContactStep::put_together(std::size_t chunks) {
  found_start_.assign(chunks + 1, 0);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) found_start_[chunk + 1] = found_start_[chunk] + found_[chunk].size();
  contacts_at_hand_.resize(found_start_[chunks]);
  executor_.for_each(
      chunks,
      [&](std::size_t chunk) {
        std::copy(found_[chunk].begin(), found_[chunk].end(),
                  contacts_at_hand_.begin() + static_cast<std::ptrdiff_t>(found_start_[chunk]));
      },
      kChunk);
}

/// Sorts the sides of all contacts by segment, and lists the vertices of these: what belongs to a vertex is gathered from there.
void ContactStep::list_touches() {
  const auto segments = static_cast<std::size_t>(m_->segment_count());
  touch_start_.assign(segments + 1, 0);
  const auto each_side = [&](const auto& f) {
    for (std::size_t c = 0; c < contacts_at_hand_.size(); ++c) {
      const Pair& pair = contacts_at_hand_[c].pair;
      f(static_cast<std::size_t>(pair.a), 2 * c);
      if (!pair.with_obstacle()) f(static_cast<std::size_t>(pair.b), 2 * c + 1);
    }
  };
  each_side([&](std::size_t s, std::size_t) { ++touch_start_[s + 1]; });
  for (std::size_t s = 0; s < segments; ++s) touch_start_[s + 1] += touch_start_[s];
  touch_.resize(touch_start_[segments]);
  // Filling moves every start to the one after it; afterwards they are moved back.
  each_side([&](std::size_t s, std::size_t side) { touch_[touch_start_[s]++] = side; });
  for (std::size_t s = segments; s > 0; --s) touch_start_[s] = touch_start_[s - 1];
  touch_start_[0] = 0;
  touched_.clear();
  for (Index v = 0; v < m_->vertex_count() && !touch_.empty(); ++v)
    for (const Index e : m_->vertex_segments.of(v))
      if (touch_start_[e / 2] < touch_start_[e / 2 + 1]) {
        touched_.push_back(v);
        break;
      }
}

/// Calls f(c, j) for every contact c of a vertex, of whose vertices it is number j.
template <class F>
void ContactStep::each_touch(Index v, const F& f) const {
  for (const Index e : m_->vertex_segments.of(v))
    for (std::size_t k = touch_start_[e / 2]; k < touch_start_[e / 2 + 1]; ++k)
      f(touch_[k] / 2, 2 * (touch_[k] % 2) + static_cast<std::size_t>(e % 2));
}

/// Calls f(v) for every vertex that touches something, on all threads.
template <class F>
void ContactStep::each_touched(const F& f) const {
  executor_.for_each(
      touched_.size(), [&](std::size_t i) { f(touched_[i]); }, 4);
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

double ContactStep::value(const std::vector<Vec3d>& u) const {
  const std::size_t n = contacts_at_hand_.size();
  partial_.resize(blocks_of(n, kChunk));
  const double rubbing = reduce(
      executor_, n, kChunk, partial_.data(),
      [&](std::size_t i) {
        const Contact& c = contacts_at_hand_[i];
        return c.limit > 0 ? friction(c.limit, c.slip, norm(slip_of(c, u))).energy : 0.0;
      },
      [](double& sum, double x) { sum += x; });
  return barrier_value(u) + rubbing;
}

double ContactStep::barrier_value(const std::vector<Vec3d>& u) const {
  measure_motion(u);
  partial_.resize(blocks_of(pairs_.size(), kChunk));
  return reduce_ranges(
      executor_, pairs_.size(), kChunk, partial_.data(),
      [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t p = begin; p < end; ++p) {
          const Pair& pair = pairs_[p];
          if (!pair.pushes) continue;
          if (pair.with_obstacle()) {
            if (least_distance(p) > pair.core + range_of(pair)) continue;
            each_contact(pair, u, [&](const Contact& c) { sum += barrier_energy(c.s(), c.range, k_of(pair)); });
            continue;
          }
          const double range = range_of(pair);
          if (least_distance(p) > pair.core + range) continue;
          const double la = kRegularisation * m_->segment_rest_length[pair.a],
                       lb = kRegularisation * m_->segment_rest_length[pair.b];
          const double distance = nearest_points(ends(pair, u), la * la, lb * lb).distance;
          sum += barrier_energy((distance - pair.core) / range, range, k_of(pair));
        }
        return sum;
      },
      [](double& sum, double x) { sum += x; });
}

void ContactStep::add_gradient(std::vector<Vec3d>& gx) const {
  each_touched([&](Index v) {
    Vec3d sum;
    each_touch(v, [&](std::size_t i, std::size_t j) {
      const Contact& c = contacts_at_hand_[i];
      sum += c.rub[j] * c.friction_force() - (c.weight[j] * c.force) * c.n;
    });
    gx[v] += sum;
  });
}

/// A block over the two ends of a segment is at most its rows' sums on the diagonal.
void ContactStep::list_blocks(std::vector<systems::VertexBlock>& blocks) const {
  blocks.clear();
  for (const Index v : touched_)
    if (!c_->vertex_fixed[v]) blocks.push_back({.segment = -1, .a = v, .aa = {}, .ab = {}, .bb = {}});
  executor_.for_each(
      blocks.size(),
      [&](std::size_t i) {
        Mat3<double> sum{};
        each_touch(blocks[i].a, [&](std::size_t contact, std::size_t j) {
          const Contact& c = contacts_at_hand_[contact];
          const std::size_t other = j ^ 1;  // end of the same segment
          sum = sum + (c.weight[j] * (c.weight[j] + c.weight[other]) * c.stiffness) * outer(c.n, c.n);
          if (c.limit > 0) sum = sum + (c.rub[j] * (c.rub[j] + c.rub[other])) * friction_block(c.friction, c.unit, c.z);
          if (!c.pair.with_obstacle() || c.sliding.count == 0) return;
          const auto& y = c.sliding.y[0];
          sum = sum + c.force * outer(y[j], y[j] + y[other]);
        });
        blocks[i].aa = sum;
      },
      8);
}

void ContactStep::add_diagonal(std::vector<Mat3<double>>& blocks) const {
  each_touched([&](Index v) {
    Mat3<double> sum = blocks[v];
    each_touch(v, [&](std::size_t i, std::size_t j) {
      const Contact& c = contacts_at_hand_[i];
      const auto add = [&](const std::array<double, 4>& weight, const Mat3<double>& block) {
        sum = sum + majorised(weight, j) * block;
      };
      add(c.weight, c.stiffness * outer(c.n, c.n));
      if (c.limit > 0) add(c.rub, friction_block(c.friction, c.unit, c.z));
      if (c.pair.with_obstacle() && c.sliding.count > 0) sum = sum + 2 * c.force * outer(c.sliding.y[0][j], c.sliding.y[0][j]);
    });
    blocks[v] = sum;
  });
}

/// The product with the Hessian of one contact, for its vertices.
std::array<Vec3d, 4> ContactStep::product_of(const Contact& c, const std::vector<Vec3d>& p) const {
  std::array<Vec3d, 4> moved{}, image{};
  const std::size_t ends = c.pair.with_obstacle() ? 2 : 4;
  for (std::size_t j = 0; j < ends; ++j) moved[j] = p[c.vertex[j]];
  const auto sum = [&](const std::array<double, 4>& weight) {
    Vec3d q;
    for (std::size_t j = 0; j < ends; ++j) q += weight[j] * moved[j];
    return q;
  };
  const Vec3d q = sum(c.weight);
  const double along_n = dot(c.n, q);
  Vec3d y = (c.stiffness * along_n) * c.n;
  double g = c.force;
  if (c.pair.with_obstacle()) {
    y -= g * (c.curvature * q);
  } else {
    g = c.distance > 0 ? c.force / c.distance : 0;
    y += (g * along_n) * c.n - g * q;
  }
  for (int k = 0; k < c.sliding.count; ++k) {
    const std::array<Vec3d, 4>& row = c.sliding.y[static_cast<std::size_t>(k)];
    double along = 0;
    for (std::size_t j = 0; j < ends; ++j) along += dot(row[j], moved[j]);
    for (std::size_t j = 0; j < ends; ++j) image[j] += (g * along) * row[j];
  }
  for (std::size_t j = 0; j < ends; ++j) image[j] += c.weight[j] * y;
  if (!(c.limit > 0)) return image;
  const Vec3d slide = sum(c.rub);
  const double size2 = norm2(c.z);
  Vec3d drag = c.friction.across * (slide - dot(c.unit, slide) * c.unit);
  if (size2 > 0) drag += ((c.friction.along - c.friction.across) * dot(c.z, slide) / size2) * c.z;
  for (std::size_t j = 0; j < ends; ++j) image[j] += c.rub[j] * drag;
  return image;
}

void ContactStep::add_product(const std::vector<Vec3d>& p, std::vector<Vec3d>& image) const {
  product_.resize(contacts_at_hand_.size());
  executor_.for_each(
      product_.size(), [&](std::size_t i) { product_[i] = product_of(contacts_at_hand_[i], p); }, 4);
  each_touched([&](Index v) { each_touch(v, [&](std::size_t c, std::size_t j) { image[v] += product_[c][j]; }); });
}

Vec3d ContactStep::slip_of(const Contact& c, const std::vector<Vec3d>& u) const {
  Vec3d z = c.anchor;
  for (std::size_t j = 0; j < 4; ++j)
    if (c.vertex[j] >= 0) z += c.rub[j] * u[c.vertex[j]];
  return across_normal(z, c.unit);
}

/// The memory of this pair, or, for one that has none, of the neighbouring pair that carried most: a contact that moves on along
/// a rod keeps its anchor.
const RememberedPair* ContactStep::inherited(const Contact& c) const {
  const auto find = [&](const Pair& pair) -> const RememberedPair* {
    const auto found =
        std::lower_bound(memory_.begin(), memory_.end(), pair, [](const RememberedPair& m, const Pair& p) { return m.pair < p; });
    return found != memory_.end() && found->pair == pair && found->force > 0 ? &*found : nullptr;
  };
  if (const RememberedPair* own = find(c.pair)) return own;
  const RememberedPair* best = nullptr;
  const auto around = [&](Index s, const auto& f) {
    f(s);
    for (const Index v : m_->segment_vertices[s])
      for (const Index e : m_->vertex_segments.of(v))
        if (e / 2 != s) f(e / 2);
  };
  each_pair_around(c.pair, around, [&](const Pair& pair) {
    if (const RememberedPair* other = find(pair); other && (!best || other->force > best->force)) best = other;
  });
  return best;
}

/// The same contact at the linearise() before.
const Contact* ContactStep::earlier(const Contact& c) const {
  auto found =
      std::lower_bound(earlier_.begin(), earlier_.end(), c.pair, [](const Contact& e, const Pair& p) { return e.pair < p; });
  const bool two = c.pair.with_obstacle() && contacts_->obstacles()[c.pair.obstacle()]->kind() == Obstacle::Kind::hollow;
  for (; found != earlier_.end() && found->pair == c.pair; ++found)
    if (!two || found->weight[0] == c.weight[0]) return &*found;
  return nullptr;
}

void ContactStep::set_friction(Contact& c, const std::vector<Vec3d>& u, double freshness) const {
  if (!contacts_->has_friction()) return;
  const Index a = c.pair.a, b = c.pair.b;
  const double mu = c.pair.with_obstacle() ? contacts_->friction_with(a, c.pair.obstacle()) : contacts_->friction(a, b);
  c.unit = normalized(c.n);
  // Oblique pushes of neighbouring segments cancel, but not at the end of a rod that points at the other one, nor against an
  // obstacle.
  const auto across = [&](std::size_t first) {
    const Index v0 = c.vertex[first], v1 = c.vertex[first + 1];
    const Index nearest = c.weight[first] == 0 ? v1 : c.weight[first + 1] == 0 ? v0 : -1;
    if (nearest >= 0 && m_->vertex_segments.of(nearest).size() == 1) return 1.0;
    return share_across(c.unit, at(u, v1) - at(u, v0));
  };
  c.limit = mu * c.force * (c.pair.with_obstacle() ? 1 : across(0) * across(2));
  c.rub = c.weight;
  const Contact* before = freshness < 1 ? earlier(c) : nullptr;
  if (freshness < 1) c.limit = freshness * c.limit + (1 - freshness) * (before ? before->limit : 0);
  if (!(c.limit > 0)) return;
  if (before && before->limit > 0) {
    for (std::size_t j = 0; j < 4; ++j) c.rub[j] = freshness * c.weight[j] + (1 - freshness) * before->rub[j];
    c.unit = normalized(freshness * c.unit + (1 - freshness) * before->unit);
  }
  c.slip = c.pair.with_obstacle() ? contacts_->slip(a) : 0.5 * (contacts_->slip(a) + contacts_->slip(b));
  if (const RememberedPair* known = inherited(c)) c.anchor = turned_anchor(known->anchor, known->normal, c.unit);
  if (c.pair.with_obstacle()) {
    const std::size_t o = c.pair.obstacle();
    c.anchor -= contacts_->obstacles()[o]->moved(c.pair.feature, c.surface, obstacle_share_[o]);
  }
  c.z = slip_of(c, u);
  c.friction = friction(c.limit, c.slip, norm(c.z));
}

/// Segments next to one that carries a load will soon carry it, too. `stiffness`: of those that carry one; 0 elsewhere.
void ContactStep::spread(std::vector<double>& stiffness) const {
  const auto take = [&](Index s) {
    if (!m_->segment_alive[s]) return;
    for (const Index v : m_->segment_vertices[s])
      for (const Index e : m_->vertex_segments.of(v)) stiffness[s] = std::max(stiffness[s], kSpreadShare * stiffness[e / 2]);
  };
  for (Index s = 0; s < m_->segment_count(); ++s) take(s);
  for (Index s = m_->segment_count(); s-- > 0;) take(s);
}

void ContactStep::finish_untouched(State& state) {
  contacts_at_hand_.clear();
  std::fill(obstacle_share_.begin(), obstacle_share_.end(), 1.0);  // nothing was in their way
  for (const char* name : {kStiffness, kPairs, kLate})
    if (SolverMemory* known = find_memory(state, name)) known->values.clear();
}

void ContactStep::finish(const std::vector<Vec3d>& u, State& state) {
  linearise(u);
  if (MotionObserver* observer = contacts_->observer()) observer->end_path(*this, u);
  std::vector<double> adapted = stiffness_, need(stiffness_.size(), -1);
  for (const Contact& c : contacts_at_hand_) {
    double mobility = 0;
    for (std::size_t j = 0; j < 4; ++j)
      if (c.vertex[j] >= 0) mobility += c.weight[j] * c.weight[j] / m_->vertex_mass[c.vertex[j]];
    const double wanted = stiffness_for_load(c.stiffness_k, {0, c.force, c.stiffness}, c.s(), c.range, h_, mobility);
    for (const Index s : {c.pair.a, c.pair.b})
      if (s >= 0) need[s] = std::max(need[s], wanted);
  }
  for (Index s = 0; s < m_->segment_count(); ++s)
    adapted[s] = followed_stiffness(adapted[s], need[s], strength_of(s), h_, speed_of(s));
  // What is next to a load does not make it stiffer: a light contact would rest at the outer end of its range.
  std::vector<double> carried(adapted.size(), 0);
  for (std::size_t s = 0; s < carried.size(); ++s)
    if (need[s] >= 0) carried[s] = adapted[s];
  spread(carried);
  for (std::size_t s = 0; s < carried.size(); ++s) adapted[s] = std::max(adapted[s], carried[s]);
  make_memory(state, kStiffness, ElementKind::segment).values = adapted;
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
  std::vector<RememberedPair> out;
  std::size_t next = 0;
  for (const Pair& pair : pairs_) {
    const bool thin =
        pair.pushes && pair.core < (pair.with_obstacle() ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b));
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

void ContactStep::tell(Record& record) const {
  record.clear();
  record.late = !arrived_;
  record.late_vertex = late_vertex_;
  record.obstacle_share = obstacle_share_;
  record.list_seconds = list_seconds_;
  record.lists = lists_made_;
  for (const Contact& c : contacts_at_hand_) {
    const double radii =
        c.pair.with_obstacle() ? contacts_->radius(c.pair.a) : contacts_->radius(c.pair.a) + contacts_->radius(c.pair.b);
    const Vec3d friction = c.limit > 0 ? -c.friction_force() : Vec3d{};
    const Vec3d push = c.force * c.n + friction;
    record.touches.push_back({.pair = c.pair,
                              .vertex = c.vertex,
                              .weight = c.weight,
                              .push = push,
                              .friction = friction,
                              .normal = c.force,
                              .place = c.place,
                              .surface = c.surface,
                              .gap = c.distance - radii});
  }
}

double ContactStep::smallest_range() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Contact& c : contacts_at_hand_) least = std::min(least, c.range);
  return least;
}

double ContactStep::smallest_gap(Index& a, Index& b) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Contact& c : contacts_at_hand_) {
    const double radii =
        c.pair.with_obstacle() ? contacts_->radius(c.pair.a) : contacts_->radius(c.pair.a) + contacts_->radius(c.pair.b);
    if (const double gap = c.distance / radii; gap < least) least = gap, a = c.pair.a, b = c.pair.b;
  }
  return least;
}

}  // namespace osier::contact
