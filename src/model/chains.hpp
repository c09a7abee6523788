// Rods that stand alone in the graph: vertices, segments and joints in a row, numbered one after the other, touching nothing
// else. Solvers have faster ways for them than for graphs.
#pragma once

#include <vector>

#include "osier/model.hpp"

namespace osier {

struct Chain {
  Index vertices;       ///< segments are one fewer
  Index first_vertex;   ///< vertex i is first_vertex + i
  Index first_segment;  ///< segment i leads from vertex i to vertex i + 1
  Index first_joint;    ///< joint i leads from segment i to segment i + 1; -1: none has a joint (a cable)
  Index head_joint;     ///< half-joint to an anchor at the first vertex, or -1
  Index tail_joint;     ///< at the last vertex
  Index segments() const { return vertices - 1; }
};

/// In the order of their first vertices.
std::vector<Chain> find_chains(const Model& model);

}  // namespace osier
