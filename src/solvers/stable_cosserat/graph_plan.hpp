// Any part of a model arranged in tiles for SIMD: as many elements of one colour as there are lanes, sorted so that those of a
// tile have about as many neighbours. Elements get numbers of their own, tile by tile, and what neighbours ask of them lies in
// that order as quadruples: u of a vertex (x, y, z, 0), the frame q, a segment's pull and c (x, y, z, c). A tile has room for the
// neighbours of its largest member; where a lane has fewer, it meets an element that is zero and changes nothing.
#pragma once

#include <span>

#include "exec/aligned.hpp"
#include "osier/model.hpp"

namespace osier::stable_cosserat {

/// Rows of W numbers or indices; where they begin is counted in rows.
struct GraphTile {
  Index numbers, indices;
  Index in, out;          ///< vertices: segments that end and that begin here. Segments: joints, 0
  std::uint32_t nothing;  ///< bits of lanes without an element
};

/// Rows of a vertex tile. Its index rows: for every segment that ends here, then for every one that begins here, the vertex at
/// the other end and the segment.
enum VertexRow : int { kRhs = 0, kInverseHessian = 3, kVertexRows };
/// Rows of a segment tile, followed by the joints' target (see JointSide) and bound; index rows are the two vertices and every
/// joint's other frame.
enum SegmentRow : int {
  kInverseLengthRow,
  kStretchRow,
  kEdge,
  kUndampedRows = kEdge + 3,
  kTauRow = kUndampedRows,
  kAxis,
  kDampedRows = kAxis + 3
};
/// Which element is where.
struct GraphLayout {
  int lanes = 1;
  bool damped = false, gamma = false;  ///< gamma: a row for the paper's Algorithm 1
  AlignedArray<GraphTile> vertex_tiles, segment_tiles;
  std::vector<Index> vertex_colors, segment_colors;  ///< first tile of every colour, and the end
  /// Numbers of the model, by place; where a lane has nothing, that of the tile's first. Frames: segments, then anchors.
  std::vector<Index> vertex_id, frame_id;
  std::size_t vertex_number_rows = 0, vertex_index_rows = 0;
  std::size_t segment_number_rows = 0, segment_index_rows = 0;

  bool empty() const { return vertex_tiles.empty(); }
  int segment_rows() const { return (damped ? kDampedRows : kUndampedRows) + (gamma ? 1 : 0); }
  int gamma_row() const { return damped ? kDampedRows : kUndampedRows; }
  int joint_rows() const { return damped ? 5 : 4; }
  std::size_t bytes(std::size_t size_of_number) const;
};

/// `taken`: vertices to be left out, with their segments.
GraphLayout lay_out_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, bool gamma);

/// The arrays, with what never changes filled in. Masses and the rest rotations and damping times of joints, which only the
/// beginning of a step asks for, are read from the model.
template <class T>
struct GraphPlan {
  GraphLayout layout;
  AlignedArray<T> vertex_number, segment_number;
  AlignedArray<Index> vertex_index, segment_index;
  AlignedArray<T> u, q, pull;                                        ///< quadruples; the last one is zero
  std::vector<std::uint32_t> vertex_held, frame_held, frame_hinged;  ///< bits of lanes, per tile
};

template <class T>
GraphPlan<T> plan_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, bool gamma);

}  // namespace osier::stable_cosserat
