// Forces, moments, strains and curvatures anywhere on a rod.
//
// Forces and strains live in the middles of segments, moments and curvatures at their ends. In between they are interpolated
// linearly along the rest length, component by component in material axes, so that the read-out of a smooth rod is of second
// order everywhere. docs/output.md has the signs.
#pragma once

#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

/// A rod at one place. Force, moment, strain and curvature in material axes: (d1, d2, d3).
struct Readout {
  Vec3d position;   ///< [m]
  Vec3d tangent;    ///< of the centre line, unit, world axes
  Vec3d force;      ///< shear n1, n2, tension n3 [N]
  Vec3d moment;     ///< bending m1, m2, torque m3 [N m]
  Vec3d strain;     ///< shear g1, g2, stretch g3 [-]
  Vec3d curvature;  ///< bending k1, k2, twist k3 [1/m]
};

/// At `along` of a segment: 0 is its first vertex, 1 its second. A broken segment reads zero.
Readout read_out(const Model& model, const State& state, Index segment, double along);

/// The same for every element at once, as a Frame carries it.
struct SectionArrays {
  std::vector<Vec3d> segment_force, segment_strain, segment_moment, segment_curvature, joint_moment, joint_curvature;
  void measure(const Model& model, const State& state);
};

}  // namespace osier
