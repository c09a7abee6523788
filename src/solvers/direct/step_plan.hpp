// How the linear systems of a step are solved where not in lanes: along a tree, with loops as columns, or by conjugate gradients
// on blocks, whichever takes less time.
#pragma once

#include "model/subset.hpp"
#include "solvers/driver_options.hpp"
#include "solvers/systems/tree/tree.hpp"

namespace osier::direct {

using systems::Loops;
using systems::Options;
using systems::Tree;

struct StepPlan {
  Loops loops = Loops::columns;
  Tree tree;              ///< tree with columns for loops
  double iterations = 0;  ///< expected number of iterations of conjugate gradients
  double ns = 0;          ///< expected time of a Gauss-Newton iteration per segment
};

StepPlan plan_step(const Model& model, const Control& control, const Subset& subset, double h, const Options& options = {});
/// The plan of the whole model.
StepPlan plan_step(const Model& model, const Control& control, double h, const Options& options = {});

}  // namespace osier::direct
