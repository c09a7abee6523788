#include "contact/contact_step.hpp"

#include <algorithm>
#include <cmath>

#include "model/held_axes.hpp"

namespace osier::contact {

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
  read_late_obstacles(start);
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
  const auto is_near = [&](double distance2) { return distance2 < std::min(quiet_ * quiet_, least_room_ * least_room_); };
  is_quiet_ = keep && is_near(far2);
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
    const Reach reach = reach_of_first_motion();
    // Lists that are made later in the step do not take what has been pressed together since for an overlap at the start.
    for (const Pair& pair : pairs_)
      if (first_ && is_thin(pair)) memory_.push_back({.pair = pair, .force = 0, .anchor = {}, .normal = {}});
    if (first_) settle_stiffness_of_start();
    first_ = false;
    if ((is_quiet_ = is_near(std::max(reach.far2, reach.fastest2)))) {
      active_.assign(pairs_.size(), 0);
      return;
    }
  }
}

/// Where inertia and prescribed motion lead.
Vec3d ContactStep::first_motion(Index v) const {
  if (!m_->vertex_alive[v]) return {};
  if (c_->vertex_fixed[v]) return c_->vertex_target[v] - start_->vertex_position[v];
  const Vec3d free = h_ * start_->vertex_velocity[v];
  const HeldAxes* held = c_->held_axes.empty() ? nullptr : held_axes_of(*c_, v);
  return held ? held_place(*held, start_->vertex_position[v] + free) - start_->vertex_position[v] : free;
}

void ContactStep::carry(Archive& archive) {
  archive(listed_, listed_at_, ball_, drift_, ratio_, most_bend_, longest_, reach_of_, centre_, room_, way_, alive_, pairs_,
          pair_distance_, measured_, measured_at_, active_, generous_, slack_, quiet_, is_quiet_, least_room_, quiet_far_,
          quiet_reach_, first_, lists_);
  restored_ = restored_ || archive.reads();
  moved_.resize(centre_.size());
}

void ContactStep::finish(const std::vector<Vec3d>& u, State& state) {
  linearise(u);
  if (MotionObserver* observer = contacts_->observer()) observer->end_path(*this, u);
  adapt_stiffness(state);
  save_late_obstacles(state);
  save_contacts(state);
}

void ContactStep::tell(Record& record) const {
  record.clear();
  record.late = !arrived_;
  record.late_vertex = late_vertex_;
  record.obstacle_share = obstacle_share_;
  record.list_seconds = list_seconds_;
  record.lists = lists_made_;
  for (const Contact& c : contacts_at_hand_) {
    const double radii = radii_of(c.pair);
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

/// The distance at which the tubes of a pair touch [m].
double ContactStep::radii_of(const Pair& pair) const {
  return pair.with_obstacle() ? contacts_->radius(pair.a) : contacts_->radius(pair.a) + contacts_->radius(pair.b);
}

double ContactStep::smallest_range() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Contact& c : contacts_at_hand_) least = std::min(least, c.range);
  return least;
}

double ContactStep::smallest_gap(Index& a, Index& b) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Contact& c : contacts_at_hand_) {
    const double radii = radii_of(c.pair);
    if (const double gap = c.distance / radii; gap < least) least = gap, a = c.pair.a, b = c.pair.b;
  }
  return least;
}

}  // namespace osier::contact
