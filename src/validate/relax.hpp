// Statics for solvers that only know time steps: the same loads at full strength from the start, a drag, and time.
#pragma once

#include <string>

#include "core/fields.hpp"

namespace osier::validate {

/// One schedule for every static case, so that nobody can tune it case by case.
struct Schedule {
  double step = 1e-3;    ///< [s]
  double duration = 20;  ///< [s]
  double drag_rate = 1;  ///< mass-proportional [1/s]
};

bool is_static(const Json& scene);
/// Looks for a critical load, which no relaxation finds.
bool stops_at_instability(const Json& scene);

/// The static scene as a dynamic one; a dynamic scene is returned as it is.
Json as_dynamics(Json scene, const Schedule& schedule);

/// The paper's way: Stable Cosserat Rods with four sweeps per step.
Json with_four_sweeps(Json scene);

/// The scene with another solver and its default settings; as dynamics where that solver cannot do statics. Throws RunError
/// where that makes no sense.
Json with_solver(Json scene, const std::string& solver);

std::string four_sweeps_protocol();
std::string solver_protocol(const std::string& solver);

}  // namespace osier::validate
