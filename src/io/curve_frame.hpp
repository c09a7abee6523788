// A moment as curves: what a modeller, a renderer or a curve file sees of a run.
#pragma once

#include <utility>
#include <vector>

#include "osier/curves.hpp"
#include "osier/frame.hpp"
#include "osier/model.hpp"

namespace osier {

struct CurveFrame {
  int index = 0;
  double time = 0;  ///< [s]
  CurveSet curves;
  std::vector<Vec3d> normals;               ///< the material axis d1 at each point, a unit vector; or empty when nobody knows
  std::vector<Vec3d> velocities;            ///< at each point [m/s], or empty
  std::vector<Vec3d> obstacle_points = {};  ///< of all obstacles, one after the other, or empty
  std::vector<ContactPoint> contacts = {};
};

/// Two frames have the same curves with the same numbers of points.
bool same_topology(const CurveSet& a, const CurveSet& b);

/// Points that are one are counted once: for formats where curves share what they meet in.
struct SharedPoints {
  std::vector<std::size_t> number;  ///< of each point
  std::vector<std::size_t> point;   ///< the first that has this number
};
SharedPoints shared_points(const CurveSet& curves);

/// Directions across curves that come without: carried along each curve without twist; what is left over around a closed one is
/// spread evenly.
std::vector<Vec3d> untwisted_normals(const CurveSet& curves);

/// Unit tangents at the points; where neighbours coincide, that of the nearest place that has one.
std::vector<Vec3d> tangents(const CurveSet& curves);

/// Rods as curves: `names` are theirs, `ids` their numbers, `welds` the vertices that they share. A tree gives a curve for each
/// of its branches, all with its name; groups of a structure give none. Segments that belong to no rod come last.
class RodCurves {
 public:
  explicit RodCurves(const Model& model);

  /// A rod with broken segments falls into pieces with the same name and id.
  CurveFrame split(const Frame& frame) const;

  /// The same curves in every frame, for formats that cannot change them: a segment that may break (it has a strain limit) is a
  /// curve of its own from the start, welded to nothing, and shrinks to a point of no width when it does.
  CurveFrame constant(const Frame& frame) const;

  /// Of each rod, its id and its segments.
  std::vector<std::pair<std::int64_t, std::vector<Index>>> segments() const;

 private:
  struct Chain {
    std::string name;
    std::int64_t id;
    std::vector<Index> vertices, segments;  ///< segment i joins vertices i and i + 1, round the end when closed
    bool closed;
  };
  /// Vertices first to first + count (inclusive) of a chain; indices wrap in closed ones.
  void add_piece(CurveFrame& out, const Frame& frame, const Chain& chain, std::size_t first, std::size_t count, bool closed,
                 bool collapsed) const;
  /// The first point at each vertex.
  using Seen = std::vector<std::size_t>;
  void weld_last(CurveFrame& out, const Chain& chain, std::size_t first, Seen& seen) const;
  template <class Cut>
  void add_pieces(CurveFrame& out, const Frame& frame, const Chain& chain, Cut is_cut, bool keep_cut, Seen& seen) const;

  CurveFrame curves_of(const Frame& frame, bool constant) const;

  std::vector<Chain> chains_;
  std::vector<double> vertex_radius_;
  std::vector<std::uint8_t> may_break_;
};

}  // namespace osier
