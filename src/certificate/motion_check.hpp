// Whether anything comes too near to anything else on the way of a step, which is straight from point to point.
//
// By conservative advancement: two segments whose distance is D cannot come to the distance c before the time
//
//   (D - c)/(max |v_a - v| + max |v_b - v|)
//
// has passed, where v_a and v_b are the velocities of their ends and v is the mean of all four, the motion that they have in
// common. From there one looks again. Segments that slide along each other come further: what a plane separates stays separated
// until an end crosses it. The pairs are those whose boxes overlap, made of all places where a segment is on its way
// and as thick as c.
//
// Nothing of this is shared with what keeps rods apart (contact/guard.cpp): neither the list of pairs, nor the distance, nor a
// line of code. For an obstacle, the distance of a point is asked from the obstacle; that of a segment is bounded from below by
// distances of points, which change by no more than the way between them.
//
// What pairs are promised is kLeast times the sum of their radii, or, where they begin nearer than that, kLeastOfStart times
// their distance at the start.
#pragma once

#include <optional>
#include <vector>

#include "certificate/box_pairs.hpp"
#include "contact/contacts.hpp"
#include "exec/parallel.hpp"

namespace osier::certificate {

constexpr double kLeast = 0.79, kLeastOfStart = 0.49;

/// Positions of all vertices and shares of the motion of obstacles, at points between which both go straight.
struct Path {
  std::vector<std::vector<Vec3d>> position;
  std::vector<std::vector<double>> obstacle_share;
};

/// A pair that came too near: segments a < b, or a segment and the obstacle -1 - b with one of its features.
struct Collision {
  Index a = -1, b = -1, feature = -1;
  double distance = 0;     ///< as found [m]
  double least = 0;        ///< that it was promised [m]
  std::size_t motion = 0;  ///< of the path
  double time = 0;         ///< within that motion, 0 to 1
  bool with_obstacle() const { return b < 0; }
  std::size_t obstacle() const { return static_cast<std::size_t>(-1 - b); }
};

/// The pair of segments, or segment and obstacle, that is nearest in units of its radii, of those that are not neighbours.
struct NearestPair {
  Index a = -1, b = -1;
  double distance = -1;   ///< of the centrelines, or of one and the surface; negative without a pair [m]
  double gap = 0;         ///< between the surfaces at rest: negative where they are pressed together [m]
  double over_radii = 0;  ///< distance over the sum of radii
  int contacts = 0;       ///< pairs that repel each other
};

class MotionCheck {
 public:
  MotionCheck() = default;
  /// From here on. Returns a pair that cannot be told which side it is on.
  std::optional<Collision> begin(const Model& model, const contact::Contacts& contacts, const std::vector<Vec3d>& x);

  /// The model has been replaced by one with the same vertices and segments, of which fewer may live.
  void rebind(const Model& model) { m_ = &model; }

  /// The first pair, in order of pairs, that comes too near. Compares every pair if told so, instead of sorting.
  std::optional<Collision> check(const Path& path, const Executor& executor, bool every_pair = false) const;
  /// The smallest distance that the pair of a collision has on the way, of many places that are looked at.
  double smallest_distance(const Path& path, const Collision& collision) const;
  /// At the end of a path.
  NearestPair nearest(const std::vector<Vec3d>& x, const Executor& executor) const;
  double least(Index a, Index b) const;
  double least(Index a, std::size_t obstacle, Index feature) const;

 private:
  struct Start {
    Index a, b, feature;
    double distance;
    bool operator<(const Start& o) const { return a != o.a ? a < o.a : b != o.b ? b < o.b : feature < o.feature; }
  };
  double at_start(Index a, Index b, Index feature) const;
  bool is_pair(Index a, Index b) const;
  void boxes_of(const Path& path, double reach, const Executor& executor, std::vector<Bounds>& boxes) const;
  std::optional<Collision> check_pair(const Path& path, Index a, Index b) const;
  std::optional<Collision> check_obstacles(const Path& path, Index a, const Bounds& box) const;
  std::optional<Collision> check_feature(const Path& path, Index a, std::size_t obstacle, Index feature) const;

  const Model* m_ = nullptr;
  const contact::Contacts* contacts_ = nullptr;
  std::vector<Start> near_at_start_;  ///< ascending
};

}  // namespace osier::certificate
