// Any part of a model arranged in tiles for SIMD: as many elements of one colour as there are lanes, sorted so that those of a
// tile have about as many neighbours. Elements get numbers of their own, tile by tile, and what neighbours ask of them lies in
// that order as quadruples: u of a vertex with the inverse of its Hessian (x, y, z, 1/H), the frame q, a segment's pull and c
// (x, y, z, c), the target of a joint (see JointSide) as its owner sees it: its first frame, or the second where the first is an
// anchor. A tile has room for the neighbours of its largest member; where a lane has fewer, it meets an element that is zero and
// changes nothing.
#pragma once

#include <span>

#include "exec/aligned.hpp"
#include "osier/model.hpp"

namespace osier::stable_cosserat {

/// Rows of W numbers, indices or quadruples; where they begin is counted in rows.
struct GraphTile {
  Index numbers, indices;
  Index joints;           ///< targets of the joints that segments own
  std::uint16_t in, out;  ///< vertices: segments that end and that begin here. Segments: joints of their own, and of others
  std::uint32_t nothing;  ///< bits of lanes without an element
};

/// Rows of a vertex tile: m v_t/h + f. Its index rows: for every segment that ends here, then for every one that begins here, the
/// vertex at the other end and the segment.
inline constexpr int kVertexRows = 3;
/// Rows of a segment tile. Index rows are the two vertices, the other frame of every joint of its own, and the other frame and
/// the target of every joint of another's.
enum SegmentRow : int { kStretchRow, kEdge, kUndampedRows = kEdge + 3, kAxis = kUndampedRows, kDampedRows = kAxis + 3 };

/// Whether the frame that has this entry in its list of joints keeps the joint's target.
OSIER_FN bool owns_joint(Index entry, Index first_frame, Index segments) { return entry % 2 == 0 || first_frame >= segments; }

/// Which element is where.
struct GraphLayout {
  int lanes = 1;
  bool damped = false, gamma = false;  ///< gamma: a row for the paper's Algorithm 1
  AlignedArray<GraphTile> vertex_tiles, segment_tiles;
  std::vector<Index> vertex_colors, segment_colors;  ///< first tile of every colour, and the end
  /// Numbers of the model, by place; where a lane has nothing, that of the tile's first. Frames: segments, then anchors.
  std::vector<Index> vertex_id, frame_id;
  std::size_t vertex_number_rows = 0, vertex_index_rows = 0;
  std::size_t segment_number_rows = 0, segment_index_rows = 0, joint_rows = 0;
  double most_tau = 0;  ///< the longest damping time of a joint [s]
  bool narrow = false;  ///< indices of 16 bits: no array of quadruples is longer than that

  bool empty() const { return vertex_tiles.empty(); }
  int segment_rows() const { return (damped ? kDampedRows : kUndampedRows) + (gamma ? 1 : 0); }
  int gamma_row() const { return damped ? kDampedRows : kUndampedRows; }
  std::size_t size_of_index() const { return narrow ? sizeof(std::uint16_t) : sizeof(Index); }
  std::size_t bytes(std::size_t size_of_number) const;
};

/// `taken`: vertices to be left out, with their segments.
GraphLayout lay_out_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, bool gamma);

/// The arrays, with what never changes filled in. Masses, lengths, damping times and the rest rotations of damped joints, which
/// only the beginning of a step asks for, are read from the model.
template <class T>
struct GraphPlan {
  GraphLayout layout;
  AlignedArray<T> vertex_number, segment_number;
  AlignedArray<std::byte> vertex_index, segment_index;               ///< std::uint16_t or Index
  AlignedArray<T> u, q, pull, joint;                                 ///< quadruples; the last one is zero
  std::vector<T> margin;                                             ///< per segment tile, the largest pole_margin2
  std::vector<std::uint32_t> vertex_held, frame_held, frame_hinged;  ///< bits of lanes, per tile
};

template <class T>
GraphPlan<T> plan_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, bool gamma);

}  // namespace osier::stable_cosserat
