// Writers of curves over time, and what each format can hold. One write_*.cpp per format, one line in curve_outputs.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/hex_color.hpp"
#include "io/curve_frame.hpp"
#include "osier/io.hpp"

namespace osier {

/// What a rod is made of, for formats that can say so.
struct CurveMaterial {
  std::string name;                                    ///< in the scene
  double thickness = 0, density = 0;                   ///< [m], [kg/m³]
  double stretch = 0, shear = 0, bend = 0, twist = 0;  ///< EA, GA [N], EI, GJ [N m²]
};

struct CurveMaterials {
  std::vector<CurveMaterial> list;
  std::map<std::int64_t, std::size_t> of_curve;  ///< by id
};

/// One for each material of the scene, and more where rods of one material differ, as tapered ones do. `segment_material` says
/// which of `names` each segment is made of.
CurveMaterials rod_materials(const Model& model, const std::vector<std::string>& names,
                             const std::vector<Index>& segment_material);

struct CurveWriteOptions {
  std::string title = "curves";  ///< name of the scene
  std::string version;
  char up = 'y';                                 ///< axis that points up, 'y' or 'z'
  int sides = 8;                                 ///< of tubes
  bool tubes = false;                            ///< OBJ: surfaces instead of lines
  bool live = true;                              ///< files must be whole after every frame, not only at the end
  bool per_frame = false;                        ///< a file per frame, even where one could hold all
  std::uint64_t split_bytes = 500'000'000;       ///< USD: from here on, value clips instead of one file
  std::uint64_t chunk_bytes = 8'000'000;         ///< USD: size of one clip
  CurveMaterials materials;                      ///< USD: deformable-curve physics, when there are any
  std::map<std::int64_t, HexColor> colors = {};  ///< USD and glTF: of curves by id, where the scene gives them
  std::vector<Surface> obstacles = {};           ///< USD and glTF: what frames have points of
  bool contacts = false;                         ///< USD and glTF: what touches is written as points
};

/// write for each frame in order, then end. Whatever has been written is complete even when end() is never reached, except where
/// a format says otherwise.
class CurveWriter {
 public:
  virtual ~CurveWriter() = default;
  virtual void write(const CurveFrame& frame) = 0;
  virtual void end() {}
  /// Instead of end(): removes every file written so far.
  void discard();
  /// Files and folders, in the order they were written; some may be gone again.
  const std::vector<std::filesystem::path>& written() const { return written_; }

 protected:
  /// A file or a folder that is ours to discard.
  void wrote(std::filesystem::path path) { written_.push_back(std::move(path)); }

 private:
  std::vector<std::filesystem::path> written_;
};

struct CurveOutput {
  const char* extension;
  const char* help;
  bool holds_closed, holds_names, holds_ids, holds_widths;
  bool holds_empty;       ///< curves without points
  bool holds_welds;       ///< that points of several curves are one
  bool single_precision;  ///< numbers are rounded to float
  /// One file for all frames, which are then drawn with the curves of the first (RodCurves::constant); or a file for each.
  enum class Time { no, constant_topology, any_topology } time;
  std::unique_ptr<CurveWriter> (*make)(const WriteTarget& target, const CurveWriteOptions& options);
};

/// By extension, with the dot. Null when nobody writes it.
const CurveOutput* find_curve_output(std::string_view extension);
std::span<const CurveOutput* const> curve_outputs();

/// What would be lost: "names", "closed curves (their first point is repeated at the end)".
std::vector<std::string> what_is_lost(const CurveOutput& format, const CurveFrame& frame);

/// Throws InputError when coordinates are too large for the numbers of the format.
void check_range(const CurveOutput& format, const CurveFrame& frame);

/// A run through a curve format.
std::unique_ptr<Writer> make_rod_writer(const CurveOutput& format, const WriteTarget& target);
/// As told by the scene that was run: its name, and up from its gravity.
CurveWriteOptions options_of(const RunInfo& info);
/// A rod has the colour of its first segment's material; those without one are left out.
std::map<std::int64_t, HexColor> rod_colors(const RodCurves& rods, const RunInfo& info);

/// One file for each frame, complete or absent.
class FrameFiles final : public CurveWriter {
 public:
  using Encode = std::string (*)(const CurveFrame& frame, const CurveWriteOptions& options);
  FrameFiles(WriteTarget target, CurveWriteOptions options, const char* extension, Encode encode);
  void write(const CurveFrame& frame) override;

 private:
  WriteTarget target_;
  CurveWriteOptions options_;
  const char* extension_;
  Encode encode_;
};

/// Numbers as they lie in memory, little-endian.
template <class T>
void append_binary(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
void append_binary(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

extern const CurveOutput kUsdaFormat, kUsdcFormat, kUsdFormat, kObjFormat, kPc2Format, kGltfFormat, kGlbFormat, kGlbFramesFormat,
    kBccFormat, kHairFormat, kPolyFormat, kPlyFormat, kCsvFormat, kVtpFormat, kPvdFormat, kNpzFormat;

}  // namespace osier
