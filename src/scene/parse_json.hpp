// Text -> JSON, with comments, and with everything said that the JSON library keeps to itself.
#pragma once

#include <string>

#include "core/json.hpp"
#include "osier/error.hpp"

namespace osier {

/// Throws InputError for text that is not JSON (with line and column), is nested too deeply, or has a key twice in one object.
Json parse_json(const std::string& text, const std::string& source);

/// Puts a value at a JSON pointer; adds a problem when the pointer leads nowhere. `text` is "/pointer=value".
void apply_override(Json& json, const std::string& text, Problems& problems);

}  // namespace osier
