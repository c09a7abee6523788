// Many runs of one scene with some of its values changed, in one process: `osier sweep`.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "osier/error.hpp"
#include "osier/scene.hpp"

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

/// What `osier sweep` is told: axes as for parse_axis(), "grid", "lhs" or "csv", the number of samples and the seed of lhs, the
/// table of csv. Throws InputError, in which the options have the names that they have on the command line.
struct DesignWords {
  std::vector<std::string> vary;
  std::string sample = "grid", from;
  int samples = 0;
  std::uint64_t seed = 1;
};
Design design_of(const DesignWords& words);

/// What a run has led to.
struct SweepRow {
  std::size_t run = 0;
  std::string error;           ///< why it failed, or empty
  std::vector<double> values;  ///< one for each column of results; empty where it failed
};

struct SweepTable {
  Design design;
  std::vector<std::string> columns;  ///< of results
  std::vector<SweepRow> rows;        ///< by run
  std::string scene_name, scene_json;
  std::size_t failed() const;
};

struct SweepOptions {
  std::filesystem::path folder;
  int threads = 1;
  std::size_t part = 0, parts = 1;  ///< of the design
  LoadOptions load;
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct SweepResult {
  SweepTable table;
  std::size_t known = 0;  ///< rows that were there already
  bool interrupted = false;
  double seconds = 0;
};

/// Runs what the table in the folder does not have yet, one run on one thread. Rows are on disk as soon as they are there
/// (`rows.csv`); in the end `sweep.csv`, `sweep.h5` and `index.html` are written. A run that fails is a row with the reason.
/// Throws InputError where the folder holds another sweep, or where no run of the design is a scene.
SweepResult run_sweep(const std::filesystem::path& scene, const Design& design, const SweepOptions& options);

/// Puts the tables of folders together: parts of one sweep that ran elsewhere. Throws InputError where they are not of one sweep.
SweepTable merge_sweeps(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& into);

}  // namespace osier
