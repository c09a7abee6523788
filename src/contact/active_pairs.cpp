// Which pairs of the list matter in a step: rods without one are stepped without contact.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "exec/reduce.hpp"

namespace osier::contact {

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

/// How far from where they were listed vertices are, and are to be when they go on as they do.
ContactStep::Reach ContactStep::reach_of_first_motion() const {
  return reach_of_vertices([&](std::size_t v) {
    const Vec3d from = start_->vertex_position[v] - centre_[v], motion = first_motion(static_cast<Index>(v));
    const double there = norm2(from + motion);
    return Reach{there <= room_[v] * room_[v], std::max(there, norm2(from)), norm2(motion)};
  });
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

/// Whether a pair at x stays out of its range, and a pair that is only guarded apart, while every vertex v moves straight by
/// motion(v). What both have in common does not count.
template <class Motion>
bool ContactStep::stays_apart(const Pair& pair, const std::vector<Vec3d>& x, const Motion& motion) const {
  const auto [a0, a1] = m_->segment_vertices[pair.a];
  const double away = pair.core + (pair.pushes ? 1 : 0.1) * range_of(pair);
  if (pair.with_obstacle()) {
    const Obstacle& obstacle = *contacts_->obstacles()[pair.obstacle()];
    const double travel = std::max(norm(motion(a0)), norm(motion(a1))) + obstacle.reach(pair.feature, 0, 1);
    return distance_at(pair, x, 0) >= away + travel;
  }
  const auto [b0, b1] = m_->segment_vertices[pair.b];
  double travel = 0;
  for (const Index a : {a0, a1})
    for (const Index b : {b0, b1}) travel = std::max(travel, norm2(motion(b) - motion(a)));
  return distance_at(pair, x, 0) >= away + std::sqrt(travel);
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

bool ContactStep::moves_freely(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1,
                               const std::vector<std::uint8_t>& elsewhere) const {
  if (is_quiet_) {
    // The step began where begin() looked, or where the last call of this did: x0 is as near.
    const double most = std::min(quiet_, least_room_), most2 = most * most;
    const Reach reach = reach_of_vertices([&](std::size_t v) {
      const double there = norm2(x1[v] - centre_[v]);
      return Reach{there <= most2, there, 0};
    });
    constexpr double kFaster = 1.5;  // than in this step, of which the farthest vertex tells
    if (reach.inside) {
      const double far = std::sqrt(reach.far2);
      quiet_reach_ = far + kFaster * std::max(0.0, far - quiet_far_);
      quiet_far_ = far;
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

}  // namespace osier::contact
