// A frame of a recorded run in place of the initial pose.
#pragma once

#include <map>
#include <string>

#include "osier/error.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "scene/spec.hpp"

namespace osier {

/// Fills state and alive flags from the run; problems where it is another graph. Returns the frames that clamps held there, by
/// vertex. What the run does not tell becomes a warning.
std::map<Index, Quatd> start_from_run(const StartSpec& start, const std::string& folder, Model& model, State& state,
                                      std::vector<std::string>& warnings, Problems& problems);

}  // namespace osier
