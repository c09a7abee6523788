// Contacts from pairs, and the value of their potential.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "contact/contact_terms.hpp"
#include "exec/reduce.hpp"

namespace osier::contact {

TwoSegments ContactStep::ends(const Pair& pair, const std::vector<Vec3d>& u) const {
  const auto& x = start_->vertex_position;
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  const auto from = [&](Index v) { return (x[v] - x[a0]) + (u[v] - u[a0]); };
  if (pair.with_obstacle()) return {{Vec3d{}, from(a1)}, {}};
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  return {{Vec3d{}, from(a1)}, {from(b0), from(b1)}};
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
  else pair.core = full_core(pair);
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

}  // namespace osier::contact
