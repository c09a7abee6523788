// ParaView: one XML PolyData file per frame, and a .pvd that gives each its time.
#include <fmt/format.h>
#include <string>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/vtk_xml.hpp"
#include "io/writers.hpp"

namespace osier {

namespace {

static_assert(sizeof(Vec3d) == 3 * sizeof(double) && sizeof(Quatd) == 4 * sizeof(double), "spans are written as flat numbers");

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

  std::string text = vtk_polydata_head(frame.time, frame.vertex_position.size(), 0, offsets.size());
  text += "<PointData Scalars=\"radius\" Vectors=\"velocity\">\n";
  append_vtk_array(text, "radius", 1, std::vector<T>(radius.begin(), radius.end()));
  append_vtk_array(text, "velocity", 3, flat(frame.vertex_velocity));
  text += "</PointData>\n<CellData>\n";
  append_vtk_array(text, "frame", 4, rotation);
  // Moments too belong to lines, not points: at a clamp or a branch a point has one for each line.
  const std::pair<const char*, std::span<const Vec3d>> sections[] = {{"force", frame.segment_force},
                                                                     {"strain", frame.segment_strain},
                                                                     {"moment", frame.segment_moment},
                                                                     {"curvature", frame.segment_curvature}};
  for (const auto& [name, values] : sections) {
    if (values.empty()) continue;  // not asked for
    std::vector<Vec3d> kept;
    for (std::size_t s : living) kept.push_back(values[s]);
    append_vtk_array(text, name, 3, flat(kept));
  }
  text += "</CellData>\n<Points>\n";
  append_vtk_array(text, "position", 3, flat(frame.vertex_position));
  text += "</Points>\n<Lines>\n";
  append_vtk_array(text, "connectivity", 1, connectivity);
  append_vtk_array(text, "offsets", 1, offsets);
  text += "</Lines>\n</Piece>\n</PolyData>\n</VTKFile>\n";
  return text;
}

class VtpWriter final : public Writer {
 public:
  explicit VtpWriter(const WriteTarget& target) : target_(target), collection_(target.file(".pvd")) {}

  void begin(const Model& model, const RunInfo& info) override {
    segment_vertices_ = model.segment_vertices;
    vertex_radius_ = model.vertex_radius;
    double_precision_ = info.double_precision;
    entries_.clear();
    std::error_code ignored;  // an old list that cannot be removed fails at the first frame, with a better message
    if (target_.numbered()) std::filesystem::remove(collection_, ignored);
    target_.prepare_frames(".vtp", "paraview");
  }

  void write(const Frame& frame) override {
    const std::filesystem::path file = target_.frame(frame.index, ".vtp", "paraview");
    write_file_atomically(file, double_precision_ ? polydata<double>(frame, segment_vertices_, vertex_radius_)
                                                  : polydata<float>(frame, segment_vertices_, vertex_radius_));
    if (!target_.numbered()) return;
    // The list comes second, so that it never names a file that is not there.
    entries_ += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", frame.time,
                            file.lexically_relative(collection_.parent_path()).string());
    write_file_atomically(collection_, vtk_collection(entries_));
  }

  void end() override {}

 private:
  WriteTarget target_;
  std::filesystem::path collection_;
  std::vector<std::array<Index, 2>> segment_vertices_;
  std::vector<double> vertex_radius_;
  bool double_precision_ = true;
  std::string entries_;
};

}  // namespace

std::unique_ptr<Writer> make_vtp_writer(const WriteTarget& target) { return std::make_unique<VtpWriter>(target); }

}  // namespace osier
