#include "certificate/motion_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate/obstacle_distance.hpp"
#include "certificate/segment_distance.hpp"

namespace osier::certificate {

namespace {

constexpr double kStride = 0.9;       ///< of what conservative advancement allows
constexpr double kNearEnough = 1e-9;  ///< of the floor: what comes as near has reached it
constexpr int kMostLooks = 100000;    ///< at a motion of a pair, which then counts as one that cannot be told
constexpr double kCrossing = 1e-9;    ///< of the radii: pairs that begin nearer have no side
constexpr double kNear = 1.7;         ///< in sums of radii: what is remembered of the start
constexpr double kRepels = 1.2;       ///< in sums of radii

/// As the obstacle itself says, for reports, at the end of its motion.
double plain_distance(const contact::Obstacle& obstacle, Index feature, const Vec3d& p, const Vec3d& q) {
  if (obstacle.kind() == contact::Obstacle::Kind::convex) return obstacle.nearest(feature, p, q, 1, 0).distance;
  return std::min(obstacle.nearest(feature, p, p, 1, 0).distance, obstacle.nearest(feature, q, q, 1, 0).distance);
}

}  // namespace

bool MotionCheck::is_pair(Index a, Index b) const {
  const auto [a0, a1] = m_->segment_vertices[a];
  const auto [b0, b1] = m_->segment_vertices[b];
  return a0 != b0 && a0 != b1 && a1 != b0 && a1 != b1;
}

double MotionCheck::at_start(Index a, Index b, Index feature) const {
  const Start key{a, b, feature, 0};
  const auto found = std::lower_bound(near_at_start_.begin(), near_at_start_.end(), key);
  const bool known = found != near_at_start_.end() && !(key < *found);
  return known ? found->distance : std::numeric_limits<double>::infinity();
}

double MotionCheck::least(Index a, Index b) const {
  return std::min(kLeast * (contacts_->radius(a) + contacts_->radius(b)), kLeastOfStart * at_start(a, b, -1));
}

double MotionCheck::least(Index a, std::size_t obstacle, Index feature) const {
  return std::min(kLeast * contacts_->radius(a), kLeastOfStart * at_start(a, -1 - static_cast<Index>(obstacle), feature));
}

/// One box for each segment that lives, around all of its places.
void MotionCheck::boxes_of(const Path& path, double reach, const Executor& executor, std::vector<Bounds>& boxes) const {
  boxes.assign(static_cast<std::size_t>(m_->segment_count()), Bounds::nothing());
  executor.for_each(boxes.size(), [&](std::size_t s) {
    if (!m_->segment_alive[s]) return;
    const double margin = reach * contacts_->radius(static_cast<Index>(s));
    for (const auto& x : path.position)
      for (const Index v : m_->segment_vertices[s]) boxes[s].include(x[v], margin);
  });
}

std::optional<Collision> MotionCheck::begin(const Model& m, const contact::Contacts& contacts, const std::vector<Vec3d>& x) {
  m_ = &m;
  contacts_ = &contacts;
  near_at_start_.clear();
  const Path here{{x}, {std::vector<double>(contacts.obstacles().size(), 0)}};
  std::vector<Bounds> boxes;
  boxes_of(here, kNear, Executor(1), boxes);
  std::vector<IndexPair> pairs;
  if (contacts.rods_touch()) overlapping_pairs(boxes, Executor(1), pairs);
  std::optional<Collision> crossing;
  const auto remember = [&](Index a, Index b, Index feature, double distance, double radii) {
    if (!(distance > kCrossing * radii) && !crossing) crossing = Collision{a, b, feature, distance, kCrossing * radii};
    if (distance < kNear * radii) near_at_start_.push_back({a, b, feature, std::max(0.0, distance)});
  };
  for (const auto& [a, b] : pairs) {
    if (!is_pair(a, b)) continue;
    const auto [a0, a1] = m.segment_vertices[a];
    const auto [b0, b1] = m.segment_vertices[b];
    remember(a, b, -1, segment_distance(x[a0], x[a1], x[b0], x[b1]), contacts.radius(a) + contacts.radius(b));
  }
  std::vector<Index> features;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const auto [v0, v1] = m.segment_vertices[s];
    for (std::size_t o = 0; o < contacts.obstacles().size(); ++o) {
      if (contacts.is_attached(s, o)) continue;
      features.clear();
      contacts.obstacles()[o]->features_near({boxes[s].low, boxes[s].high}, features);
      for (const Index f : features)
        remember(s, -1 - static_cast<Index>(o), f,
                 obstacle_distance(*contacts.obstacles()[o], f, 0, x[v0], x[v1], -contacts.radius(s), 0.95), contacts.radius(s));
    }
  }
  std::sort(near_at_start_.begin(), near_at_start_.end());
  return crossing;
}

std::optional<Collision> MotionCheck::check_pair(const Path& path, Index a, Index b) const {
  const std::array<Index, 4> v{m_->segment_vertices[a][0], m_->segment_vertices[a][1], m_->segment_vertices[b][0],
                               m_->segment_vertices[b][1]};
  const double floor = least(a, b), enough = (1 + kNearEnough) * floor;
  double known = -1;  // no less than this at the start of the motion at hand
  for (std::size_t motion = 0; motion + 1 < path.position.size(); ++motion) {
    std::array<Vec3d, 4> from, d;
    Vec3d common;
    for (std::size_t k = 0; k < 4; ++k) {
      from[k] = path.position[motion][v[k]];
      d[k] = path.position[motion + 1][v[k]] - from[k];
      common += 0.25 * d[k];
    }
    const double speed = std::max(norm(d[0] - common), norm(d[1] - common)) + std::max(norm(d[2] - common), norm(d[3] - common));
    if (known - speed > floor) {
      known -= speed;
      continue;
    }
    int looks = 0;
    for (double t = 0;;) {
      const auto at = [&](std::size_t k) { return from[k] + t * d[k]; };
      const Vec3d offset = segment_offset(at(0), at(1), at(2), at(3));
      const double distance = norm(offset);
      // Strides become ever smaller towards the floor, and would end nowhere.
      if (!(distance > enough) || ++looks > kMostLooks) return Collision{a, b, -1, distance, floor, motion, t};
      // What lies between two planes stays there until one of its ends crosses one: segments that slide along each other come
      // far.
      const Vec3d n = (1 / distance) * offset;
      const double wanted = floor + (1 - kStride) * (distance - floor);
      double slid = 1, at_end = std::numeric_limits<double>::infinity();
      for (const std::size_t i : {0, 1})
        for (const std::size_t j : {2, 3}) {
          const double apart = dot(n, at(j) - at(i)), slope = dot(n, d[j] - d[i]);
          if (apart < wanted) slid = t;
          else if (slope < 0) slid = std::min(slid, t + (apart - wanted) / -slope);
          at_end = std::min(at_end, apart + (1 - t) * slope);
        }
      const double next = t + kStride * (distance - floor) / speed;
      known = std::max(distance - (1 - t) * speed, at_end);
      if (!(next < 1) || !(slid < 1)) break;
      t = std::max(next, slid);
    }
  }
  const auto& x = path.position.back();
  const double distance = segment_distance(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
  if (!(distance > enough)) return Collision{a, b, -1, distance, floor, path.position.size() - 2, 1};
  return {};
}

std::optional<Collision> MotionCheck::check_feature(const Path& path, Index a, std::size_t o, Index feature) const {
  const contact::Obstacle& obstacle = *contacts_->obstacles()[o];
  const auto [v0, v1] = m_->segment_vertices[a];
  const double floor = least(a, o, feature);
  const auto collision = [&](double distance, std::size_t motion, double t) {
    return Collision{a, -1 - static_cast<Index>(o), feature, distance, floor, motion, t};
  };
  for (std::size_t motion = 0; motion + 1 < path.position.size(); ++motion) {
    const Vec3d &p = path.position[motion][v0], &q = path.position[motion][v1];
    const Vec3d dp = path.position[motion + 1][v0] - p, dq = path.position[motion + 1][v1] - q;
    const double from = path.obstacle_share[motion][o], to = path.obstacle_share[motion + 1][o];
    const double speed = std::max(norm(dp), norm(dq));
    const auto share = [&](double t) { return from + t * (to - from); };
    for (double t = 0;;) {
      const double distance = obstacle_distance(obstacle, feature, share(t), p + t * dp, q + t * dq, floor);
      if (!(distance > floor)) return collision(distance, motion, t);
      const double room = kStride * (distance - floor);
      double stride = 1 - t;
      while (speed * stride + obstacle.reach(feature, share(t), share(t + stride)) > room) {
        stride *= 0.5;
        if (!(stride > 1e-12)) return collision(distance, motion, t);
      }
      if (stride == 1 - t) break;
      t += stride;
    }
  }
  const std::size_t last = path.position.size() - 1;
  const double distance =
      obstacle_distance(obstacle, feature, path.obstacle_share[last][o], path.position[last][v0], path.position[last][v1], floor);
  if (!(distance > floor)) return collision(distance, last - 1, 1);
  return {};
}

std::optional<Collision> MotionCheck::check_obstacles(const Path& path, Index a, const Bounds& box) const {
  std::vector<Index> features;
  for (std::size_t o = 0; o < contacts_->obstacles().size(); ++o) {
    if (contacts_->is_attached(a, o)) continue;
    features.clear();
    contacts_->obstacles()[o]->features_near({box.low, box.high}, features);
    for (const Index f : features)
      if (const auto found = check_feature(path, a, o, f)) return found;
  }
  return {};
}

std::optional<Collision> MotionCheck::check(const Path& path, const Executor& executor, bool every_pair) const {
  if (path.position.size() < 2) return {};
  std::vector<Bounds> boxes;
  boxes_of(path, kLeast, executor, boxes);
  std::vector<IndexPair> pairs;
  if (contacts_->rods_touch()) {
    if (every_pair) {
      for (Index a = 0; a < m_->segment_count(); ++a)
        for (Index b = a + 1; b < m_->segment_count(); ++b)
          if (m_->segment_alive[a] && m_->segment_alive[b]) pairs.emplace_back(a, b);
    } else {
      overlapping_pairs(boxes, executor, pairs);
    }
  }
  std::vector<std::optional<Collision>> found(pairs.size());
  executor.for_each(
      pairs.size(),
      [&](std::size_t p) {
        const auto [a, b] = pairs[p];
        if (is_pair(a, b)) found[p] = check_pair(path, a, b);
      },
      4);
  for (const auto& f : found)
    if (f) return f;
  if (contacts_->obstacles().empty()) return {};
  found.assign(boxes.size(), {});
  executor.for_each(
      boxes.size(),
      [&](std::size_t s) {
        if (m_->segment_alive[s]) found[s] = check_obstacles(path, static_cast<Index>(s), boxes[s]);
      },
      16);
  for (const auto& f : found)
    if (f) return f;
  return {};
}

double MotionCheck::smallest_distance(const Path& path, const Collision& c) const {
  constexpr int kPlaces = 256;
  double least = c.distance;
  for (std::size_t motion = 0; motion + 1 < path.position.size(); ++motion)
    for (int i = 0; i <= kPlaces; ++i) {
      const double t = static_cast<double>(i) / kPlaces;
      const auto at = [&](Index v) { return (1 - t) * path.position[motion][v] + t * path.position[motion + 1][v]; };
      const auto [a0, a1] = m_->segment_vertices[c.a];
      if (!c.with_obstacle()) {
        const auto [b0, b1] = m_->segment_vertices[c.b];
        least = std::min(least, segment_distance(at(a0), at(a1), at(b0), at(b1)));
        continue;
      }
      const std::size_t o = c.obstacle();
      const double share = (1 - t) * path.obstacle_share[motion][o] + t * path.obstacle_share[motion + 1][o];
      for (const Index v : {a0, a1})
        least = std::min(least, contacts_->obstacles()[o]->nearest(c.feature, at(v), at(v), share, 0).distance);
    }
  return least;
}

NearestPair MotionCheck::nearest(const std::vector<Vec3d>& x, const Executor& executor) const {
  NearestPair best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](Index a, Index b, double distance, double radii) {
    if (distance < kRepels * radii) ++best.contacts;
    if (!(distance / radii < least)) return;
    least = distance / radii;
    best.a = a, best.b = b, best.distance = distance, best.gap = distance - radii, best.over_radii = least;
  };
  const std::size_t obstacles = contacts_->obstacles().size();
  const Path here{{x}, {std::vector<double>(obstacles, 1)}};
  std::vector<Bounds> boxes;
  boxes_of(here, 2, executor, boxes);
  std::vector<IndexPair> pairs;
  if (contacts_->rods_touch()) overlapping_pairs(boxes, executor, pairs);
  constexpr double kNoPair = -1;
  std::vector<double> distance(pairs.size(), kNoPair);
  executor.for_each(pairs.size(), [&](std::size_t p) {
    const auto [a, b] = pairs[p];
    if (contacts_->neighbour(a, b)) return;
    const auto [a0, a1] = m_->segment_vertices[a];
    const auto [b0, b1] = m_->segment_vertices[b];
    distance[p] = segment_distance(x[a0], x[a1], x[b0], x[b1]);
  });
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto [a, b] = pairs[p];
    if (distance[p] != kNoPair) consider(a, b, distance[p], contacts_->radius(a) + contacts_->radius(b));
  }
  std::vector<Index> features;
  for (Index s = 0; obstacles > 0 && s < m_->segment_count(); ++s) {
    if (!m_->segment_alive[s]) continue;
    const auto [v0, v1] = m_->segment_vertices[s];
    for (std::size_t o = 0; o < obstacles; ++o) {
      if (contacts_->is_attached(s, o)) continue;
      features.clear();
      const contact::Obstacle& obstacle = *contacts_->obstacles()[o];
      obstacle.features_near({boxes[s].low, boxes[s].high}, features);
      double nearest = std::numeric_limits<double>::infinity();
      for (const Index f : features) nearest = std::min(nearest, plain_distance(obstacle, f, x[v0], x[v1]));
      if (std::isfinite(nearest)) consider(s, -1 - static_cast<Index>(o), nearest, contacts_->radius(s));
    }
  }
  return best;
}

}  // namespace osier::certificate
