// The guard of a step.
//
// Two segments A and B with a unit normal n: alpha = max n.a, beta = min n.b over their ends, sep = beta - alpha. During a
// straight motion of the four ends the front of A advances by at most A(t) = max n.(a + t da) - alpha, which is convex in t and 0
// at t = 0, so A(t) <= t A(1); likewise that of B recedes by B(t) >= t B(1). The distance is therefore never less than sep -
// max(0, A(1) - B(1)). No accuracy of nearest points goes into this: n only has to separate. Motions that A and B have in common
// do not count.
//
//   every pair:  A - B <= G,   G = kGuardShare max(0, sep - core)
//
// Where that fails, ends are cut back, those of A to A' and those of B to B' with A' - B' = G, in proportion to how far each went
// towards the other. One pair's cut may spoil another one that relied on moving along, so that the pairs are visited again. A
// pair that fails too often is fixed: A <= G' and B >= -(G - G') each for itself, which no further cut can spoil; so it ends.
//
// A pair without a separating normal is fixed with A = B = 0 across all normals, that is, its ends stay.
//
// An obstacle that moves is one more body whose motion is shortened, by one share for all of it. A convex one advances along n by
// its support function, A(t) <= t A(1) with a bound for turning; the room within a hollow one is convex, so that the distance of
// a point from the wall, relative to the obstacle, is concave along the motion.
//
// The normal at the nearest points separates by the distance itself but for rounding. Prior art: Divide and Truncate (planar
// filter of ipc-toolkit's `ogc`), Offset Geometric Contact (balls instead of planes); see docs/theory/contact.md.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "model/held_axes.hpp"

namespace osier::contact {

/// `uncut`: pairs whose whole motions keep them apart are left out. Where ends are cut, no longer together, only those may be
/// left out whose motions are too short for any share of them to matter.
void ContactStep::find_planes(const std::vector<Vec3d>& u, bool uncut) {
  planes_.resize(pairs_.size());
  measure_motion(u);
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    const Pair& pair = pairs_[p];
    Plane& plane = planes_[p];
    plane.fixed = false;
    plane.close = false;
    if (pair.with_obstacle()) return find_plane_of_obstacle(p, u);
    const double room = kGuardShare * (least_distance(p) - pair.core);
    plane.close = !(farthest_approach(pair, uncut) <= room);
    if (!plane.close) return;
    divide(ends(pair, u), plane);
  });
}

/// How far the two segments of a pair can come towards each other: head-on, or `uncut`, by the motion of one seen from the other.
double ContactStep::farthest_approach(const Pair& pair, bool uncut) const {
  const std::array<Vec3d, 4> motion = of_ends(pair, du_);
  return uncut ? seen_approach(motion) : head_on(motion);
}

/// Of an obstacle that goes from its share to its goal while the ends of the segment move by du_.
void ContactStep::find_plane_of_obstacle(std::size_t p, const std::vector<Vec3d>& u) {
  const Pair& pair = pairs_[p];
  Plane& plane = planes_[p];
  const std::size_t o = pair.obstacle();
  const Obstacle& obstacle = *contacts_->obstacles()[o];
  const double from = obstacle_share_[o], goal = obstacle_goal_[o];
  const double reach = goal > from ? obstacle.reach(pair.feature, from, goal) : 0;
  const auto& v = m_->segment_vertices[pair.a];
  const double travel = std::max(norm(du_[v[0]]), norm(du_[v[1]]));
  plane.close = !(travel + reach <= kGuardShare * (least_distance(p) - pair.core));
  if (!plane.close) return;
  if (obstacle.kind() == Obstacle::Kind::hollow) {
    // The room of a hollow obstacle is convex, so that the distance along a line is concave in it. The obstacle's shift is taken
    // off the motion of the rod; what is left of the obstacle's motion takes away at most `advance`.
    plane.advance = goal > from ? std::max(0.0, reach - (goal - from) * norm(obstacle.shift())) : 0;
    for (std::size_t k = 0; k < 2; ++k) plane.behind[k] = distance_in_hollow(p, k, u, 0, 0);
    return;
  }
  const ObstaclePoint near = obstacle.nearest(pair.feature, at(u, v[0]), at(u, v[1]), from, 0);
  for (std::size_t k = 0; k < 2; ++k) plane.behind[k] = dot(near.normal, at(u, v[k]) - near.point);
  plane.n = near.normal;
  plane.sep = std::min(plane.behind[0], plane.behind[1]);
  for (std::size_t k = 0; k < 2; ++k) plane.behind[k] -= plane.sep;
  plane.advance = 0;
  if (goal > from) {
    // f(t) <= (1 - t) f(0) + t f(1) + t (1 - t) max |f''|/2 for each point, so that the front goes no further than t times this.
    const double way = goal - from;
    plane.advance = obstacle.support(pair.feature, plane.n, goal) - obstacle.support(pair.feature, plane.n, from) +
                    0.5 * obstacle.bend(pair.feature) * way * way;
  }
}

/// Of an end of a segment from the wall around it, when it has gone a share of its motion and the obstacle a share of its way.
double ContactStep::distance_in_hollow(std::size_t p, std::size_t end, const std::vector<Vec3d>& u, double share,
                                       double way) const {
  const Pair& pair = pairs_[p];
  const std::size_t o = pair.obstacle();
  const Obstacle& obstacle = *contacts_->obstacles()[o];
  const Index v = m_->segment_vertices[pair.a][end];
  const double from = obstacle_share_[o];
  const Vec3d x = at(u, v) + share * du_[v] - (way * (obstacle_goal_[o] - from)) * obstacle.shift();
  return obstacle.nearest(pair.feature, x, x, from, 0).distance - way * planes_[p].advance;
}

/// Whether a pair takes more than its share of the room between its two sides.
bool ContactStep::fails(std::size_t p, const std::vector<Vec3d>& u) const {
  const Plane& plane = planes_[p];
  const Pair& pair = pairs_[p];
  const std::array<double, 4> share = of_ends(pair, share_);
  if (!pair.with_obstacle())
    return !(plane.sep > 0) || takes_too_much(plane, pair.core, approach_of(plane, share, of_ends(pair, du_)));
  const double way = obstacle_way_[pair.obstacle()];
  if (contacts_->obstacles()[pair.obstacle()]->kind() == Obstacle::Kind::hollow) {
    constexpr double kRounding = 1e-12;  // of what was cut to the limit
    for (std::size_t k = 0; k < 2; ++k) {
      const double here = plane.behind[k], least = here - kGuardShare * std::max(0.0, here - pair.core);
      if (!(distance_in_hollow(p, k, u, share[k], way) >= least - kRounding * here)) return true;
    }
    return false;
  }
  return takes_too_much(plane, pair.core, approach_of_obstacle(plane, way, share, of_ends(pair, du_)));
}

/// Cuts a pair that fails. `fix`: each side for itself, so that no cut of another pair can spoil it.
void ContactStep::mend(std::size_t p, bool fix, const std::vector<Vec3d>& u) {
  Plane& plane = planes_[p];
  const Pair& pair = pairs_[p];
  plane.fixed = fix;
  const auto limit = [&](Index v, double behind, double along, double most) {
    share_[v] = limited_share(share_[v], behind, along, most);
  };
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  const std::array<Index, 2> ends{a0, a1};
  if (pair.with_obstacle()) {
    double& way = obstacle_way_[pair.obstacle()];
    if (contacts_->obstacles()[pair.obstacle()]->kind() == Obstacle::Kind::hollow) {
      for (std::size_t k = 0; k < 2; ++k) {
        double& share = share_[ends[k]];
        const double here = plane.behind[k], room = kGuardShare * std::max(0.0, here - pair.core);
        const auto bisect = [&](double least, const auto& distance_at) {  // the largest share of what was left that is safe
          if (distance_at(1.0) >= least) return 1.0;
          double safe = 0, unsafe = 1;
          for (int halving = 0; halving < 40; ++halving) {
            const double middle = 0.5 * (safe + unsafe);
            (distance_at(middle) < least ? unsafe : safe) = middle;
          }
          return safe;
        };
        if (fix) {
          share *= bisect(here - 0.5 * room, [&](double t) { return distance_in_hollow(p, k, u, t * share, 0); });
          way *= bisect(here - 0.5 * room, [&](double t) {
            const double gone = t * way * (obstacle_goal_[pair.obstacle()] - obstacle_share_[pair.obstacle()]);
            return here - gone * norm(contacts_->obstacles()[pair.obstacle()]->shift()) - t * way * plane.advance;
          });
        } else if (distance_in_hollow(p, k, u, 0, way) >= here - room) {
          share *= bisect(here - room, [&](double t) { return distance_in_hollow(p, k, u, t * share, way); });
        } else {
          const double both = bisect(here - room, [&](double t) { return distance_in_hollow(p, k, u, t * share, t * way); });
          share *= both, way *= both;
        }
      }
      return;
    }
    const Approach by = approach_of_obstacle(plane, way, of_ends(pair, share_), of_ends(pair, du_));
    const Limits limits = limits_of(plane, pair.core, by, fix);
    if (!limits.any) return;
    if (by.advance > limits.most_a) way *= std::clamp(limits.most_a / by.advance, 0.0, 1.0);
    for (std::size_t k = 0; k < 2; ++k) limit(ends[k], -plane.behind[k], -dot(plane.n, du_[ends[k]]), -limits.least_b);
    return;
  }
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  const std::array<Index, 4> v{a0, a1, b0, b1};
  if (!(plane.sep > 0)) {
    for (const Index i : v) share_[i] = 0;
    plane.fixed = true;
    return;
  }
  const Limits limits = limits_of(plane, pair.core, approach_of(plane, of_ends(pair, share_), of_ends(pair, du_)), fix);
  if (!limits.any) {  // an earlier cut of this round has done it
    plane.fixed = false;
    return;
  }
  for (std::size_t k = 0; k < 2; ++k) {
    limit(v[k], plane.behind[k], dot(plane.n, du_[v[k]]), limits.most_a);
    limit(v[2 + k], -plane.behind[2 + k], -dot(plane.n, du_[v[2 + k]]), -limits.least_b);
  }
}

/// The pairs that fail.
const std::vector<std::size_t>& ContactStep::find_failed(const std::vector<Vec3d>& u) {
  bad_.resize(planes_.size());
  executor_.for_each(planes_.size(),
                     [&](std::size_t p) { bad_[p] = planes_[p].close && !planes_[p].fixed && fails(p, u) ? 1 : 0; });
  failed_.clear();
  for (std::size_t p = 0; p < planes_.size(); ++p)
    if (bad_[p]) failed_.push_back(p);
  return failed_;
}

void ContactStep::cut(const std::vector<Vec3d>& u) {
  find_planes(u, true);
  if (find_failed(u).empty()) return;
  find_planes(u, false);
  for (int round = 0; !find_failed(u).empty(); ++round)
    for (const std::size_t p : failed_) mend(p, round >= kGuardRounds, u);
}

ContactStep::Guarded ContactStep::guard(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  obstacle_goal_ = obstacle_share_;
  return guard_all(u, du);
}

/// Rods along du and obstacles to their goals, at the same time.
ContactStep::Guarded ContactStep::guard_all(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  executor_.for_each(du.size(), [&](std::size_t v) {
    if (!is_finite(du[v])) du[v] = {};
  });
  ensure_list(u, du);
  du_ = du;
  share_.assign(du.size(), 1);
  obstacle_way_.assign(obstacle_share_.size(), 1);
  cut(u);
  Guarded result;
  for (std::size_t v = 0; v < du.size(); ++v) {
    if (!(share_[v] < 1)) continue;
    if (norm2(du[v]) > 0) ++result.cut, result.share = std::min(result.share, share_[v]);
    du[v] = share_[v] * du[v];
  }
  return result;
}

ContactStep::Guarded ContactStep::guard_alike(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  const std::vector<Vec3d> whole = du;
  Guarded result = guard(u, du);
  if (result.cut == 0) return result;
  // Any share of a guarded motion is safe, but a guarded motion is not a share of the whole one: ask again for that.
  for (int attempt = 0; attempt < 8; ++attempt, result.share *= 0.5) {
    for (std::size_t v = 0; v < du.size(); ++v) du[v] = result.share * whole[v];
    std::vector<Vec3d> trial = du;
    if (guard(u, trial).cut == 0) {
      du = trial;
      return result;
    }
  }
  for (Vec3d& d : du) d = {};
  result.share = 0;
  return result;
}

/// Obstacles that come at rods take them along: what stands in their way and is free to move is moved, so far that it keeps the
/// distance at which it is or would rest. The energy decides afterwards where it really goes.
void ContactStep::push_along(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  if (std::none_of(obstacle_goal_.begin(), obstacle_goal_.end(), [](double goal) { return goal > 0; })) return;
  if (!stays(u, du)) renew_list(u, du);
  du_ = du;
  measure_motion(u);
  planes_.resize(pairs_.size());
  std::vector<double> most(du.size(), 0);
  given_.assign(du.size(), {});
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    if (!pair.with_obstacle() || !(obstacle_goal_[pair.obstacle()] > obstacle_share_[pair.obstacle()])) continue;
    find_plane_of_obstacle(p, u);
    const Plane& plane = planes_[p];
    if (!plane.close) continue;
    const double range = contacts_->range(pair.a);
    const bool hollow = contacts_->obstacles()[pair.obstacle()]->kind() == Obstacle::Kind::hollow;
    const auto& v = m_->segment_vertices[pair.a];
    for (std::size_t k = 0; k < 2; ++k) {
      if (c_->vertex_fixed[v[k]]) continue;
      Vec3d push;
      if (hollow) {
        const double here = plane.behind[k], kept = std::min(here, pair.core + 0.5 * range);
        const double lacks = kept - distance_in_hollow(p, k, u, 1, 1);
        if (!(lacks > 0)) continue;
        const Vec3d x = at(u, v[k]);
        push = lacks *
               contacts_->obstacles()[pair.obstacle()]->nearest(pair.feature, x, x, obstacle_share_[pair.obstacle()], 0).normal;
      } else {
        const double kept = std::min(plane.sep, pair.core + 0.5 * range);
        const double lacks = plane.advance - (plane.sep - kept) - (plane.behind[k] + dot(plane.n, du[v[k]]));
        if (!(lacks > 0) || !std::isfinite(lacks)) continue;
        push = lacks * plane.n;
      }
      if (norm(push) > most[v[k]]) most[v[k]] = norm(push), given_[v[k]] = push;
    }
  }
  for (const HeldAxes& held : c_->held_axes) given_[held.vertex] = across(held, given_[held.vertex]);
  for (std::size_t v = 0; v < du.size(); ++v)
    if (most[v] > 0) du[v] += given_[v];
}

/// Puts obstacles where the last guard_all() let them go. The largest share of the way left that one of them has made; 1 if none
/// had any.
double ContactStep::move_obstacles() {
  double nearer = 0;
  bool any = false;
  for (std::size_t o = 0; o < obstacle_share_.size(); ++o) {
    if (!(obstacle_share_[o] < 1)) continue;
    any = true;
    double to = obstacle_share_[o] + obstacle_way_[o] * (obstacle_goal_[o] - obstacle_share_[o]);
    if (obstacle_way_[o] == 1 || !contacts_->obstacles()[o]->is_moving()) to = obstacle_goal_[o];
    nearer = std::max(nearer, (to - obstacle_share_[o]) / (1 - obstacle_share_[o]));
    obstacle_share_[o] = to;
  }
  return any ? nearer : 1;
}

/// Takes the motion that the list has drifted by, and from du what it shares with that.
void ContactStep::go_together(std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  if (!shared_.empty()) {
    std::vector<Vec3d> together = shared_;
    if (guard(u, together).cut == 0) {
      executor_.for_each(u.size(), [&](std::size_t v) {
        u[v] += together[v];
        du[v] -= together[v];
      });
      passed(u);
    } else {
      // The list holds for the whole of that motion, or for none.
      make_list(u, du, false);
    }
  }
  if (lists_made_ == 0 || !shared_.empty()) measure_pairs(u);
}

void ContactStep::predict(std::vector<Vec3d>& u) {
  std::vector<Vec3d> du(u.size());
  executor_.for_each(du.size(), [&](std::size_t v) { du[v] = first_motion(static_cast<Index>(v)); });
  begin_path();
  // A step that is solved again begins where it began, obstacles included.
  for (std::size_t o = 0; o < obstacle_share_.size(); ++o)
    if (contacts_->obstacles()[o]->is_moving()) obstacle_share_[o] = 0;
  // Where a step begins again, a list that was made amid it need not hold.
  if (amid_step_) make_list(u, du, false);
  go_together(u, du);
  obstacle_goal_.assign(obstacle_share_.size(), 1);
  push_along(u, du);
  guard_all(u, du);
  for (std::size_t v = 0; v < u.size(); ++v) u[v] += du[v];
  move_obstacles();
  passed(u);
  hold(u);
}

void ContactStep::hold(std::vector<Vec3d>& u) {
  constexpr double kNowhere = 1e-3;  // share of the way that was left
  arrived_ = true;
  late_vertex_ = -1;
  std::vector<Vec3d> du(u.size());
  bool any = false;
  const auto& x = start_->vertex_position;
  for (Index v = 0; v < m_->vertex_count(); ++v) {
    if (!c_->vertex_fixed[v] || !m_->vertex_alive[v]) continue;
    du[v] = (c_->vertex_target[v] - x[v]) - u[v];
    any = any || norm2(du[v]) > 0;
  }
  for (const HeldAxes& held : c_->held_axes) {
    const Index v = held.vertex;
    if (!m_->vertex_alive[v]) continue;
    du[v] = along(held, held.target - x[v] - u[v]);
    any = any || norm(du[v]) > 1e-14 * (norm(x[v]) + norm(u[v]));
  }
  const bool obstacles = std::any_of(obstacle_share_.begin(), obstacle_share_.end(), [](double share) { return share < 1; });
  if (!any && !obstacles) return;
  const std::vector<Vec3d> whole = du;
  obstacle_goal_.assign(obstacle_share_.size(), 1);
  if (obstacles) push_along(u, du);
  guard_all(u, du);
  double nearer = 0;
  if (obstacles) {
    nearer = move_obstacles();
    for (const double share : obstacle_share_) arrived_ = arrived_ && share == 1;
  }
  for (Index v = 0; v < m_->vertex_count(); ++v) {
    if (norm2(du[v]) == 0 && norm2(whole[v]) == 0) continue;
    const bool there = du[v].x == whole[v].x && du[v].y == whole[v].y && du[v].z == whole[v].z;
    const bool held = norm2(whole[v]) > 0;
    if (there && c_->vertex_fixed[v]) u[v] = c_->vertex_target[v] - x[v];
    else u[v] += du[v];
    if (!held) continue;
    nearer = std::max(nearer, norm(du[v]) / norm(whole[v]));
    if (there) continue;
    arrived_ = false;
    if (late_vertex_ < 0) late_vertex_ = v;
  }
  stuck_ = nearer <= kNowhere;
  passed(u);
}

}  // namespace osier::contact
