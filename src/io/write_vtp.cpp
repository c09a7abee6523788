// Curves for ParaView: a polyline each. The files of runs, line by line with all they carry, are those of vtp.cpp.
#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/vtk_xml.hpp"

namespace osier {

namespace {

std::vector<double> flat(const std::vector<Vec3d>& vectors, const std::vector<std::size_t>& wanted) {
  std::vector<double> values;
  values.reserve(3 * wanted.size());
  for (const std::size_t p : wanted) values.insert(values.end(), {vectors[p].x, vectors[p].y, vectors[p].z});
  return values;
}

std::string encode_vtp(const CurveFrame& frame) {
  const CurveSet& c = frame.curves;
  const SharedPoints shared = shared_points(c);
  const auto number = [&](std::size_t p) { return static_cast<std::int32_t>(shared.number[p]); };
  // Curves of one point are VTK's vertices, which come before lines in cell data.
  std::vector<std::int32_t> verts, vert_ends, lines, line_ends, vert_id, line_id;
  for (std::size_t k = 0; k < c.size(); ++k) {
    const std::size_t n = c.curve(k).size();
    if (n == 0) continue;
    const auto id = static_cast<std::int32_t>(c.ids.empty() ? static_cast<std::int64_t>(k) : c.ids[k]);
    std::vector<std::int32_t>& list = n == 1 ? verts : lines;
    for (std::size_t p = c.start[k]; p < c.start[k + 1]; ++p) list.push_back(number(p));
    if (c.closed[k] && n > 2) list.push_back(number(c.start[k]));
    (n == 1 ? vert_ends : line_ends).push_back(static_cast<std::int32_t>(list.size()));
    (n == 1 ? vert_id : line_id).push_back(id);
  }
  std::string text = vtk_polydata_head(frame.time, shared.point.size(), vert_ends.size(), line_ends.size());
  text += "<PointData>\n";
  if (!c.widths.empty()) {
    std::vector<double> radius;
    for (const std::size_t p : shared.point) radius.push_back(c.widths[p] / 2);
    append_vtk_array(text, "radius", 1, radius);
  }
  if (!frame.velocities.empty()) append_vtk_array(text, "velocity", 3, flat(frame.velocities, shared.point));
  if (!frame.normals.empty()) append_vtk_array(text, "d1", 3, flat(frame.normals, shared.point));
  text += "</PointData>\n<CellData>\n";
  vert_id.insert(vert_id.end(), line_id.begin(), line_id.end());
  append_vtk_array(text, "curve", 1, vert_id);
  text += "</CellData>\n<Points>\n";
  append_vtk_array(text, "position", 3, flat(c.points, shared.point));
  text += "</Points>\n<Verts>\n";
  append_vtk_array(text, "connectivity", 1, verts);
  append_vtk_array(text, "offsets", 1, vert_ends);
  text += "</Verts>\n<Lines>\n";
  append_vtk_array(text, "connectivity", 1, lines);
  append_vtk_array(text, "offsets", 1, line_ends);
  return text + "</Lines>\n</Piece>\n</PolyData>\n</VTKFile>\n";
}

class VtpCurves final : public CurveWriter {
 public:
  explicit VtpCurves(const WriteTarget& target) : target_(target), collection_(target.file(".pvd")) {
    target_.prepare_frames(".vtp", "paraview");
  }
  void write(const CurveFrame& frame) override {
    const std::filesystem::path file = target_.frame(frame.index, ".vtp", "paraview");
    write_file_atomically(file, encode_vtp(frame));
    wrote(file);
    if (!target_.numbered()) return;
    entries_ += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", frame.time,
                            file.lexically_relative(collection_.parent_path()).string());
    write_file_atomically(collection_, vtk_collection(entries_));
    wrote(collection_);
  }

 private:
  WriteTarget target_;
  std::filesystem::path collection_;
  std::string entries_;
};

std::unique_ptr<CurveWriter> make_vtp(const WriteTarget& target, const CurveWriteOptions&) {
  return std::make_unique<VtpCurves>(target);
}

constexpr CurveOutput format(const char* extension) {
  return {.extension = extension,
          .help = "polylines for ParaView, and a .pvd with the times of all frames",
          .holds_closed = true,
          .holds_names = false,
          .holds_ids = true,
          .holds_widths = true,
          .holds_empty = false,
          .holds_welds = true,
          .single_precision = false,
          .time = CurveOutput::Time::any_topology,
          .make = make_vtp};
}

}  // namespace

const CurveOutput kVtpFormat = format(".vtp"), kPvdFormat = format(".pvd");

}  // namespace osier
