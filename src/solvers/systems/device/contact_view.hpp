// Contact as kernels see it: bare arrays in memory of the backend. The formulas are those of contact/.
#pragma once

#include "contact/contact_terms.hpp"
#include "contact/contacts.hpp"
#include "contact/dividing_plane.hpp"
#include "contact/load_following.hpp"
#include "contact/pair.hpp"
#include "contact/record.hpp"
#include "contact/segment_gap.hpp"
#include "contact/thickness.hpp"
#include "exec/cooperation.hpp"
#include "math/sym3.hpp"
#include "obstacles/plain_shape.hpp"

namespace osier::systems {

using contact::Pair;

struct DeviceObstacle {
  PlainShape shape;
  double friction = -1;  ///< with everything; negative: by materials
  Index material = 0;
};

/// What does not change from step to step.
struct ContactTables {
  Index vertices = 0, segments = 0;
  const std::array<Index, 2>* segment_vertices = nullptr;
  const Index *vertex_segment_start = nullptr, *vertex_segment = nullptr;  ///< Model::vertex_segments
  const std::uint8_t *vertex_alive = nullptr, *segment_alive = nullptr;
  const double *mass = nullptr, *vertex_radius = nullptr, *rest_length = nullptr;

  bool rods_touch = true, has_friction = false;
  double slip = 0;                       ///< as a multiple of the radius
  const double* radius = nullptr;        ///< per segment [m]
  const double* vertex_reach = nullptr;  ///< half of the distance at which the segments of a vertex begin to repel others [m]
  const Index* neighbour_start = nullptr;
  const contact::Neighbour* neighbour = nullptr;
  const contact::SegmentStrength* strength = nullptr;
  const Index* material = nullptr;  ///< per segment
  const double* friction = nullptr;
  Index materials = 1;
  const DeviceObstacle* obstacle = nullptr;
  Index obstacles = 0;
  const std::uint8_t* attached = nullptr;  ///< [obstacle][segment]; null: nothing is

  OSIER_FN std::array<Index, 4> vertices_of(const Pair& pair) const {
    const auto& a = segment_vertices[pair.a];
    if (pair.with_obstacle()) return {a[0], a[1], -1, -1};
    const auto& b = segment_vertices[pair.b];
    return {a[0], a[1], b[0], b[1]};
  }
  template <class T>
  OSIER_FN static std::array<T, 4> of_ends(const std::array<Index, 4>& v, const T* list) {
    if (v[2] < 0) return {list[v[0]], list[v[1]], T{}, T{}};
    return {list[v[0]], list[v[1]], list[v[2]], list[v[3]]};
  }
  /// Relative to the first end, so that small differences keep their digits.
  OSIER_FN static contact::TwoSegments segments_at(const std::array<Index, 4>& v, const Vec3d* x, const Vec3d* u) {
    const Vec3d x0 = x[v[0]], u0 = u[v[0]];
    const auto from = [&](Index i) { return (x[i] - x0) + (u[i] - u0); };
    return {{Vec3d{}, from(v[1])}, {from(v[2]), from(v[3])}};
  }
  OSIER_FN static contact::TwoSegments segments_at(const std::array<Index, 4>& v, const Vec3d* x) {
    const Vec3d x0 = x[v[0]];
    return {{Vec3d{}, x[v[1]] - x0}, {x[v[2]] - x0, x[v[3]] - x0}};
  }
  /// Radii of both sides; 0 for an obstacle, as if it were a mirror.
  OSIER_FN double other_radius(const Pair& pair) const { return pair.with_obstacle() ? 0 : radius[pair.b]; }
  OSIER_FN double full_core(const Pair& pair) const { return contact::core_of(radius[pair.a], other_radius(pair)); }
  OSIER_FN double range_of(const Pair& pair) const {
    return contact::range_of(contact::full_range_of(radius[pair.a], other_radius(pair)), pair.core, full_core(pair), pair.pushes);
  }
  OSIER_FN bool is_thin(const Pair& pair) const { return pair.pushes && pair.core < full_core(pair); }
  OSIER_FN const PlainShape& shape_of(const Pair& pair) const { return obstacle[pair.obstacle()].shape; }
  OSIER_FN double friction_of(const Pair& pair) const {
    const Index a = material[pair.a];
    if (!pair.with_obstacle()) return friction[a * materials + material[pair.b]];
    const DeviceObstacle& o = obstacle[pair.obstacle()];
    return o.friction >= 0 ? o.friction : friction[a * materials + o.material];
  }
  OSIER_FN double slip_of(const Pair& pair) const {
    return slip * (pair.with_obstacle() ? radius[pair.a] : 0.5 * (radius[pair.a] + radius[pair.b]));
  }
  OSIER_FN double plain_distance(const Pair& pair, const Vec3d* x) const {
    const std::array<Index, 4> v = vertices_of(pair);
    if (pair.with_obstacle()) return shape_of(pair).nearest(x[v[0]], x[v[1]], 0).distance;
    return contact::nearest_points(segments_at(v, x), 0, 0).distance;
  }
  OSIER_FN const contact::Neighbour* neighbour_of(Index a, Index b) const {
    for (Index i = neighbour_start[a]; i < neighbour_start[a + 1]; ++i)
      if (neighbour[i].segment == b) return neighbour + i;
    return nullptr;
  }
};

/// Pairs in ascending order; those of segment a begin at start[a].
struct PairList {
  const Pair* pair = nullptr;
  const Index* start = nullptr;

  /// Its place in the list, or -1.
  OSIER_FN Index find(Index a, Index b, Index feature) const {
    Index low = start[a], high = start[a + 1];
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const Pair& p = pair[middle];
      if (p.b < b || (p.b == b && p.feature < feature)) low = middle + 1;
      else high = middle;
    }
    return low < start[a + 1] && pair[low].b == b && pair[low].feature == feature ? low : -1;
  }
};

/// What is remembered of a contact from the step before.
struct ContactMemory {
  double force = 0;  ///< 0: nothing, but that the pair is thin
  Vec3d anchor, normal;
};

/// What sweeps need of a near pair, linearised: gradient w_j g and blocks bound |w_j| B.
struct ContactTerm {
  double bound = 0;  ///< sum of |w_j|; 0: the pair does not touch
  std::array<double, 4> weight{};
  Vec3d gradient;
  Sym3<double> block{};
};

/// A contact, or a pair that is near without touching.
struct NearContact {
  bool touches = false;
  std::array<double, 4> weight{};
  Vec3d n;
  double s = 0;
  contact::Barrier at;
  // Friction; along and across are 0 where there is none.
  Vec3d unit, z;
  contact::Friction friction;
  double slip = 0;
};

}  // namespace osier::systems
