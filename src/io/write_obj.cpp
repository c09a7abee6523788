// Curves as OBJ lines (or tubes), and over time as an OBJ with a .pc2 point cache beside it, which Blender plays.
// One `l a b` per segment: Blender's importer takes nothing longer. Groups carry the names; objects would be split apart.
#include <algorithm>
#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/tubes.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

/// `#` would start a comment, and a backslash join the next line.
std::string one_line(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r' || c == '\\' || c == '#'; }, '_');
  return name;
}

std::string encode_lines(const CurveFrame& frame, const CurveWriteOptions& options) {
  const CurveSet& c = frame.curves;
  fmt::memory_buffer text;
  auto out = fmt::appender(text);
  fmt::format_to(out, "# osier {}, frame {}, time {} s, lengths in m\n", options.version, frame.index, frame.time);
  const SharedPoints shared = shared_points(c);
  const auto number = [&](std::size_t p) { return shared.number[p] + 1; };  // OBJ counts from one
  for (const std::size_t p : shared.point) fmt::format_to(out, "v {} {} {}\n", c.points[p].x, c.points[p].y, c.points[p].z);
  for (std::size_t k = 0; k < c.size(); ++k) {
    const std::size_t first = c.start[k], n = c.curve(k).size();
    if (n == 0) continue;
    if (!c.names.empty()) fmt::format_to(out, "g {}\n", one_line(c.names[k]));
    if (n == 1) fmt::format_to(out, "p {}\n", number(first));
    for (std::size_t i = 0; i + 1 < n; ++i) fmt::format_to(out, "l {} {}\n", number(first + i), number(first + i + 1));
    if (c.closed[k] && n > 2) fmt::format_to(out, "l {} {}\n", number(first + n - 1), number(first));
  }
  return {text.data(), text.size()};
}

std::string encode_tubes(const CurveFrame& frame, const CurveWriteOptions& options) {
  const TubeMesh mesh = tube_mesh(frame, options.sides, usual_width(frame.curves));
  fmt::memory_buffer text;
  auto out = fmt::appender(text);
  fmt::format_to(out, "# osier {}, frame {}, time {} s, lengths in m\ns 1\n", options.version, frame.index, frame.time);
  for (const Vec3d& x : mesh.positions) fmt::format_to(out, "v {:.9g} {:.9g} {:.9g}\n", x.x, x.y, x.z);
  for (const auto& uv : mesh.uvs) fmt::format_to(out, "vt {:.7g} {:.7g}\n", uv[0], uv[1]);
  for (const Vec3d& x : mesh.normals) fmt::format_to(out, "vn {:.6g} {:.6g} {:.6g}\n", x.x, x.y, x.z);
  for (const auto& t : mesh.triangles)
    fmt::format_to(out, "f {0}/{0}/{0} {1}/{1}/{1} {2}/{2}/{2}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  return {text.data(), text.size()};
}

class PointCache final : public CurveWriter {
 public:
  PointCache(const WriteTarget& target, CurveWriteOptions options)
      : obj_(target.file(".obj")), cache_path_(target.file(".pc2")), options_(std::move(options)) {
    if (obj_.has_parent_path()) make_folder(obj_.parent_path());
    cache_ = std::make_unique<OutputFile>(cache_path_, OutputFile::Mode::growing);
    wrote(cache_path_);
  }

  void write(const CurveFrame& frame) override {
    if (samples_ == 0) begin(frame);
    if (!same_topology(frame.curves, first_))
      throw RunError(fmt::format("{}: frame {} has other curves than the first", cache_path_.string(), frame.index));
    std::string bytes;
    if (options_.tubes) add_points(bytes, tube_mesh(frame, options_.sides, width_).positions);
    else add_points(bytes, picked(frame.curves.points));
    cache_->append(bytes);
    ++samples_;
    std::string count;
    append_binary(count, samples_);
    cache_->overwrite(kCountAt, count);  // after the data: a reader never finds fewer samples than announced
  }

 private:
  static constexpr std::uint64_t kCountAt = 28;
  static void add_points(std::string& bytes, const std::vector<Vec3d>& points) {
    for (const Vec3d& x : points)
      for (const double v : {x.x, x.y, x.z}) append_binary(bytes, static_cast<float>(v));
  }

  /// One of each group of welded points: they move together.
  std::vector<Vec3d> picked(const std::vector<Vec3d>& points) const {
    std::vector<Vec3d> kept;
    for (const std::size_t p : shared_.point) kept.push_back(points[p]);
    return kept;
  }

  void begin(const CurveFrame& frame) {
    first_ = frame.curves;
    shared_ = shared_points(first_);
    width_ = usual_width(frame.curves);
    const std::size_t points = options_.tubes ? tube_mesh(frame, options_.sides, width_).positions.size() : shared_.point.size();
    std::string header("POINTCACHE2\0", 12);
    append_binary(header, std::int32_t{1});
    append_binary(header, static_cast<std::int32_t>(points));
    append_binary(header, 0.F);  // first frame
    append_binary(header, 1.F);  // frames per sample
    append_binary(header, std::int32_t{0});
    cache_->append(header);
    write_file_atomically(obj_, options_.tubes ? encode_tubes(frame, options_) : encode_lines(frame, options_));
    wrote(obj_);
  }

  std::filesystem::path obj_, cache_path_;
  CurveWriteOptions options_;
  std::unique_ptr<OutputFile> cache_;
  CurveSet first_;
  SharedPoints shared_;
  double width_ = 0;
  std::int32_t samples_ = 0;
};

std::unique_ptr<CurveWriter> make_obj(const WriteTarget& target, const CurveWriteOptions& options) {
  if (options.per_frame || !target.numbered())
    return std::make_unique<FrameFiles>(target, options, ".obj", options.tubes ? encode_tubes : encode_lines);
  return std::make_unique<PointCache>(target, options);
}

std::unique_ptr<CurveWriter> make_pc2(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<PointCache>(target, options);
}

constexpr CurveOutput format(const char* extension, const char* help, decltype(CurveOutput::make) make) {
  return {.extension = extension,
          .help = help,
          .holds_closed = true,
          .holds_names = true,
          .holds_ids = false,
          .holds_widths = false,
          .holds_empty = false,
          .holds_welds = true,
          .single_precision = false,
          .time = CurveOutput::Time::constant_topology,
          .make = make};
}

}  // namespace

const CurveOutput kObjFormat = format(".obj", "a line per segment, or tubes; a .pc2 beside it holds all frames", make_obj);
const CurveOutput kPc2Format = format(".pc2", "the point cache of an .obj, which is written beside it", make_pc2);

}  // namespace osier
