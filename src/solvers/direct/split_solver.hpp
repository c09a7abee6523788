// The direct method for a whole model: chains in lanes (chain_step.hpp), everything else by the recursion over trees
// (direct_solver.hpp), which also takes the chains that lanes cannot: held in the middle, hinged, or, for one
// step, with an energy that rose.
#pragma once

#include <memory>
#include <vector>

#include "solvers/direct/direct_solver.hpp"
#include "solvers/stable_cosserat/chain_plan.hpp"

namespace osier::direct {

std::unique_ptr<Solver> make_solver(const Model& model, const Options& options);

/// How many segments it steps in lanes.
Index segments_in_lanes(const Model& model, const Control& control);

/// The chains it steps in lanes, as they are held now.
struct LaneChain {
  Chain chain;
  stable_cosserat::ChainLaw law;
};
std::vector<LaneChain> lane_chains(const Model& model, const Control& control);

/// Working memory it will use for steps of h.
std::size_t bytes(const Model& model, const Control& control, double h, const Options& options);

}  // namespace osier::direct
