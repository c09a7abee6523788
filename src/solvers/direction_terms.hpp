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
  double scale;  ///< k |y - R a| at the start of the step: what keeping up the old speed takes, a scale for residuals [N m]
};

/// In order of frames. Nothing for statics (h = 0).
void direction_terms(const Model& model, const Control& control, const State& start, double h, std::vector<DirectionTerm>& out);

/// Where inertia alone takes a free or hinged frame: a step's first guess, as x + h v is of positions. From the old frames a few
/// sweeps could not get a stiff shaft to turn on, and it would stop. Frames without inertia stay.
Quatd guessed_frame(const Model& model, const Control& control, const State& start, double h, Index frame);

/// Angular velocities at the end of a step, from the turn since its start, of frames with rotational inertia or a motor.
/// `segments`: only of these; null: of all.
void update_frame_velocity(const Model& model, const Control& control, const std::vector<Quatd>& start, double h, State& state,
                           const IndexList* segments = nullptr);

}  // namespace osier
