// Writes what a run produces into its folder: trajectory formats, probes.csv, diagnostics.csv.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "io/run_folder.hpp"
#include "osier/io.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"

namespace osier {

/// What writers are told about a run.
RunInfo run_info(const Setup& setup);
/// Those of the obstacles, in order.
std::vector<Surface> obstacle_surfaces(const Setup& setup);
/// What a frame tells of the way to it.
FrameReport frame_report(const Diagnostics& diagnostics, int iterations, double seconds);

class Recorder {
 public:
  /// Takes hold of the folder. Throws InputError when it cannot be written to or another run writes into it, before anything
  /// has been computed; what is in the folder then stays.
  Recorder(const std::filesystem::path& folder, const Setup& setup, const Simulation& simulation);

  void frame(const Simulation& simulation, const Frame& frame, const Diagnostics& diagnostics);
  void step(const Simulation& simulation);
  /// `success`: the run came to its end. The results of the run before go with it, unless a frame has replaced them already.
  void end(bool success);
  /// Where the results of the run before are kept, or empty.
  std::filesystem::path earlier_run() const { return folder_.earlier(); }
  bool wants_residual_every_step() const;
  /// Whether step() has something to do.
  bool wants_every_step() const;

 private:
  void open(const std::filesystem::path& folder, const Simulation& simulation);
  void diagnostics_line(const Simulation& simulation, const Diagnostics& diagnostics);
  void probe_line(const Simulation& simulation);

  const Setup& setup_;
  RunFolder folder_;  ///< before the writers: they let go of their files first
  std::vector<double> probe_values_;
  std::vector<std::unique_ptr<Writer>> writers_;
  struct FileCloser {
    void operator()(std::FILE* file) const;
  };
  std::unique_ptr<std::FILE, FileCloser> diagnostics_, probes_;
};

}  // namespace osier
