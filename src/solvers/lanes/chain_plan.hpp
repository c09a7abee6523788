// Chains arranged in lanes for SIMD: either one strand per lane, or one long chain cut into as many pieces as there are lanes.
#pragma once

#include <span>
#include <vector>

#include "exec/aligned.hpp"
#include "model/chains.hpp"
#include "solvers/lanes/chain_constants.hpp"

namespace osier::lanes {

inline constexpr int kMostLanes = 16;

/// Row i of a lane is its vertex i, the segment from there to vertex i + 1 and the joint between that segment and the one before.
struct ChainGroup {
  Index rows = 0;    ///< number of rows of the longest lane
  bool cut = false;  ///< a cut chain: it continues from lane k in lane k + 1
  Index first_vertex[kMostLanes] = {}, vertices[kMostLanes] = {};
  Index first_segment[kMostLanes] = {}, segments[kMostLanes] = {};
  Index first_joint[kMostLanes] = {};        ///< the joint of row i is first_joint + i, if there is one
  Index head[kMostLanes], tail[kMostLanes];  ///< anchor frames before the first and after the last segment, or -1
  Index head_joint[kMostLanes], tail_joint[kMostLanes];
  bool jointed[kMostLanes] = {};  ///< the chain has joints, so that it is no cable
  std::size_t constants = 0;      ///< offset of the group's constants
};

template <class T>
struct ChainPlan {
  std::vector<ChainGroup> groups;
  AlignedArray<T> constants;  ///< group by group: [row][constant][lane]
  StiffnessLaw law = StiffnessLaw::isotropic;
  ChainUse use = ChainUse::sweeps;
  bool damped = false;
  int lanes = 1;
  Index most_rows = 0;
  int constants_per_row() const { return lanes::constants_per_row(law, damped, use); }
  const ChainGroup* group_after(std::size_t i) const { return i + 1 < groups.size() ? &groups[i + 1] : nullptr; }
};

/// A chain is cut into pieces when it is long enough to gain from it, and not so long that graph colours, which threads can
/// share, are better.
inline constexpr Index kShortestCut = 256, kLongestCut = 1 << 17;
inline bool fits_lanes(const Chain& c) { return c.vertices <= kLongestCut; }

/// The size of a plan.
struct ChainExtent {
  std::size_t groups = 0, rows = 0;
  Index most_rows = 0;
};
ChainExtent extent_of_chains(std::span<const Chain> chains, int lanes);

template <class T>
ChainPlan<T> plan_chains(const Model& model, std::span<const Chain> chains, int lanes, StiffnessLaw law = StiffnessLaw::isotropic,
                         ChainUse use = ChainUse::sweeps);

}  // namespace osier::lanes
