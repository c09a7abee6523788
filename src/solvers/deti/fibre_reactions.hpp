// What holds a fibre: the forces and couples of constraints on its sections.
//
// A constraint exerts what springs, loads and contact leave of the inertia of a section that it holds, force = m c'' - f on the
// centroid and couple = sum of a_i x (- f_i) over the vectors of the section: with particles at p = c + s1 a1 + s2 a2 + s1 s2 a3,
// f_i is the sum of their forces with these signs, and the couple is that of the forces about c. The inertia of the scaffold in
// turning, which rods do not have, is left out.
#pragma once

#include <vector>

#include "osier/state.hpp"
#include "solvers/deti/fibre_energy.hpp"
#include "solvers/deti/fibre_plan.hpp"

namespace osier::deti {

struct FibreReactions {
  std::vector<Vec3d> force;   ///< by vertex
  std::vector<Vec3d> couple;  ///< by frame
  void clear(const Model& model);
  /// Of a fibre at the end of a step of length h, or in statics (h = 0).
  void measure(const Model& model, const Control& control, const Chain& chain, const State& state, const Memory& memory,
               double h);
};

}  // namespace osier::deti
