// Statics for solvers that only know time steps: the same loads at full strength from the start, a drag, and time.
#pragma once

#include <string>

#include "core/fields.hpp"

namespace osier::validate {

/// One schedule for every static case, so that nobody can tune it case by case.
struct Schedule {
  double step = 1e-3;    ///< [s]
  double duration = 2;   ///< [s]
  double drag_rate = 5;  ///< mass-proportional [1/s]
};

bool is_static(const Json& scene);

/// The static scene as a dynamic one; a dynamic scene is returned as it is.
Json as_dynamics(Json scene, const Schedule& schedule);

/// The paper's way: Stable Cosserat Rods with four sweeps per step.
Json with_four_sweeps(Json scene);

std::string four_sweeps_protocol();

}  // namespace osier::validate
