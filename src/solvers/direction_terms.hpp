// Terms 1/2 k |y - R a|^2 that pull a material direction a of a frame towards a world vector y. Two things of one time step are
// of this kind:
//
//   Rotational inertia. A section's mass acts like point masses on its axes at distance 1, j_a = (tr J)/2 - J_a for axis a.
//   With k = j_a/h^2 and y = the axis after a free turn, the sum over the axes is 1/2 delta.(J delta)/h^2 for a turn delta away
//   from the free one: implicit Euler. The free turn follows angular momentum, so a steady spin loses nothing.
//
//   A motor's torque-speed line. On a hinged frame the torque -c (omega_new - omega_old) is minus the gradient of
//   c/(2 h) angle^2, the angle away from a turn at the old speed; two directions across the axis with k = c/(2 h), y after that
//   turn, make k (2 - 2 cos(angle)).
//
// The formulas are those of energies/stretch_shear.hpp with p = y and d = R a.
#pragma once

#include <vector>

#include "math/quat.hpp"
#include "model/subset.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct DirectionTerm {
  Index frame;
  double k;      ///< [N m]
  Vec3d y;       ///< world
  Vec3d a;       ///< material
  double scale;  ///< k |y - R a| at the start of the step: the moment that keeps the old speed, a scale for residuals [N m]
};

/// The terms of a step in order of frames; none in statics (h = 0).
void direction_terms(const Model& model, const Control& control, const State& start, double h, std::vector<DirectionTerm>& out);

/// The couple on a frame [N m] of those terms of its inertia, at rotation `end` after a step of length h from q and omega.
Vec3d inertial_couple(const PerAxis& inertia, const Quatd& q, const Vec3d& omega, double h, const Quatd& end);

/// First guess of a free or hinged frame: its rotation after a step of inertia alone, as x + h v is for positions. (A few sweeps
/// from the old frames would stop a stiff shaft that turns.) Frames without inertia stay.
Quatd guessed_frame(const Model& model, const Control& control, const State& start, double h, Index frame);

/// Angular velocities at the end of a step, from the turn since its start, of frames with rotational inertia or a motor.
/// `segments`: those to update; null: all.
void update_frame_velocity(const Model& model, const Control& control, const std::vector<Quatd>& start, double h, State& state,
                           const IndexList* segments = nullptr);

}  // namespace osier
