// What a time step costs by sweeps and by direct solves: how many it takes of each, and what one of them takes.
//
// Sweeps relax one vertex or frame at a time, so the slowest mode decides, and its rate is what holds an element for good over
// all that holds it. With S = (1 + tau/h) k^ss and B = (1 + tau/h) k^bt/4,
//
//   vertex   kappa_x = (m/h^2 + sum S/l^2)/(m/h^2)                 neighbours that move along hold nothing; inertia does
//   frame    kappa_q = (J/h^2 + S + sum B)/(J/h^2 + S)             neighbours that turn along hold nothing; the edge does
//
// kappa_x = 1 + 2R along a chain. The slinky, R = 0.7, is slow because of kappa_q = 1400. An error falls by some exp(-2/kappa)
// per Gauss-Seidel sweep, so that sweeps are counted in multiples of kappa. Stiff parts are slower than soft ones and move less:
// their root mean square is closer to what is measured than the largest or the mean.
#pragma once

#include "solvers/direct/split_solver.hpp"
#include "solvers/solver.hpp"

namespace osier::stable_cosserat {

class Settings;

struct SweepRatios {
  double vertex = 1, frame = 1;  ///< root mean squares of kappa_x and kappa_q
  double give = 0;               ///< the most that a vertex moves for one unit of strain in its segments [m]
};
SweepRatios sweep_ratios(const Model& model, const Control& control, double h);

/// Sweeps until the error is below `tolerance` (sweep_error.hpp).
double predicted_sweeps(const SweepRatios& ratios, double tolerance);

/// Number type of sweeps to a tolerance: float where its rounding, some units in the last place of every strain, is small against
/// what the loads move in a step; otherwise double, whatever the settings say.
Precision sweep_precision(const Settings& settings, const Model& model, const Control& control, double h,
                          const SweepRatios& ratios);

/// `rest`: what direct solves would not do in lanes.
MethodCosts method_costs(const Settings& settings, const Model& model, const Control& control, double h,
                         const direct::RestPlan& rest);

}  // namespace osier::stable_cosserat
