// The local orientation problem of one frame straight from the energies, without any of a solver's arrangements: what tests and
// experiments hold the sweeps' own against.
#pragma once

#include <vector>

#include "math/secular.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

/// At positions x and frames q, in a step of length h from `start`. Poles and torques are those of the frame at hand. Isotropic
/// models without rotational inertia.
OrientationProblem<double> local_problem(const Model& model, const Control& control, const State& start, double h,
                                         const std::vector<Vec3d>& x, const std::vector<Quatd>& q, Index segment);

}  // namespace osier
