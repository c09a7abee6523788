// What the probes of a run measured, for the graphs of the page: read from its probes.csv, which is the one record of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace osier::view {

struct ProbeTable {
  std::vector<std::string> columns;        ///< "tip.x", "tip.y", ...
  std::vector<double> times;               ///< of the lines
  std::vector<std::vector<float>> values;  ///< per column, one for each time; NaN where there was nothing to measure
};

/// Empty without such a file. Of a table longer than a graph can show every n-th line is kept, and the last.
ProbeTable read_probes(const std::filesystem::path& run_folder);

}  // namespace osier::view
