// The compiled problem: a graph of vertices, segments and joints as plain arrays. Nobody writes to it after compilation.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

/// For each element, the list of elements that touch it (compressed rows).
struct Incidence {
  std::vector<Index> start;  ///< size n + 1
  std::vector<Index> entry;
  std::span<const Index> of(Index i) const { return {entry.data() + start[i], entry.data() + start[i + 1]}; }
};

/// Elements sorted by colour; two elements of one colour never touch, so a colour can be updated in parallel.
struct Coloring {
  std::vector<Index> start;    ///< size colours + 1
  std::vector<Index> element;  ///< by colour, ascending inside a colour
  Index count() const { return static_cast<Index>(start.size()) - 1; }
  std::span<const Index> of(Index color) const { return {element.data() + start[color], element.data() + start[color + 1]}; }
};

/// A named piece of the graph, so that a scene can say "beam:end".
struct RodInfo {
  std::string name;
  std::vector<Index> vertices;  ///< in order along the rod
  std::vector<Index> segments;
  std::vector<Index> joints;
  bool closed = false;
};

/// Frames are numbered: segments first, then anchors. An anchor is a frame without vertices that a clamp moves; it lets a
/// clamp be an ordinary joint.
struct Model {
  std::vector<double> vertex_mass;    ///< [kg]
  std::vector<double> vertex_radius;  ///< [m]
  std::vector<std::uint8_t> vertex_alive;

  std::vector<std::array<Index, 2>> segment_vertices;
  std::vector<double> segment_rest_length;   ///< l [m]
  std::vector<PerAxis> segment_stiffness;    ///< k^ss = (GA1, GA2, EA) l [N m]
  std::vector<PerAxis> segment_tau;          ///< Kelvin-Voigt times [s]
  std::vector<PerAxis> segment_inertia;      ///< about d1, d2, d3 [kg m^2]; 0: the frame follows at once, as in the paper
  std::vector<double> segment_strain_limit;  ///< breaks at |C^ss| >= this [-]
  std::vector<std::uint8_t> segment_alive;

  Index anchor_count = 0;
  std::vector<Index> anchor_vertex;  ///< the vertex each anchor clamps

  std::vector<std::array<Index, 2>> joint_frames;
  std::vector<Quatd> joint_rest_rotation;    ///< q0 = conj(qa) qb at rest
  std::vector<PerAxis> joint_stiffness;      ///< k^bt = 4 (EI1, EI2, GJ) / length [N m]
  std::vector<double> joint_length;          ///< material length the joint stands for [m]
  std::vector<PerAxis> joint_tau;            ///< Kelvin-Voigt times [s]
  std::vector<double> joint_bend_limit;      ///< breaks when it bends by this angle away from rest [rad]
  std::vector<double> joint_twist_limit;     ///< or twists by this one [rad]
  std::vector<std::uint8_t> joint_is_clamp;  ///< half-joint between an anchor and a segment
  std::vector<std::uint8_t> joint_alive;

  Incidence vertex_segments;  ///< entry = 2 * segment + (0: vertex is its first, 1: its second); living ones only
  Incidence frame_joints;     ///< entry = 2 * joint + (0: frame is its first, 1: its second); living ones only
  Coloring vertex_colors;
  Coloring segment_colors;

  std::vector<RodInfo> rods;

  Index vertex_count() const { return static_cast<Index>(vertex_mass.size()); }
  Index segment_count() const { return static_cast<Index>(segment_vertices.size()); }
  Index frame_count() const { return segment_count() + anchor_count; }
  /// All joints, the half-joints of clamps included.
  Index joint_count() const { return static_cast<Index>(joint_frames.size()); }
  bool is_anchor(Index frame) const { return frame >= segment_count(); }

  /// Largest R = (k^ss/l^2)/(m/h^2) over the segments: how stiff the stretch looks to one time step. Sweeps converge
  /// quickly only for R of order one.
  double stiffness_ratio(double h) const;
  bool has_damping() const;
  bool has_inertia() const;  ///< of frames
  /// One stiffness for stretch and shear and one for bending and twisting everywhere: the paper's energy.
  bool is_isotropic() const;
};

/// Rebuilds everything that follows from the alive flags (incidence, colours). Called by compilation, fracture and
/// clamps that let go.
void update_topology(Model& model);

}  // namespace osier
