// The guard of one pair: the plane between two segments, and how far their ends may go (guard.cpp has the proof).
#pragma once

#include <array>

#include "contact/segment_gap.hpp"

namespace osier::contact {

constexpr double kGuardShare = 0.9;  ///< of the room of a pair that one motion may use
constexpr int kGuardRounds = 8;      ///< after which pairs that fail are fixed

/// A unit normal across which two sides are `sep` apart.
struct Plane {
  Vec3d n;
  double sep = 0;
  std::array<double, 4> behind{};  ///< distance of each end from the front of its segment, along n
  double advance = 0;              ///< of an obstacle along n, over all of its way in this motion [m]
  bool close = false, fixed = false;

  OSIER_FN double room(double core) const { return kGuardShare * larger(0.0, sep - core); }
};

/// The point of a segment that is nearest to p.
OSIER_FN Vec3d nearest_of(const std::array<Vec3d, 2>& segment, const Vec3d& p) {
  const Vec3d edge = segment[1] - segment[0];
  const double along = dot(p - segment[0], edge), length2 = norm2(edge);
  if (!(along > 0)) return segment[0];
  return along >= length2 ? segment[1] : segment[0] + (along / length2) * edge;
}

/// The plane between two segments. Where they cross, sep is 0.
OSIER_CALL inline void divide(const TwoSegments& both, Plane& plane) {
  constexpr double kSharp = 1 - 1e-9;  // of the distance of nearest points that a normal has to separate
  const auto separate = [&](const Vec3d& n) {
    const double a = larger(dot(n, both.a[0]), dot(n, both.a[1])), b = smaller(dot(n, both.b[0]), dot(n, both.b[1]));
    if (b - a <= plane.sep) return;
    plane.n = n;
    plane.sep = b - a;
    for (std::size_t k = 0; k < 2; ++k) plane.behind[k] = dot(n, both.a[k]) - a, plane.behind[2 + k] = dot(n, both.b[k]) - b;
  };
  plane.sep = 0;
  const Nearest near = nearest_points(both, 0, 0);
  separate(normalized(near.d));
  if (plane.sep > kSharp * near.distance) return;
  // Rounding has spoilt the nearest points of segments that are almost parallel, and across a normal that is a little off a
  // pair could come a little nearer than its core, step by step. One of these normals is right.
  const Vec3d n = normalized(cross(both.edge_a(), both.edge_b()));
  separate(n), separate(-n);
  for (std::size_t k = 0; k < 2; ++k) {
    separate(normalized(both.b[k] - nearest_of(both.a, both.b[k])));
    separate(normalized(nearest_of(both.b, both.a[k]) - both.a[k]));
  }
}

/// Two segments come no nearer to each other than by this, when their ends move by these: head-on.
OSIER_FN double head_on(const std::array<Vec3d, 4>& d) {
  return std::sqrt(larger(norm2(d[0]), norm2(d[1]))) + std::sqrt(larger(norm2(d[2]), norm2(d[3])));
}
/// How far a point of one goes, seen from one of the other.
OSIER_FN double seen_motion(const std::array<Vec3d, 4>& d) {
  double seen2 = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 2; j < 4; ++j) seen2 = larger(seen2, norm2(d[j] - d[i]));
  return std::sqrt(seen2);
}
/// The least of both.
OSIER_FN double seen_approach(const std::array<Vec3d, 4>& d) { return smaller(head_on(d), seen_motion(d)); }

/// How far the fronts of two segments go, when their ends go shares of their motions d.
struct Approach {
  double advance, back;
};
OSIER_FN Approach approach_of(const Plane& plane, const std::array<double, 4>& share, const std::array<Vec3d, 4>& d) {
  std::array<double, 4> along{};
  for (std::size_t k = 0; k < 4; ++k) along[k] = plane.behind[k] + share[k] * dot(plane.n, d[k]);
  return {larger(along[0], along[1]), smaller(along[2], along[3])};
}
/// That of a segment from an obstacle, which goes a share `way` of its own.
OSIER_FN Approach approach_of_obstacle(const Plane& plane, double way, const std::array<double, 4>& share,
                                       const std::array<Vec3d, 4>& d) {
  std::array<double, 2> along{};
  for (std::size_t k = 0; k < 2; ++k) along[k] = plane.behind[k] + share[k] * dot(plane.n, d[k]);
  return {way * plane.advance, smaller(along[0], along[1])};
}

/// Whether a pair takes more than its share of the room between its two sides.
OSIER_FN bool takes_too_much(const Plane& plane, double core, const Approach& by) {
  constexpr double kRounding = 1e-12;  // of what was cut to the limit
  return !(by.advance - by.back <= plane.room(core) + kRounding * std::abs(plane.sep));
}

/// How far each side of a pair that takes too much may go: in proportion to how far each goes towards the other. `fix`: each for
/// itself, so that no cut of another pair can spoil it.
struct Limits {
  bool any = false;  ///< the pair takes too much
  double most_a = 0, least_b = 0;
};
OSIER_FN Limits limits_of(const Plane& plane, double core, const Approach& by, bool fix) {
  const double room = plane.room(core), excess = by.advance - by.back - room;
  if (!(excess > 0)) return {};
  const double to_a = larger(0.0, by.advance), to_b = larger(0.0, -by.back), both = to_a + to_b;
  if (fix) return {true, room * to_a / both, -room * to_b / both};
  return {true, by.advance - excess * to_a / both, by.back + excess * to_b / both};
}

/// The share of its motion that leaves an end no further than `most` along a normal: behind + t along <= most.
OSIER_FN double limited_share(double share, double behind, double along, double most) {
  if (!(along > 0 && behind + share * along > most)) return share;
  return smaller(larger((most - behind) / along, 0.0), share);
}

}  // namespace osier::contact
