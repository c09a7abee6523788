// A spring with a damper between a vertex and a point in space: how a mouse takes hold of a rod.
//
//   f(end of step) = k (target - x_new) - c v_new,   x_new = x + h v_new
//                  = k (target - x) - (c + h k) v_new
//
// Taken at the new state, so that any stiffness is stable; as a control knows loads that are linear in the new velocity, no
// solver needs to hear of it.
#pragma once

#include <cmath>

#include "math/vec3.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct Pull {
  Index vertex = -1;                  ///< negative: nothing is pulled
  Vec3d target;                       ///< [m]
  double stiffness = 0, damping = 0;  ///< k [N/m], c [kg/s]

  void apply(const State& state, double h, Control& control) const {
    if (vertex < 0) return;
    const auto v = static_cast<std::size_t>(vertex);
    control.vertex_force[v] += stiffness * (target - state.vertex_position[v]);
    control.vertex_damping[v] += damping + h * stiffness;
  }
};

/// A stiffness that moves the rod around a vertex as a hand would: it accelerates the rod's whole mass to the target within a
/// tenth of a second, and bends it (as a cantilever of its length would bend) rather than being bent by it.
double pull_stiffness(const Model& model, Index vertex);

}  // namespace osier
