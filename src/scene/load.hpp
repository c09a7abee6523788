// A scene from what its text says.
#pragma once

#include "core/json.hpp"
#include "osier/scene.hpp"

namespace osier {

/// What Scene::parse does after it has read the text.
Scene compile_json(Json json, const std::string& name, const std::filesystem::path& folder, const LoadOptions& options,
                   const std::filesystem::path& source = {});

}  // namespace osier
