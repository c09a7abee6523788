// A run on disk, to go on from after whatever ended it: `checkpoint.osier` in the folder of its results.
//
// It is written after a frame that all other files hold already, so that these can be cut back to it: files are then those of a
// run that has just written this frame. There are two files, written in turn and in place, and one of them is always whole. (A
// file that takes the place of another one would be a new one at every frame: nobody could remove the folder of a run meanwhile.)
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "io/atomic_file.hpp"
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

  int slot = 1;  ///< which of the two files it was read from

  void carry(Archive& archive);
};

/// The names within the folder of a run.
constexpr std::array<const char*, 2> kCheckpointNames{"checkpoint.osier", "checkpoint2.osier"};
/// Whether there is something to resume.
bool has_checkpoint(const std::filesystem::path& folder);

/// What a checkpoint says of a scene, without a state.
Checkpoint checkpoint_of(const Setup& setup);

/// The two files of a folder.
class CheckpointFiles {
 public:
  /// `last`: the file that must not be written to next.
  CheckpointFiles(std::filesystem::path folder, int last) : folder_(std::move(folder)), last_(last) {}
  /// `wait`: until the disk has it, so that not even a power cut loses it.
  void write(Checkpoint& checkpoint, bool wait);
  void remove();

 private:
  std::filesystem::path folder_;
  int last_;
  std::array<std::unique_ptr<OutputFile>, 2> file_;
};

/// Throws InputError where there is none, or one that is damaged or of another version.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// Throws InputError naming everything in which the scene, or this program, differs from that of the checkpoint.
void expect_same(const Checkpoint& checkpoint, const Setup& setup);

/// The scene of the run in a folder, from its file, or from the checkpoint where that is gone. Results do not depend on the number
/// of threads: `threads` when given, otherwise the scene's, otherwise `default_threads`.
Scene scene_of_checkpoint(const std::filesystem::path& folder, int default_threads, std::optional<int> threads = {});

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
