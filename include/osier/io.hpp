// Writers of results. One file per format in src/io/, one line in src/io/registry.cpp.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "osier/curves.hpp"
#include "osier/frame.hpp"
#include "osier/model.hpp"
#include "osier/surface.hpp"

namespace osier {

/// Stiffnesses of a material's section, EA, GA1, GA2 [N], EI1, EI2, GJ [N m^2], where it is thinnest and where it is thickest.
struct MaterialStiffness {
  std::array<double, 6> low{}, high{};
};

/// What a writer may want to know about the run it records.
struct RunInfo {
  std::string scene_name;
  std::string scene_json;  ///< the scene as it was run, overrides included
  std::string version;
  bool double_precision = true;              ///< the number type the solver worked in
  bool sections = false;                     ///< frames carry section forces, strains, moments and curvatures
  std::vector<std::string> materials = {};   ///< names
  std::vector<Index> segment_material = {};  ///< one of these for each segment
  std::vector<MaterialStiffness> material_stiffness = {};
  bool reports = false;                 ///< frames carry a FrameReport
  bool is_static = false;               ///< and in it a load factor
  bool clamp_frames = false;            ///< frames carry those of clamps
  bool spins = false;                   ///< frames carry the angular velocities of segments
  bool contacts = false;                ///< frames carry what touches
  std::vector<Surface> obstacles = {};  ///< where they are before any motion; frames say where they are then
};

/// begin, write for each frame in order, end. Whatever has been written is a complete, readable file even when end() is
/// never reached. Throws RunError when the disk refuses.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void begin(const Model& model, const RunInfo& info) = 0;
  virtual void write(const Frame& frame) = 0;
  virtual void end() = 0;
  /// Whether it has resume(). Others are given all frames again where a run goes on.
  virtual bool resumes() const { return false; }
  /// Instead of begin(): goes on behind the first `frames` frames of what an earlier process has written, and forgets those
  /// after them.
  virtual void resume(const Model& model, const RunInfo& info, int frames) { (void)model, (void)info, (void)frames; }
};

/// Where a writer puts its files: into the folder of a run under its usual names, or at one chosen name.
class WriteTarget {
 public:
  WriteTarget(std::filesystem::path folder) : path_(std::move(folder)) {}
  /// `cable.usda`; formats that need a file per frame number them, `cable_00012.bcc`, unless `single` says there is only one.
  static WriteTarget at(std::filesystem::path file, bool single = false);

  /// The one file of a format that holds time, or `trajectory` with the extension.
  std::filesystem::path file(const char* extension) const;
  /// The file of frame `index`.
  std::filesystem::path frame(int index, const char* extension, const char* folder = "frames") const;
  /// Makes the folder and clears numbered frames of an earlier, perhaps longer, run.
  void prepare_frames(const char* extension, const char* folder = "frames") const;
  bool numbered() const { return !single_; }

 private:
  std::filesystem::path path_;
  bool named_ = false, single_ = false;
};

struct CurveOutput;

/// A way to write runs. Formats that know curves, and not segments and joints, are described by a CurveOutput
/// (src/io/curve_writer.hpp).
struct FormatEntry {
  const char* name;       ///< as in /output/formats
  const char* extension;  ///< ".h5"
  const char* help;
  std::unique_ptr<Writer> (*maker)(const WriteTarget& target);  ///< or nothing
  const CurveOutput* curves;                                    ///< or nothing
  bool holds_sections;                                          ///< writes what RunInfo::sections announces
  bool holds_contacts;                                          ///< writes what RunInfo::contacts announces

  std::unique_ptr<Writer> make(const WriteTarget& target) const;
};

std::span<const FormatEntry> formats();
const FormatEntry* find_format(std::string_view name);

/// Writes one set of curves; the extension decides the format. The file is complete or absent. Throws InputError when the
/// extension is unknown or the format cannot hold such curves, RunError when the disk refuses.
void write_curves(const std::filesystem::path& path, const CurveSet& curves);

}  // namespace osier
