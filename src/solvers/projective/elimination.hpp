// The order in which the unknowns of one rod are eliminated from its global systems, L D L^T of matrices that have one number per
// node and one per edge: vertices and segments for positions, frames and joints for turns. Chains and trees are eliminated from
// their leaves, which fills nothing in; a closed loop leaves a core, which is eliminated by least degree and fills in as one
// border column does. (The paper hands its systems to a sparse library.)
#pragma once

#include <array>
#include <span>
#include <vector>

#include "osier/types.hpp"

namespace osier::projective {

/// entry[to] -= entry[a] entry[b]/pivot of the column that has entries a and b.
struct FillUpdate {
  Index to, a, b;
};

/// Nodes count in the order of elimination.
struct Elimination {
  std::vector<Index> order;              ///< the node that comes at each place
  std::vector<Index> column_start, row;  ///< entries of every column below the diagonal
  std::vector<Index> edge_entry;         ///< the entry of each edge
  std::vector<Index> update_start;       ///< per column
  std::vector<FillUpdate> update;
  std::size_t bytes() const;
  Index entries() const { return static_cast<Index>(row.size()); }
};

/// Bare arrays of an Elimination, as kernels see them.
struct EliminationView {
  Index nodes;
  const Index *column_start, *row, *edge_entry, *update_start;
  const FillUpdate* update;
};

/// `edges`: pairs of different nodes, by their numbers before.
Elimination eliminate(Index nodes, std::span<const std::array<Index, 2>> edges);
EliminationView view_of(const Elimination& elimination);

}  // namespace osier::projective
