// Any part of a model arranged in tiles for SIMD: sixteen elements of one colour, whatever the lanes, sorted so that those of a
// tile have about as many neighbours. The numbers that neighbours read lie in arrays of quadruples: u of a vertex with the
// inverse of its Hessian (x, y, z, 1/H), the frame q, a segment's force and c (x, y, z, c), the target of a joint (see
// joint_share) as its owner sees it: its first frame, or the second where the first is an anchor. A tile has places for the
// neighbours of its largest member; an element with fewer neighbours reads a sentinel of zeros, which changes nothing.
//
// Tiles are sorted by colour, and so are their rows. Quadruples are sorted by region first (graph_regions.hpp), every region
// beginning with a sentinel of zeros; an index counts from the beginning of the region before, and so takes 16 bits in models of
// any length, but for very wide ones (see `narrow`). A model that is small enough is one region.
//
// Where stiffness differs between axes, segments and joints have more to keep (graph_sweep.hpp), in several arrays of
// quadruples that are alike: planes.
#pragma once

#include <span>

#include "exec/aligned.hpp"
#include "osier/model.hpp"
#include "solvers/lanes/stiffness_law.hpp"
#include "solvers/stable_cosserat/graph_regions.hpp"

namespace osier::stable_cosserat {

inline constexpr int kTile = 16;  ///< number of elements of a tile, which is the length of rows
inline constexpr int kZeros = 4;  ///< zero quadruples at the start of a region; tiles after them begin a cache line
inline constexpr int kUnit = 8;   ///< unit of an index in bytes: the largest factor that an address may have at no cost

constexpr Index units_of_quad(std::size_t size_of_number) { return static_cast<Index>(4 * size_of_number / kUnit); }

struct GraphTile {
  Index place;            ///< the first of its quadruples: u of vertices; q and force of segments
  Index indices;          ///< the first of its rows of indices
  Index joints;           ///< the first quadruple of the joints that segments own, kTile for each
  Index in, out;          ///< vertices: segments that end and that begin here. Segments: joints of their own, and of others
  std::uint16_t nothing;  ///< mask of places without an element
  std::uint16_t region;
};

/// The quadruples from which a region's indices count.
struct GraphWindow {
  Index vertices = 0, frames = 0, joints = 0;
};

/// Rows of a vertex tile: m v_t/h + f. Its index rows: for every segment that ends here, then for every one that begins here, the
/// vertex at the other end and the segment.
inline constexpr int kVertexRows = 3;
/// Rows of a segment tile. Index rows are the two vertices, the other frame of every joint of its own, and the other frame and
/// the target of every joint of another's.
enum SegmentRow : int { kStretchRow, kEdge, kUndampedRows = kEdge + 3, kAxis = kUndampedRows, kDampedRows = kAxis + 3 };
/// Rows where stiffness differs between axes: the rest vector, or its length if no segment is damped.
enum AxesRow : int { kAxesEdge, kAxesRest = kAxesEdge + 3, kUndampedAxesRows = kAxesRest + 1, kDampedAxesRows = kAxesRest + 3 };

/// The places of elements.
struct GraphLayout {
  int lanes = 1;
  std::size_t size_of_number = sizeof(float);
  StiffnessLaw law = StiffnessLaw::isotropic;
  bool damped = false, gamma = false;  ///< gamma: a row for the paper's Algorithm 1
  AlignedArray<GraphTile> vertex_tiles, segment_tiles;
  std::vector<GraphWindow> windows;                  ///< by region
  std::vector<Index> vertex_colors, segment_colors;  ///< first tile of every colour, and the end
  /// The model's numbers by place; an empty place has the number of the tile's first element, or of any.
  std::vector<Index> vertex_id, frame_id;
  std::vector<Index> anchors;  ///< places of frames that belong to no segment
  std::size_t joint_places = 0, vertex_index_rows = 0, segment_index_rows = 0;
  double most_tau = 0;  ///< the longest damping time of a joint [s]
  bool narrow = false;  ///< indices of 16 bits: always, unless a layer of regions_of is too wide or a joint reaches far

  bool empty() const { return vertex_tiles.empty(); }
  bool axes() const { return law == StiffnessLaw::anisotropic; }
  int segment_rows() const {
    if (axes()) return damped ? kDampedAxesRows : kUndampedAxesRows;
    return (damped ? kDampedRows : kUndampedRows) + (gamma ? 1 : 0);
  }
  std::size_t force_planes() const { return axes() ? 3 : 1; }
  std::size_t joint_planes() const { return axes() ? 2 : 1; }
  bool has_joint_margins() const { return axes() && damped; }
  int gamma_row() const { return damped ? kDampedRows : kUndampedRows; }
  std::size_t size_of_index() const { return narrow ? sizeof(std::uint16_t) : sizeof(Index); }
  Index units_of_quad() const { return stable_cosserat::units_of_quad(size_of_number); }
  /// The place of element i's quadruples, counted from the tile's first.
  int place_in_tile(int i) const;
  std::size_t bytes() const;
};

/// `taken`: vertices to be left out, with their segments; nothing joins them to the others.
GraphLayout lay_out_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, std::size_t size_of_number,
                          bool gamma);

/// The arrays, with the constants filled in. Masses, lengths, damping times and rest rotations of damped joints are read from the
/// model, since only the beginning of a step needs them.
template <class T>
struct GraphPlan {
  GraphLayout layout;
  AlignedArray<T> vertex_number, segment_number;
  AlignedArray<std::byte> vertex_index, segment_index;  ///< std::uint16_t or Index, in units of kUnit bytes
  AlignedArray<T> u, q, force, joint;                   ///< quadruples; of force and joint, plane by plane
  std::vector<T> margin;                                ///< per segment tile, where poles may differ (kelvin_voigt.hpp)
  std::vector<T> joint_margin;                          ///< with axes, the same per joint
  std::vector<std::uint16_t> vertex_held, frame_held, frame_hinged;  ///< bits of elements, per tile
};

template <class T>
GraphPlan<T> plan_graph(const Model& model, std::span<const std::uint8_t> taken, int lanes, bool gamma);

}  // namespace osier::stable_cosserat
