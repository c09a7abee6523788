// The table of curve formats, and what they share.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/text.hpp"
#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/look.hpp"
#include "io/up.hpp"
#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

static constexpr const CurveOutput* kCurveOutputs[] = {&kUsdaFormat, &kUsdcFormat, &kUsdFormat, &kObjFormat,  &kPc2Format,
                                                       &kGltfFormat, &kGlbFormat,  &kBccFormat, &kHairFormat, &kPolyFormat,
                                                       &kPlyFormat,  &kCsvFormat,  &kVtpFormat, &kPvdFormat,  &kNpzFormat};

std::span<const CurveOutput* const> curve_outputs() { return kCurveOutputs; }

const CurveOutput* find_curve_output(std::string_view extension) {
  for (const CurveOutput* format : kCurveOutputs)
    if (extension == format->extension) return format;
  return nullptr;
}

WriteTarget WriteTarget::at(fs::path file, bool single) {
  WriteTarget target(std::move(file));
  target.named_ = true, target.single_ = single;
  return target;
}

fs::path WriteTarget::file(const char* extension) const {
  if (!named_) return path_ / (std::string("trajectory") + extension);
  return fs::path(path_).replace_extension(extension);
}

fs::path WriteTarget::frame(int index, const char* extension, const char* folder) const {
  if (single_) return fs::path(path_).replace_extension(extension);
  if (!named_) return path_ / folder / frame_file_name(index, extension);
  return path_.parent_path() / frame_file_name(index, extension, path_.stem().string() + "_");
}

void WriteTarget::prepare_frames(const char* extension, const char* folder) const {
  if (!named_) return prepare_frame_folder(path_ / folder, extension);
  const fs::path parent = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  if (single_) return make_folder(parent);
  prepare_frame_folder(parent, extension, path_.stem().string() + "_");
}

std::vector<std::string> what_is_lost(const CurveOutput& format, const CurveFrame& frame) {
  const CurveSet& c = frame.curves;
  std::vector<std::string> lost;
  if (!format.holds_names && !c.names.empty()) lost.emplace_back("names");
  if (!format.holds_widths && !c.widths.empty()) lost.emplace_back("widths");
  if (!format.holds_closed && std::any_of(c.closed.begin(), c.closed.end(), [](auto k) { return k != 0; }))
    lost.emplace_back("which curves are closed (their first point is repeated at the end)");
  if (!format.holds_empty)
    for (std::size_t k = 0; k < c.size(); ++k)
      if (c.curve(k).empty()) {
        lost.emplace_back("curves without points");
        break;
      }
  if (!format.holds_welds && !c.welds.empty())
    lost.emplace_back("which points are welded (use --weld when you read it again)");
  return lost;
}

void check_range(const CurveOutput& format, const CurveFrame& frame) {
  if (!format.single_precision) return;
  constexpr double kMost = std::numeric_limits<float>::max();
  for (const Vec3d& x : frame.curves.points)
    if (!(std::abs(x.x) <= kMost && std::abs(x.y) <= kMost && std::abs(x.z) <= kMost))
      throw InputError({{fmt::format("point ({:.3g}, {:.3g}, {:.3g})", x.x, x.y, x.z),
                         fmt::format("is too large for {}, which has single precision", format.extension),
                         "scale the curves down, or write .csv or .ply"}});
}

FrameFiles::FrameFiles(WriteTarget target, CurveWriteOptions options, const char* extension, Encode encode)
    : target_(std::move(target)), options_(std::move(options)), extension_(extension), encode_(encode) {
  target_.prepare_frames(extension_);
}

void FrameFiles::write(const CurveFrame& frame) {
  const fs::path file = target_.frame(frame.index, extension_);
  write_file_atomically(file, encode_(frame, options_));
  wrote(file);
}

void CurveWriter::discard() {
  std::error_code ignored;  // what cannot be removed stays
  for (const fs::path& path : written_)
    if (fs::is_directory(path, ignored) || file_to_replace(path))
      fs::remove_all(path, ignored);  // devices and pipes are not ours
  written_.clear();
}

CurveWriteOptions options_of(const RunInfo& info) {
  CurveWriteOptions options;
  options.title = info.scene_name, options.version = info.version;
  options.obstacles = info.obstacles;
  options.contacts = info.contacts;
  const Vec3d up = up_direction(info.scene_json);
  if (std::abs(up.z) > std::abs(up.y)) options.up = 'z';
  return options;
}

std::map<std::int64_t, HexColor> rod_colors(const RodCurves& rods, const RunInfo& info) {
  const Look look = look_of(info);
  std::map<std::int64_t, HexColor> colors;
  if (!look.has_colors()) return colors;
  for (const auto& [id, segments] : rods.segments())
    if (const auto color = look.of_segment(info, static_cast<std::size_t>(segments.front()))) colors.try_emplace(id, *color);
  return colors;
}

namespace {

class RodWriter final : public Writer {
 public:
  RodWriter(const CurveOutput& format, WriteTarget target) : format_(format), target_(std::move(target)) {}

  void begin(const Model& model, const RunInfo& info) override {
    rods_ = std::make_unique<RodCurves>(model);
    CurveWriteOptions options = options_of(info);
    options.colors = rod_colors(*rods_, info);
    writer_ = format_.make(target_, options);
  }
  void write(const Frame& frame) override {
    writer_->write(format_.time == CurveOutput::Time::constant_topology ? rods_->constant(frame) : rods_->split(frame));
  }
  void end() override { writer_->end(); }

 private:
  const CurveOutput& format_;
  WriteTarget target_;
  std::unique_ptr<RodCurves> rods_;
  std::unique_ptr<CurveWriter> writer_;
};

}  // namespace

std::unique_ptr<Writer> make_rod_writer(const CurveOutput& format, const WriteTarget& target) {
  return std::make_unique<RodWriter>(format, target);
}

void write_curves(const fs::path& path, const CurveSet& curves) {
  const CurveOutput* format = find_curve_output(path.extension().string());
  if (!format) {
    std::vector<std::string> known;
    for (const CurveOutput* f : kCurveOutputs) known.emplace_back(f->extension);
    throw InputError({{path.string(), "no format has this extension", "use one of " + join(known, ", ")}});
  }
  check_range(*format, {.index = 0, .time = 0, .curves = curves, .normals = {}, .velocities = {}});
  const auto writer = format->make(WriteTarget::at(path, format != &kPvdFormat), {});
  try {
    writer->write({.index = 0, .time = 0, .curves = curves, .normals = {}, .velocities = {}});
    writer->end();
  } catch (...) {
    writer->discard();
    throw;
  }
}

}  // namespace osier
