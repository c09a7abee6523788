// The numbers of a graph's linearised step (block_system.hpp) in tiles for SIMD: as many vertices, or segments, as there are
// lanes, sorted so that those of a tile have about as many neighbours. What only the element itself asks for lies in rows of its
// tile, a component in each; what neighbours fetch, directions and the forces through segments, as quadruples in the order of
// place_of_lane (exec/lanes.hpp). A lane that has fewer neighbours than others of its tile meets one that is zero.
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
  Index in, out;  ///< neighbours of the first and of the second kind
};

/// Which element is where.
struct BlockLayout {
  int lanes = 1;
  std::vector<BlockTile> tiles;  ///< of vertices, then of segments
  std::size_t vertex_tiles = 0;
  std::vector<Index> vertex_place, segment_place;  ///< the latter counted from the first segment's; -1 for what is dead
  std::vector<Index> index;

  std::size_t segment_tiles() const { return tiles.size() - vertex_tiles; }
  std::size_t vertex_places() const { return vertex_tiles * static_cast<std::size_t>(lanes); }
  std::size_t segment_places() const { return segment_tiles() * static_cast<std::size_t>(lanes); }
  /// Where the quadruple of a place begins.
  Index quad(Index place) const;
  std::size_t bytes() const;
};
BlockLayout lay_out_blocks(const Model& model, const Subset& subset, int lanes);

/// How many rows an array has for each tile.
inline constexpr int kFrameInverseRows = 2;  ///< z = A r + C arm (arm.r)
inline constexpr int kInertiaRows = 6;
consteval int stiffness_rows(bool isotropic) { return isotropic ? 1 : 6; }
/// Numbers of a joint: gradient, stiffness (as a lower triangle).
consteval int joint_numbers(bool isotropic) { return isotropic ? 4 : 9; }

/// Bare arrays, as kernels see them (exec/simd.hpp).
template <class T>
struct BlockView {
  const BlockTile* tile;
  const Index* index;
  int vertex_tiles;
  // Quadruples; the last one is zero.
  T* direction;    ///< vertices, then segments
  T* force;        ///< through segments; in the end of an iteration, the image of their frames' directions
  const T* joint;  ///< numbers of every joint, and zeros
  // Rows.
  T *solution, *left;  ///< of all tiles
  T* image;            ///< of vertices
  const T *weight, *vertex_inverse;
  const T *frame_inverse, *arm, *strain, *stiffness;
  const T* inertia;  ///< null without
  bool exact;        ///< curvature
};

}  // namespace osier::systems
