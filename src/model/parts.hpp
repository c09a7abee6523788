// The parts of a model that hang together.
#pragma once

#include <span>
#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct Parts {
  std::vector<Index> of;  ///< per segment, dead ones too
  Index count = 0;
};

/// Living segments with a common vertex, a common joint or a spring between them belong to one part.
Parts find_parts(const Model& model, std::span<const Spring> springs);

/// Per segment: whether it belongs to a part that has springs or vertices held along single directions.
std::vector<std::uint8_t> segments_with_vertex_terms(const Model& model, const Control& control);

}  // namespace osier
