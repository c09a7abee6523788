// ParaView: one XML PolyData file per frame, and a .pvd that gives each its time.
// Arrays are inline base64 (an 8-byte length, then the values). Appended raw data would be a quarter smaller, but is not XML:
// every reader other than VTK's own trips over it.
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <type_traits>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/writers.hpp"

namespace osier {

namespace {

static_assert(std::endian::native == std::endian::little, "the files say byte_order=\"LittleEndian\"");
static_assert(sizeof(Vec3d) == 3 * sizeof(double) && sizeof(Quatd) == 4 * sizeof(double), "spans are written as flat numbers");

void append_base64(std::string& text, std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < n ? bytes[i + k] : 0u);
    for (unsigned k = 0; k < 4; ++k) text += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
}

template <class T>
void append_array(std::string& text, std::string_view name, int components, const std::vector<T>& values) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>);
  const std::string_view type = std::is_same_v<T, float> ? "Float32" : std::is_same_v<T, double> ? "Float64" : "Int32";
  const std::uint64_t size = values.size() * sizeof(T);
  std::vector<unsigned char> bytes(sizeof(size) + size);
  std::memcpy(bytes.data(), &size, sizeof(size));
  if (size > 0) std::memcpy(bytes.data() + sizeof(size), values.data(), size);
  text += fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format="binary">)", type, name, components);
  append_base64(text, bytes);
  text += "</DataArray>\n";
}

/// `T` is the number type the solver worked in.
template <class T>
std::string polydata(const Frame& frame, std::span<const std::array<Index, 2>> segment_vertices, std::span<const double> radius) {
  std::vector<std::int32_t> connectivity, offsets;
  std::vector<T> rotation;
  std::vector<std::size_t> living;
  for (std::size_t s = 0; s < segment_vertices.size(); ++s) {
    if (!frame.segment_alive[s]) continue;
    living.push_back(s);
    connectivity.insert(connectivity.end(), segment_vertices[s].begin(), segment_vertices[s].end());
    offsets.push_back(static_cast<std::int32_t>(connectivity.size()));
    const Quatd& q = frame.segment_frame[s];
    rotation.insert(rotation.end(), {static_cast<T>(q.x), static_cast<T>(q.y), static_cast<T>(q.z), static_cast<T>(q.w)});
  }
  const auto flat = [](std::span<const Vec3d> vectors) {
    std::vector<T> values;
    values.reserve(3 * vectors.size());
    for (const Vec3d& a : vectors) values.insert(values.end(), {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z)});
    return values;
  };

  std::string text = "<?xml version=\"1.0\"?>\n";
  text += R"(<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">)"
          "\n<PolyData>\n";
  text += fmt::format(
      R"(<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{}</DataArray></FieldData>)"
      "\n",
      frame.time);
  text += fmt::format(R"(<Piece NumberOfPoints="{}" NumberOfVerts="0" NumberOfLines="{}" NumberOfStrips="0" NumberOfPolys="0">)"
                      "\n",
                      frame.vertex_position.size(), offsets.size());
  text += "<PointData Scalars=\"radius\" Vectors=\"velocity\">\n";
  append_array(text, "radius", 1, std::vector<T>(radius.begin(), radius.end()));
  append_array(text, "velocity", 3, flat(frame.vertex_velocity));
  text += "</PointData>\n<CellData>\n";
  append_array(text, "frame", 4, rotation);
  // Moments too belong to lines, not points: at a clamp or a branch a point has one for each line.
  const std::pair<const char*, std::span<const Vec3d>> sections[] = {{"force", frame.segment_force},
                                                                     {"strain", frame.segment_strain},
                                                                     {"moment", frame.segment_moment},
                                                                     {"curvature", frame.segment_curvature}};
  for (const auto& [name, values] : sections) {
    if (values.empty()) continue;  // not asked for
    std::vector<Vec3d> kept;
    for (std::size_t s : living) kept.push_back(values[s]);
    append_array(text, name, 3, flat(kept));
  }
  text += "</CellData>\n<Points>\n";
  append_array(text, "position", 3, flat(frame.vertex_position));
  text += "</Points>\n<Lines>\n";
  append_array(text, "connectivity", 1, connectivity);
  append_array(text, "offsets", 1, offsets);
  text += "</Lines>\n</Piece>\n</PolyData>\n</VTKFile>\n";
  return text;
}

class VtpWriter final : public Writer {
 public:
  explicit VtpWriter(const std::filesystem::path& folder)
      : frames_(folder / "paraview"), collection_(folder / "trajectory.pvd") {}

  void begin(const Model& model, const RunInfo& info) override {
    segment_vertices_ = model.segment_vertices;
    vertex_radius_ = model.vertex_radius;
    double_precision_ = info.double_precision;
    entries_.clear();
    std::error_code ignored;  // an old list that cannot be removed fails at the first frame, with a better message
    std::filesystem::remove(collection_, ignored);
    prepare_frame_folder(frames_, ".vtp");
  }

  void write(const Frame& frame) override {
    const std::string name = frame_file_name(frame.index, ".vtp");
    write_file_atomically(frames_ / name, double_precision_ ? polydata<double>(frame, segment_vertices_, vertex_radius_)
                                                            : polydata<float>(frame, segment_vertices_, vertex_radius_));
    // The list comes second, so that it never names a file that is not there.
    entries_ += fmt::format("<DataSet timestep=\"{}\" file=\"paraview/{}\"/>\n", frame.time, name);
    write_file_atomically(collection_, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n" +
                                           entries_ + "</Collection>\n</VTKFile>\n");
  }

  void end() override {}

 private:
  std::filesystem::path frames_, collection_;
  std::vector<std::array<Index, 2>> segment_vertices_;
  std::vector<double> vertex_radius_;
  bool double_precision_ = true;
  std::string entries_;
};

}  // namespace

std::unique_ptr<Writer> make_vtp_writer(const std::filesystem::path& folder) { return std::make_unique<VtpWriter>(folder); }

}  // namespace osier
