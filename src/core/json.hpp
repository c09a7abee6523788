// The names of JSON values, without what they can do: for headers that only hand them on. <nlohmann/json.hpp> has the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace osier {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// A JSON value for a message, not too long and never throwing.
std::string shorten(const Json& j);

}  // namespace osier
