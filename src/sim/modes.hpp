// Vibration and buckling modes about a state, by Spectra.
//
//   vibration   K phi = w^2 M phi       K Hessian of the elastic energy minus loads, M masses and, where it is asked for, the
//                                       rotational inertia of segments
//   buckling    K phi = -f G phi        G change of K per unit of the load factor f
#pragma once

#include <vector>

#include "osier/simulation.hpp"

namespace osier {

struct Mode {
  double value;              ///< w^2 [1/s^2], or the load factor
  std::vector<Vec3d> shift;  ///< of vertices, the largest 1
};

/// The lowest modes about the state of a simulation, in ascending order; fewer where the rods have no more.
std::vector<Mode> vibration_modes(const Simulation& simulation, int count);

/// The lowest positive load factors, times the loads of `full`. `loaded` is in equilibrium under `share` of them, `unloaded` the
/// same rods without.
std::vector<Mode> buckling_modes(const Simulation& unloaded, const Simulation& loaded, double share, int count);

}  // namespace osier
