// Recorded runs, read back frame by frame: what `osier view`, `osier render` and `osier convert` start from.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "osier/model.hpp"

namespace osier {

/// What to read of a frame beside positions, what is alive and the report. What is left out stays empty, and is not unpacked.
struct FramePieces {
  bool velocity = true, orientation = true;
  bool moment = true;    ///< of joints, where sections were recorded
  bool sections = true;  ///< the other quantities of sections, where they were recorded
  bool restart = true;   ///< frames of clamps and angular velocities, where they were recorded
  bool contacts = true;  ///< what touches, where it was recorded
};

/// A trajectory.h5, open for reading. Frames are read when asked for, so a file may be larger than memory.
class Trajectory {
 public:
  /// A file, or the folder of a run that holds one. Throws InputError naming what is wrong with it.
  static Trajectory open(const std::filesystem::path& path);
  /// Whether that is meant: a folder, a name that ends in .h5, or a file that begins as HDF5 files do.
  static bool is_meant(const std::filesystem::path& path);
  ~Trajectory();
  Trajectory(Trajectory&&) noexcept;

  const std::filesystem::path& path() const;
  const std::string& name() const;  ///< of the scene
  const std::string& scene_json() const;
  bool double_precision() const;  ///< the numbers in the file
  bool has_sections() const;      ///< forces, strains, moments and curvatures were recorded

  bool has_rest() const;  ///< masses, stiffnesses and rest rotations are in it; early files lack them

  /// What a writer is told of the run: names, precision, materials where they were recorded, which series there are.
  const RunInfo& info() const;
  /// What the file tells of the model: vertices with masses and radii, segments with rest lengths, joints with rest rotations,
  /// stiffnesses, clamps as anchors, rods. Damping, inertia of frames and limits are not in it. Without has_rest() masses and
  /// stiffnesses are zero and rest rotations identity.
  const Model& model() const;
  int frame_count() const;  ///< whole frames, the initial one included
  double time(int frame) const;
  /// Valid until the next read. Throws RunError when the file turns out to be damaged there.
  Frame read(int frame, FramePieces pieces = {});
  /// Positions alone, for those who only look where things go. Valid until the next read; throws as read does.
  std::span<const Vec3d> positions(int frame);
  /// How the run was doing, frame by frame; empty when the file does not tell.
  std::vector<FrameReport> reports();

 private:
  struct Impl;
  explicit Trajectory(std::unique_ptr<Impl> impl);
  static void read_samples(const std::filesystem::path& file);
  std::unique_ptr<Impl> impl_;
};

}  // namespace osier
