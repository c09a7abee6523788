// The runs of a sweep: which values of a scene change, and to what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "osier/error.hpp"

namespace osier {

/// Values of one place of the scene.
struct SweepAxis {
  std::string pointer;
  std::vector<std::string> values;  ///< of a list or a grid; empty: anything from low to high
  double low = 0, high = 0;
  bool logarithmic = false;  ///< equal ratios instead of equal steps
  double at(double share) const;
};

/// "/pointer=a:b:n" (n values from a to b), "/pointer=a:b" (a range, for lhs), either with ":log", "/pointer=a,b,c" (these). Adds
/// a problem where it is none of these.
SweepAxis parse_axis(const std::string& text, Problems& problems);

enum class Sampling : std::uint8_t { grid, lhs, csv };

/// One row of values, as text of the scene language, for each run.
struct Design {
  std::vector<std::string> pointers;
  std::vector<std::vector<std::string>> rows;

  /// As for --set.
  std::vector<std::string> changes(std::size_t row) const;
  /// Runs `part`, `part` + `parts`, ... keep their numbers.
  bool is_mine(std::size_t row, std::size_t part, std::size_t parts) const { return row % parts == part; }
};

/// Every combination, the last axis fastest.
Design grid_design(const std::vector<SweepAxis>& axes, Problems& problems);
/// A Latin hypercube: every axis is cut into as many pieces as there are samples, and each piece is met once. The same seed gives
/// the same samples everywhere.
Design latin_design(const std::vector<SweepAxis>& axes, int samples, std::uint64_t seed, Problems& problems);
/// A table whose first line names the places. Throws InputError.
Design read_design(const std::filesystem::path& file);

}  // namespace osier
