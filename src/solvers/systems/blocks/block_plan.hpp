// The numbers of a graph's linearised step (block_system.hpp) in tiles for SIMD: as many vertices, or segments, as there are
// lanes, sorted so that those of a tile have about as many neighbours. Numbers that only the element itself reads lie in rows of
// its tile, one component per row; numbers that neighbours read (directions and the forces through segments) are quadruples in
// the order of place_of_lane (exec/lanes.hpp). A lane with fewer neighbours than others of its tile reads a sentinel of zeros.
#pragma once

#include <span>

#include "exec/aligned.hpp"
#include "model/subset.hpp"

namespace osier::systems {

/// Index rows of a vertex: segments that end here, then those that begin here. Of a segment: its two vertices, then a frame and a
/// joint for every joint of which it is the second frame, then for every one of which it is the first. Vertices, segments and
/// frames by where their quadruples begin.
struct BlockTile {
  Index indices;  ///< first row
  Index in, out;  ///< numbers of neighbours of the first and of the second kind
};

/// The places of elements.
struct BlockLayout {
  int lanes = 1;
  std::vector<BlockTile> tiles;  ///< tiles of vertices, then tiles of segments
  std::size_t vertex_tiles = 0;
  std::vector<Index> vertex_place, segment_place;  ///< segment places count from the first segment tile; -1 for dead elements
  std::vector<Index> index;

  std::size_t segment_tiles() const { return tiles.size() - vertex_tiles; }
  std::size_t vertex_places() const { return vertex_tiles * static_cast<std::size_t>(lanes); }
  std::size_t segment_places() const { return segment_tiles() * static_cast<std::size_t>(lanes); }
  /// The offset of the quadruple of a place.
  Index quad(Index place) const;
  std::size_t bytes() const;
};
BlockLayout lay_out_blocks(const Model& model, const Subset& subset, int lanes);

/// The numbers of rows that arrays have for each tile.
inline constexpr int kFrameInverseRows = 2;  ///< z = A r + C arm (arm.r)
inline constexpr int kInertiaRows = 6;
consteval int stiffness_rows(bool isotropic) { return isotropic ? 1 : 6; }
/// The number of numbers of a joint: gradient, and stiffness as a lower triangle.
consteval int joint_numbers(bool isotropic) { return isotropic ? 4 : 9; }

/// Bare arrays, as kernels see them (exec/simd.hpp).
template <class T>
struct BlockView {
  const BlockTile* tile;
  const Index* index;
  int vertex_tiles;
  // Quadruples; the last one is zero.
  T* direction;    ///< vertices, then segments
  T* force;        ///< forces through segments; at the end of an iteration the image of the frames' directions
  const T* joint;  ///< numbers of every joint, and zeros
  // Rows.
  T *solution, *left;  ///< solution and residual of all tiles
  T* image;            ///< image of the vertices' directions
  const T *weight, *vertex_inverse;
  const T *frame_inverse, *arm, *strain, *stiffness;
  const T* inertia;  ///< null without rotational inertia
  bool exact;        ///< the curvature is the exact one
};

}  // namespace osier::systems
