// Strains, section forces, energies and residuals of a state.
#pragma once

#include "osier/model.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"

namespace osier {

/// |C^ss| of a segment.
double segment_strain(const Model& model, const State& state, Index segment);
/// Shear along d1 and d2 and stretch, (x_b - x_a)/l in material axes minus e3 [-].
Vec3d section_strain(const Model& model, const State& state, Index segment);
/// (GA1, GA2, EA) times that strain: elastic force that the part beyond b exerts on the segment, world axes [N].
Vec3d section_force(const Model& model, const State& state, Index segment);
/// The same in material axes: shear n1, n2 along d1, d2 and tension n3 [N].
Vec3d section_force_material(const Model& model, const State& state, Index segment);
/// Elastic moment that the second segment's side exerts across the joint, world axes [N m].
Vec3d joint_moment(const Model& model, const State& state, Index joint);
/// Where a joint's components are taken: halfway between its two segments. The half-joint of a clamp has those of the clamp,
/// which stands at the vertex itself, turned around the corner if there is one.
Quatd joint_axes(const Model& model, const State& state, Index joint);
/// Bending m1, m2 about d1, d2 and torque m3 in those axes [N m], exerted by the second segment's side, or, for a half-joint,
/// in the direction of its segment: by what lies beyond on what lies before. EI times the change of curvature.
Vec3d joint_moment_material(const Model& model, const State& state, Index joint);
/// kappa = (2/l) Im(conj(qa) qb) of the shorter way round, rest curvature included: bending k1, k2 and twist k3 [1/m], with the
/// axes and the sign of the moment.
Vec3d joint_curvature(const Model& model, const State& state, Index joint);
/// Elastic moment that the clamp at a vertex exerts on the rod, world axes [N m].
Vec3d clamp_moment(const Model& model, const State& state, Index vertex);
/// Whether the joint is a corner at rest, and so material axes do not carry on across it. Twice kCornerAngle between two
/// segments: even a hexagon may be a sampled ring. A half-joint turns half as far.
bool is_corner(const Model& model, Index joint);
/// Angle away from the rest rotation [rad].
/// How far a joint is bent and twisted away from rest [rad].
struct BendAndTwist {
  double bend, twist;
};
BendAndTwist joint_bend_and_twist(const Model& m, const State& state, Index j);
double joint_angle(const Model& model, const State& state, Index joint);

/// The largest angle between the directions of a segment in two states [rad].
double largest_bend(const Model& model, const State& a, const State& b);

/// Everything in Diagnostics that follows from the state alone.
Diagnostics measure_state(const Model& model, const State& state);

}  // namespace osier
