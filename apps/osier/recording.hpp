// What can be looked at without being simulated: recorded runs, and curve files as runs of one frame.
#pragma once

#include <filesystem>
#include <string>

#include "io/curve_run.hpp"
#include "osier/trajectory.hpp"
#include "temporary_folder.hpp"

namespace osier::cli {

inline constexpr const char* kRecordingHelp = "folder of a run, its trajectory.h5, a curve file";

inline bool is_recording(const std::filesystem::path& path) { return Trajectory::is_meant(path) || is_curve_file(path); }

inline Trajectory open_recording(const std::filesystem::path& path) {
  if (!is_curve_file(path)) return Trajectory::open(path);
  const TemporaryFolder folder;  // an open file stays when its name goes
  write_curve_run(read_curves(path), path.stem().string(), folder.path());
  return Trajectory::open(folder.path());
}

}  // namespace osier::cli
