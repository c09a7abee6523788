// Tables of points, for callers that want to speak of lines.
#pragma once

#include <vector>

#include "io/curves/registry.hpp"

namespace osier {

/// The same as read_csv; `line_of_point` receives where each point stands.
CurveSet read_csv_lines(const CurveSource& source, const CurveReadOptions& options, std::vector<std::size_t>& line_of_point);

}  // namespace osier
