#include "io/curve_run.hpp"

#include <algorithm>

#include "io/curves/registry.hpp"
#include "model/rod_graph.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"

namespace osier {

bool is_curve_file(const std::filesystem::path& file) {
  const CurveFormat* format = find_curve_format(file.extension().string());
  return format && format->read;
}

namespace {

/// Neighbouring points at one place have no direction between them.
std::vector<std::size_t> distinct_points(const CurveSet& curves, std::size_t k) {
  std::vector<std::size_t> kept;
  for (std::size_t p = curves.start[k]; p < curves.start[k + 1]; ++p)
    if (kept.empty() || norm2(curves.points[p] - curves.points[kept.back()]) > 0) kept.push_back(p);
  const bool closed = curves.closed[k] != 0;
  while (closed && kept.size() > 1 && norm2(curves.points[kept.front()] - curves.points[kept.back()]) == 0) kept.pop_back();
  return kept;
}

/// A five-hundredth of the diagonal of the box around all points.
double thin_radius(const CurveSet& curves) {
  if (curves.points.empty()) return 0;
  Vec3d low = curves.points.front(), high = low;
  for (const Vec3d& x : curves.points) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  return norm(high - low) / 1000;
}

std::string title_of(const CurveSet& curves, std::size_t k) {
  if (!curves.names.empty() && !curves.names[k].empty()) return curves.names[k];
  return "curve" + std::to_string(k);
}

}  // namespace

void write_curve_run(const CurveSet& curves, const std::string& name, const std::filesystem::path& folder) {
  RodGraph graph;
  const double thin = thin_radius(curves);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<std::size_t> points = distinct_points(curves, k);
    const bool closed = curves.closed[k] != 0 && points.size() > 2;
    if (points.size() < 2) continue;
    std::vector<Index> path;
    std::vector<Section> sections;
    for (std::size_t i = 0; i < points.size(); ++i) {
      path.push_back(graph.add_vertex(curves.points[points[i]]));
      if (i + 1 == points.size() && !closed) break;
      const std::size_t next = points[(i + 1) % points.size()];
      const double width = curves.widths.empty() ? 0 : (curves.widths[points[i]] + curves.widths[next]) / 2;
      // Any stiffness will do: nothing is going to move.
      sections.push_back({.stretch_shear = 1, .bend_twist = 1, .line_density = 1, .radius = width > 0 ? width / 2 : thin});
    }
    graph.add_chain(title_of(curves, k), path, sections, closed);
  }
  if (graph.segments.empty())
    throw InputError({{name, "has no curves to look at", "check that curves were exported, each of two points at least"}});
  const Model model = compile_graph(graph);
  const State state = initial_state(graph, model);
  Frame frame;
  frame.vertex_position = state.vertex_position, frame.vertex_velocity = state.vertex_velocity;
  frame.segment_frame = state.frame_rotation, frame.segment_alive = model.segment_alive;
  RunInfo info;
  info.scene_name = name, info.scene_json = "{}";
  const auto writer = find_format("hdf5")->make(folder);
  writer->begin(model, info);
  writer->write(frame);
  writer->end();
}

}  // namespace osier
