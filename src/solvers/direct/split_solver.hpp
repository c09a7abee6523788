// The direct method for a whole model: chains (chain_newton.hpp) and trees (forest_step.hpp) in lanes, everything else by the
// driver on a tree or on blocks (direct_solver.hpp), which takes what lanes cannot do: loops, rods that are held in the middle or
// hinged, and, for one step, lanes whose energy rose.
#pragma once

#include <memory>
#include <vector>

#include "model/chains.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "solvers/direct/step_plan.hpp"
#include "solvers/lanes/stiffness_law.hpp"

namespace osier::direct {

std::unique_ptr<Solver> make_solver(const Model& model, const Options& options);

/// The number of segments that are stepped in lanes.
Index segments_in_lanes(const Model& model, const Control& control, const Options& options = {});

/// The segments that are left for a tree or for blocks.
struct RestPlan {
  Index segments = 0;
  StepPlan plan;
};
RestPlan plan_rest(const Model& model, const Control& control, double h, const Options& options);

/// The working memory for steps of length h.
std::size_t bytes(const Model& model, const Control& control, double h, const Options& options);

}  // namespace osier::direct
