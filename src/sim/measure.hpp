// Strains, section forces, energies and residuals of a state.
#pragma once

#include "osier/model.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"
#include "solvers/potential.hpp"

namespace osier {

/// |C^ss| of a segment.
double segment_strain(const Model& model, const State& state, Index segment);
/// Shear along d1 and d2 and stretch, (x_b - x_a)/l in material axes minus e3 [-].
Vec3d section_strain(const Model& model, const State& state, Index segment);
/// (GA1, GA2, EA) times that strain: elastic force that the part beyond b exerts on the segment, world axes [N].
Vec3d section_force(const Model& model, const State& state, Index segment);
/// Elastic moment that the second segment's side exerts across the joint, world axes [N m].
Vec3d joint_moment(const Model& model, const State& state, Index joint);
/// Elastic moment that the clamp at a vertex exerts on the rod, world axes [N m].
Vec3d clamp_moment(const Model& model, const State& state, Index vertex);
/// Angle away from the rest rotation [rad].
double joint_angle(const Model& model, const State& state, Index joint);

/// Everything in Diagnostics that follows from the state alone.
Diagnostics measure_state(const Model& model, const State& state);

struct Residual {
  double value, relative;
};
/// Left-over of the step's equations at its end; `potential` was begun at its start.
Residual measure_residual(IncrementalPotential& potential, const State& start, const State& end);

}  // namespace osier
