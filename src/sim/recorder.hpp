// Writes what a run produces into its folder: trajectory formats, probes.csv, diagnostics.csv.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "io/run_folder.hpp"
#include "osier/io.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "sim/checkpoint.hpp"

namespace osier {

/// What writers are told about a run.
RunInfo run_info(const Setup& setup);
/// Those of the obstacles, in order.
std::vector<Surface> obstacle_surfaces(const Setup& setup);
/// What a frame tells of the way to it.
FrameReport frame_report(const Diagnostics& diagnostics, int iterations, double seconds);

class Recorder {
  struct FileCloser {
    void operator()(std::FILE* file) const;
  };

 public:
  /// Takes hold of the folder. Throws InputError when it cannot be written to or another run writes into it, before anything
  /// has been computed; what is in the folder then stays.
  Recorder(const std::filesystem::path& folder, const Setup& setup, const Simulation& simulation);
  /// Goes on behind the frame of a checkpoint: what was written after it is cut off. `also`: further writers of the run, which
  /// are given its frames again.
  Recorder(const std::filesystem::path& folder, const Setup& setup, const Simulation& simulation, const Checkpoint& from,
           std::span<const std::shared_ptr<Writer>> also);

  void frame(const Simulation& simulation, const Frame& frame, const Diagnostics& diagnostics);
  void step(const Simulation& simulation);
  /// `success`: nothing went wrong. The results of the run before go with it, unless a frame has replaced them already.
  /// `complete`: there is nothing to resume.
  void end(bool success, bool complete);
  /// Where the results of the run before are kept, or empty.
  std::filesystem::path earlier_run() const { return folder_.earlier(); }
  bool wants_residual_every_step() const;
  /// After a frame: the run may be resumed from here.
  void save(Checkpoint& checkpoint, bool wait);
  /// Whether step() has something to do.
  bool wants_every_step() const;

 private:
  using CsvFile = std::unique_ptr<std::FILE, FileCloser>;
  void reopen(const Simulation& simulation, const Checkpoint& from, std::span<const std::shared_ptr<Writer>> also);
  /// The tables that the scene asks for: use(file, name, header).
  template <class F>
  void each_table(const Simulation& simulation, const F& use);
  void write_checkpoint(Checkpoint& checkpoint, bool wait);
  void open(const std::filesystem::path& folder, const Simulation& simulation);
  void diagnostics_line(const Simulation& simulation, const Diagnostics& diagnostics);
  void probe_line(const Simulation& simulation);

  const Setup& setup_;
  RunFolder folder_;  ///< before the writers: they let go of their files first
  std::vector<double> probe_values_;
  std::vector<std::unique_ptr<Writer>> writers_;
  CsvFile diagnostics_, probes_;
  std::unique_ptr<CheckpointFiles> checkpoints_;
};

}  // namespace osier
