// A run on disk, to go on from after whatever ended it: `checkpoint.osier` in the folder of its results.
//
// It is written after a frame that all other files hold already, so that these can be cut back to it: files are then those of a
// run that has just written this frame. It is complete or that of an earlier frame, whenever the process is killed.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"

namespace osier {

struct Checkpoint {
  // What a run must have in common with this one.
  std::string version, simd;
  std::string scene_json;
  std::vector<std::pair<std::string, std::uint64_t>> files;  ///< that the scene names, and their fingerprints

  // How the scene was loaded.
  std::string scene_file, scene_folder, scene_name;
  std::string solver, precision, simd_option;
  std::vector<std::string> overrides;

  int frame = 0, frames = 0;  ///< the last one that is on disk, and how many there are to be
  RunStats counts;            ///< of the run so far; see carry()
  std::vector<std::pair<std::string, std::uint64_t>> sizes;  ///< of files that grow: name and bytes
  std::string simulation;                                    ///< Simulation::save()

  void carry(Archive& archive);
};

/// The name within the folder of a run.
constexpr const char* kCheckpointName = "checkpoint.osier";

/// What a checkpoint says of a scene, without a state.
Checkpoint checkpoint_of(const Setup& setup);

/// `wait`: until the disk has it, so that not even a power cut loses it.
void write_checkpoint(const std::filesystem::path& folder, Checkpoint& checkpoint, bool wait);

/// Throws InputError where there is none, or one that is damaged or of another version.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// Throws InputError naming everything in which the scene, or this program, differs from that of the checkpoint.
void expect_same(const Checkpoint& checkpoint, const Setup& setup);

/// The scene of the run in a folder, from its file, or from the checkpoint where that is gone.
Scene scene_of_checkpoint(const std::filesystem::path& folder, int threads);

/// When to save, by what the scene says.
class CheckpointRhythm {
 public:
  explicit CheckpointRhythm(const CheckpointSpec& spec) : spec_(spec) {}
  /// After frame `index`.
  bool is_due(int index) const;
  /// Whether to wait for the disk, which may take longer than a frame: at most once a second.
  bool waits() const;
  void saved(bool waited);

 private:
  using Clock = std::chrono::steady_clock;
  const CheckpointSpec& spec_;
  Clock::time_point last_ = Clock::now(), last_wait_;
};

}  // namespace osier
