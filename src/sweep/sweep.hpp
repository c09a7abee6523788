// Many runs of one scene with some of its values changed, in one process: `osier sweep`.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "osier/scene.hpp"
#include "sweep/design.hpp"

namespace osier {

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

/// `sweep.csv`, `sweep.h5` and `index.html`.
void write_sweep(const SweepTable& table, const std::filesystem::path& folder);
void write_sweep_table(const SweepTable& table, const std::filesystem::path& file);
std::string sweep_html(const SweepTable& table);

/// The numbers of a column, over runs; NaN where there is none.
std::vector<double> parameter_of(const SweepTable& table, std::size_t parameter);
std::vector<double> result_of(const SweepTable& table, std::size_t column);

}  // namespace osier
