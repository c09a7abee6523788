// Scenes that can be run, and are hardly what their author meant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/rod_graph.hpp"
#include "scene/setup.hpp"

namespace osier {

/// One warning for each kind of oddity, at the first place that has it, with the number of the others. `origin`: the JSON pointer
/// that a segment comes from.
std::vector<std::string> oddities(const Setup& setup, const RodGraph& graph,
                                  const std::function<const std::string&(Index segment)>& origin);

/// Of a modulus that no solid has; empty for others.
std::string oddity_of_modulus(const std::string& where, double young);

}  // namespace osier
