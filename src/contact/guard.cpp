// The guard of a step.
//
// Two segments A and B with a unit normal n: alpha = max n.a, beta = min n.b over their ends, sep = beta - alpha. During a
// straight motion of the four ends the front of A advances by at most A(t) = max n.(a + t da) - alpha, which is convex in t and 0
// at t = 0, so A(t) <= t A(1); likewise that of B recedes by B(t) >= t B(1). The distance is therefore never less than sep -
// max(0, A(1) - B(1)). No accuracy of nearest points goes into this: n only has to separate. Motions that A and B have in common
// do not count.
//
//   every pair:  A - B <= G,   G = kShare max(0, sep - core)
//
// Where that fails, ends are cut back, those of A to A' and those of B to B' with A' - B' = G, in proportion to how far each went
// towards the other. One pair's cut may spoil another one that relied on moving along, so that the pairs are visited again. A
// pair that fails too often is fixed: A <= G' and B >= -(G - G') each for itself, which no further cut can spoil; so it ends.
//
// A pair without a separating normal is fixed with A = B = 0 across all normals, that is, its ends stay.
//
// The normal at the nearest points separates by the distance itself but for rounding. Prior art: Divide and Truncate (planar
// filter of ipc-toolkit's `ogc`), Offset Geometric Contact (balls instead of planes); see docs/theory/contact.md.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "model/held_axes.hpp"

namespace osier::contact {

namespace {
constexpr double kShare = 0.9;  ///< of the room of a pair that one motion may use
constexpr int kRounds = 8;      ///< after which pairs that fail are fixed
}  // namespace

void ContactStep::find_planes(const std::vector<Vec3d>& u) {
  planes_.resize(pairs_.size());
  measure_motion(u);
  executor_.for_each(pairs_.size(), [&](std::size_t p) {
    const Pair& pair = pairs_[p];
    Plane& plane = planes_[p];
    plane.fixed = false;
    plane.close = false;
    if (pair.with_obstacle()) return;
    const auto travel = [&](Index s) {
      const auto [v0, v1] = m_->segment_vertices[s];
      return std::max(norm(du_[v0]), norm(du_[v1]));
    };
    // Nothing to look at where even a head-on motion leaves room.
    const double room = kShare * (least_distance(p) - pair.core);
    plane.close = !(travel(pair.a) + travel(pair.b) <= room);
    if (!plane.close) return;
    const TwoSegments both = ends(pair, u);
    const auto separate = [&](const Vec3d& n) {
      const double a = std::max(dot(n, both.a[0]), dot(n, both.a[1])), b = std::min(dot(n, both.b[0]), dot(n, both.b[1]));
      if (b - a <= plane.sep) return;
      plane.n = n;
      plane.sep = b - a;
      for (std::size_t k = 0; k < 2; ++k) plane.behind[k] = dot(n, both.a[k]) - a, plane.behind[2 + k] = dot(n, both.b[k]) - b;
    };
    plane.sep = 0;
    const Nearest near = nearest_points(both, 0, 0);
    separate(normalized(near.d));
    if (!(plane.sep > 0.9 * near.distance)) {
      const Vec3d n = normalized(cross(both.edge_a(), both.edge_b()));
      separate(n), separate(-n);
    }
  });
}

void ContactStep::cut(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) {
  (void)u;
  const auto vertices_of = [&](const Pair& pair) {
    const auto [a0, a1] = m_->segment_vertices[pair.a];
    const auto [b0, b1] = m_->segment_vertices[pair.b];
    return std::array<Index, 4>{a0, a1, b0, b1};
  };
  const auto advances = [&](const Plane& plane, const std::array<Index, 4>& v, double& a, double& b) {
    std::array<double, 4> along;
    for (std::size_t k = 0; k < 4; ++k) along[k] = plane.behind[k] + share_[v[k]] * dot(plane.n, du[v[k]]);
    a = std::max(along[0], along[1]);
    b = std::min(along[2], along[3]);
  };
  const auto limit = [&](Index v, double behind, double along, double most) {  // behind + t along <= most
    if (along > 0 && behind + share_[v] * along > most) share_[v] = std::clamp((most - behind) / along, 0.0, share_[v]);
  };
  const auto apply = [&](const Plane& plane, const std::array<Index, 4>& v, double most_a, double least_b) {
    for (std::size_t k = 0; k < 2; ++k) {
      limit(v[k], plane.behind[k], dot(plane.n, du[v[k]]), most_a);
      limit(v[2 + k], -plane.behind[2 + k], -dot(plane.n, du[v[2 + k]]), -least_b);
    }
  };
  std::vector<std::size_t> failed;
  std::vector<std::uint8_t> bad(planes_.size(), 0);
  for (int round = 0;; ++round) {
    executor_.for_each(planes_.size(), [&](std::size_t p) {
      const Plane& plane = planes_[p];
      bad[p] = 0;
      if (!plane.close || plane.fixed) return;
      if (!(plane.sep > 0)) {
        bad[p] = 1;
        return;
      }
      double a, b;
      advances(plane, vertices_of(pairs_[p]), a, b);
      const double room = kShare * std::max(0.0, plane.sep - pairs_[p].core);
      // Rounding of what was cut to the limit is no failure.
      bad[p] = !(a - b <= room + 1e-12 * plane.sep);
    });
    failed.clear();
    for (std::size_t p = 0; p < planes_.size(); ++p)
      if (bad[p]) failed.push_back(p);
    if (failed.empty()) return;
    for (const std::size_t p : failed) {
      Plane& plane = planes_[p];
      const auto v = vertices_of(pairs_[p]);
      if (!(plane.sep > 0)) {
        for (const Index i : v) share_[i] = 0;
        plane.fixed = true;
        continue;
      }
      double a, b;
      advances(plane, v, a, b);
      const double room = kShare * std::max(0.0, plane.sep - pairs_[p].core), excess = a - b - room;
      if (!(excess > 0)) continue;  // an earlier cut of this round has done it
      const double to_a = std::max(0.0, a), to_b = std::max(0.0, -b), both = to_a + to_b;
      if (round < kRounds) {
        apply(plane, v, a - excess * to_a / both, b + excess * to_b / both);
      } else {
        apply(plane, v, room * to_a / both, -room * to_b / both);
        plane.fixed = true;
      }
    }
  }
}

void ContactStep::cut_at_obstacles(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) {
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    if (!pair.with_obstacle()) continue;
    const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
    const double at_share = obstacle_share_[pair.obstacle()];
    const auto& v = m_->segment_vertices[pair.a];
    const double travel = std::max(norm(du[v[0]]), norm(du[v[1]]));
    if (travel <= kShare * (least_distance(p) - pair.core)) continue;
    if (obstacle.kind() == Obstacle::Kind::convex) {
      const ObstaclePoint near = obstacle.nearest(pair.feature, at(u, v[0]), at(u, v[1]), at_share, 0);
      const std::array<double, 2> above{dot(near.normal, at(u, v[0]) - near.point), dot(near.normal, at(u, v[1]) - near.point)};
      const double sep = std::min(above[0], above[1]);
      const double least = sep - kShare * std::max(0.0, sep - pair.core);
      for (std::size_t k = 0; k < 2; ++k) {
        const double along = dot(near.normal, du[v[k]]);
        if (along < 0 && above[k] + share_[v[k]] * along < least)
          share_[v[k]] = std::clamp((least - above[k]) / along, 0.0, share_[v[k]]);
      }
      continue;
    }
    // The room of a hollow obstacle is convex, so that the distance along a line is concave: it is at least the goal up to one
    // place and less beyond it.
    for (const Index i : v) {
      const auto distance = [&](double t) {
        const Vec3d x = at(u, i) + t * du[i];
        return obstacle.nearest(pair.feature, x, x, at_share, 0).distance;
      };
      const double here = distance(0), goal = here - kShare * std::max(0.0, here - pair.core);
      if (!(distance(share_[i]) < goal)) continue;
      double safe = 0, unsafe = share_[i];
      for (int halving = 0; halving < 40; ++halving) {
        const double middle = 0.5 * (safe + unsafe);
        (distance(middle) < goal ? unsafe : safe) = middle;
      }
      share_[i] = safe;
    }
  }
}

ContactStep::Guarded ContactStep::guard(const std::vector<Vec3d>& u, std::vector<Vec3d>& du) {
  for (Vec3d& d : du)
    if (!is_finite(d)) d = {};
  ensure_list(u, du);
  du_ = du;
  find_planes(u);
  share_.assign(du.size(), 1);
  // Obstacles stand still in here: what they cut, no pair can spoil. Pairs come last, because they can spoil each other.
  cut_at_obstacles(u, du);
  cut(u, du);
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

void ContactStep::predict(std::vector<Vec3d>& u) {
  std::vector<Vec3d> du(u.size());
  for (Index v = 0; v < m_->vertex_count(); ++v) du[v] = first_motion(v);
  begin_path();
  guard(u, du);
  for (std::size_t v = 0; v < u.size(); ++v) u[v] += du[v];
  passed(u);
  hold(u);
}

/// Each moving obstacle goes on as far as everything that stands still near it allows.
void ContactStep::move_obstacles(const std::vector<Vec3d>& u) {
  const auto& obstacles = contacts_->obstacles();
  for (std::size_t o = 0; o < obstacles.size(); ++o) {
    if (!(obstacle_share_[o] < 1)) continue;
    if (!obstacles[o]->is_moving()) {
      obstacle_share_[o] = 1;
      continue;
    }
    double to = 1;
    const double from = obstacle_share_[o];
    for (const Pair& pair : pairs_) {
      if (!pair.with_obstacle() || pair.obstacle() != o) continue;
      const auto [a, b] = m_->segment_vertices[pair.a];
      double distance;
      if (obstacles[o]->kind() == Obstacle::Kind::hollow)
        distance = std::min(obstacles[o]->nearest(pair.feature, at(u, a), at(u, a), from, 0).distance,
                            obstacles[o]->nearest(pair.feature, at(u, b), at(u, b), from, 0).distance);
      else distance = obstacles[o]->nearest(pair.feature, at(u, a), at(u, b), from, 0).distance;
      const double room = kShare * std::max(0.0, distance - pair.core);
      for (int halving = 0; halving < 30 && obstacles[o]->reach(pair.feature, from, to) > room; ++halving) to = 0.5 * (from + to);
      if (obstacles[o]->reach(pair.feature, from, to) > room) to = from;
    }
    obstacle_share_[o] = to;
  }
}

void ContactStep::hold(std::vector<Vec3d>& u) {
  constexpr double kNowhere = 1e-3;  // share of the way that was left
  arrived_ = true;
  late_vertex_ = -1;
  double nearer = 0;
  const std::vector<double> before = obstacle_share_;
  move_obstacles(u);
  for (std::size_t o = 0; o < before.size(); ++o)
    if (before[o] < 1) nearer = std::max(nearer, (obstacle_share_[o] - before[o]) / (1 - before[o]));
  stuck_ = nearer <= kNowhere;
  for (const double share : obstacle_share_) arrived_ = arrived_ && share == 1;
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
  if (!any) {
    if (!obstacle_share_.empty()) passed(u);
    return;
  }
  const std::vector<Vec3d> whole = du;
  if (!obstacle_share_.empty()) passed(u);
  guard(u, du);
  for (Index v = 0; v < m_->vertex_count(); ++v) {
    if (norm2(whole[v]) == 0) continue;
    const bool there = du[v].x == whole[v].x && du[v].y == whole[v].y && du[v].z == whole[v].z;
    if (there && c_->vertex_fixed[v]) u[v] = c_->vertex_target[v] - x[v];
    else u[v] += du[v];
    nearer = std::max(nearer, norm(du[v]) / norm(whole[v]));
    if (there) continue;
    arrived_ = false;
    if (late_vertex_ < 0) late_vertex_ = v;
  }
  stuck_ = nearer <= kNowhere;
  passed(u);
}

}  // namespace osier::contact
