// Curves out of lines between numbered points, for formats that know points and lines but no curves.
//
// Two lines of a group that share an end become one curve when no other line of that group uses the point; a chain that comes
// back to its start is closed. Where more than two lines of a group meet, curves end there. Curves that use the same point, of
// one group or of several, share it (a weld).
#pragma once

#include <string>
#include <vector>

#include "osier/curves.hpp"

namespace osier {

struct LineSoup {
  std::vector<Vec3d> points;
  std::vector<double> widths;  ///< per point, or empty

  struct Line {
    std::size_t first, last;  ///< range in `corners`
    std::size_t group = 0;
    std::int64_t id = 0;
    bool closed = false;  ///< said by the file: such a line is a curve of its own
  };
  std::vector<std::size_t> corners;  ///< of all lines, one after the other: numbers of points
  std::vector<Line> lines;
  std::vector<std::string> group_names;  ///< or empty
  bool has_ids = false;                  ///< a curve takes the id of its first line
};

CurveSet chained(const LineSoup& soup);

}  // namespace osier
