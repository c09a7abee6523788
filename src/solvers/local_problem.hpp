// The local orientation problem of one frame straight from the energies, without the arrangements of a solver: tests and
// experiments compare the sweeps with it.
#pragma once

#include <vector>

#include "math/secular.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

/// The local problem at positions x and frames q, in a step of length h from `start`. Poles and torques are those of the present
/// frame. For isotropic models without rotational inertia only.
OrientationProblem<double> local_problem(const Model& model, const Control& control, const State& start, double h,
                                         const std::vector<Vec3d>& x, const std::vector<Quatd>& q, Index segment);

}  // namespace osier
