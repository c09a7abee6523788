// A model as strands of equal length for the kernels of device_kernels.hpp, with their constants.
#pragma once

#include <string>
#include <vector>

#include "model/chains.hpp"
#include "osier/error.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/lanes/stiffness_law.hpp"
#include "solvers/systems/device/chain_pieces.hpp"

namespace osier::direct {

/// Strands of one length and one law.
template <class T>
struct StrandGroupPlan {
  Index rows = 0;  ///< segments of each
  StiffnessLaw law = StiffnessLaw::isotropic;
  bool damped = false;
  std::vector<systems::PieceOfChain> strands;  ///< whole chains
  std::vector<T> constants;                    ///< of rows and one more, in tiles (strand_rows.hpp)
};

/// A problem for every kind of part that strands cannot be: the model has to be made of them altogether.
void check_strands(const Model& model, Problems& problems);
/// Whether all chains are short enough for a thread each, and end freely. Others are cut into pieces
/// (systems/device/piece_newton.hpp).
inline constexpr Index kLongestStrand = 64;
bool are_hanging(const Model& model);
/// What is held elsewhere than at the first vertex and the first frame of a strand, in words; empty where nothing is.
std::string held_otherwise(const Model& model, const Control& control);

template <class T>
std::vector<StrandGroupPlan<T>> plan_hanging_strands(const Model& model);

}  // namespace osier::direct
