// Words of the curve settings in JSON, on the command line and in the docs; include it wherever their fields() are visited.
#pragma once

#include "core/describe.hpp"
#include "osier/curves.hpp"

namespace osier {

template <>
struct Choices<UpAxis> {
  static constexpr std::array<const char*, 3> names{"x", "y", "z"};
};

}  // namespace osier
