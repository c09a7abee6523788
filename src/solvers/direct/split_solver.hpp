// The direct method for a whole model: chains (chain_newton.hpp) and trees (forest_step.hpp) in lanes, everything else by the
// recursion over trees one node at a time (direct_solver.hpp), which also takes what lanes cannot: loops, rods held in the middle
// or hinged, and, for one step, those whose energy rose.
#pragma once

#include <memory>
#include <vector>

#include "model/chains.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "solvers/direct/step_plan.hpp"
#include "solvers/lanes/stiffness_law.hpp"

namespace osier::direct {

std::unique_ptr<Solver> make_solver(const Model& model, const Options& options);

/// How many segments it steps in lanes.
Index segments_in_lanes(const Model& model, const Control& control, const Options& options = {});

/// What is left for a tree, or for blocks.
struct RestPlan {
  Index segments = 0;
  StepPlan plan;
};
RestPlan plan_rest(const Model& model, const Control& control, double h, const Options& options);

/// Working memory it will use for steps of h.
std::size_t bytes(const Model& model, const Control& control, double h, const Options& options);

}  // namespace osier::direct
