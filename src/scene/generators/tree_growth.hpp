// Space colonisation: a skeleton grows towards points of a crown until it has reached them all.
#pragma once

#include <optional>
#include <vector>

#include "osier/types.hpp"
#include "scene/generators/sampling.hpp"

namespace osier {

/// The numbers of the authors' published scenes of Stable Cosserat Rods.
struct GrowthRules {
  int crown_samples = 7500;
  int attractors = 1500;
  Vec3d crown_center{0, 5.5, 0};                                             ///< above the root [m]
  double crown_width = 4, crown_height_above = 1.5, crown_height_below = 4;  ///< half axes [m]
  int trunk_segments = 15;
  double step = 0.2;   ///< length of a segment [m]
  double reach = 0.6;  ///< an attractor farther than this from the tree waits [m]
  double kill = 0.18;  ///< an attractor nearer than this is reached [m]
  double lift = 0.7;   ///< pull upwards, relative to the pull of the attractor
};

/// Vertex 0 is the root at the origin; parent[v] < v.
struct TreeSkeleton {
  std::vector<Vec3d> position;
  std::vector<Index> parent;  ///< -1 at the root
};

/// What growing may still cost: segments that are too short never end.
struct GrowthBudget {
  double vertices = 2e6;
  double distances = 1e10;  ///< between vertices and attractors
};

/// Nothing when the budget does not suffice.
std::optional<TreeSkeleton> grow_tree(const GrowthRules& rules, Random& random, GrowthBudget& budget);

}  // namespace osier
