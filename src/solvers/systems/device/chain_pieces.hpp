// Chains of any length cut into pieces for kernels, a thread for each piece: where pieces begin and end, the constants of their
// rows, and the order in which pieces are joined (device_chains.hpp).
//
// No node inside a piece is held: chains are cut at every vertex that is held inside them and after every frame that is, and
// between those into pieces of about equal length.
#pragma once

#include <string>
#include <vector>

#include "model/chains.hpp"
#include "osier/state.hpp"
#include "solvers/lanes/stiffness_law.hpp"
#include "solvers/systems/device/strand_start.hpp"

namespace osier::systems {

struct PieceOfChain {
  HangingStrand strand;
  Index segments;
  Index chain = 0;                         ///< among those of its law
  Index tail_frame = -1, tail_joint = -1;  ///< an anchor beyond the last segment, and the joint to it
  bool tail_flipped = false;               ///< the anchor is the first frame of that joint
};

/// Two neighbouring nodes of the tree become one. Node 0 is a piece without stiffness, for chains whose last node is held; nodes
/// 1 and on are the pieces; then follow the joins.
struct PieceJoin {
  Index left, right;
  bool held[2];  ///< whether the place where they meet is held: position, rotation
};

struct PieceRoot {
  Index node, piece;  ///< of a whole chain: its node, and its first piece
};

/// Chains of one law.
struct PiecePlan {
  StiffnessLaw law = StiffnessLaw::isotropic;
  bool damped = false;
  Index rows = 0;  ///< of the longest piece
  std::vector<PieceOfChain> pieces;
  std::vector<double> constants;  ///< of rows and one more, in tiles (strand_rows.hpp)
  std::vector<PieceJoin> joins;   ///< level by level
  std::vector<Index> levels;      ///< where each level of joins begins, and the end of the last one
  std::vector<PieceRoot> roots;
};

/// Segments [first, end) of a chain.
PieceOfChain piece_of(const Model& model, const Chain& chain, Index first, Index end);

inline constexpr Index kPieceRows = 32;

/// What of a model pieces cannot take, in words; empty where all of it is chains. Torques count as held frames do: they may
/// change.
std::string why_no_pieces(const Model& model, const Control& control);
std::vector<PiecePlan> plan_pieces(const Model& model, const Control& control, Index most_rows = kPieceRows);

}  // namespace osier::systems
