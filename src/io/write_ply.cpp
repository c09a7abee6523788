// PLY with vertices and edges, binary. MeshLab and Blender show the edges; `width` is an extra property of vertices. Where curves
// share vertices, edges say which `curve` they belong to: a reader could not tell which way each goes on.
#include <fmt/format.h>
#include <limits>

#include "io/curve_writer.hpp"
#include "osier/error.hpp"

namespace osier {

static std::string encode_ply(const CurveFrame& frame, const CurveWriteOptions& options) {
  const CurveSet& c = frame.curves;
  if (c.points.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError({{".ply", "more points than the format can count", "choose another format"}});
  const SharedPoints shared = shared_points(c);
  std::string edges;
  std::size_t count = 0;
  const auto add_edge = [&](std::size_t k, std::size_t a, std::size_t b) {
    append_binary(edges, static_cast<std::int32_t>(shared.number[a]));
    append_binary(edges, static_cast<std::int32_t>(shared.number[b]));
    if (!c.welds.empty()) append_binary(edges, static_cast<std::int32_t>(k));
    ++count;
  };
  for (std::size_t k = 0; k < c.size(); ++k) {
    for (std::size_t p = c.start[k]; p + 1 < c.start[k + 1]; ++p) add_edge(k, p, p + 1);
    if (c.closed[k] && c.curve(k).size() > 2) add_edge(k, c.start[k + 1] - 1, c.start[k]);
  }
  std::string bytes = fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment written by Osier {}\nelement vertex {}\nproperty double x\nproperty double "
      "y\nproperty double z\n{}element edge {}\nproperty int vertex1\nproperty int vertex2\n{}end_header\n",
      options.version, shared.point.size(), c.widths.empty() ? "" : "property double width\n", count,
      c.welds.empty() ? "" : "property int curve\n");
  for (const std::size_t p : shared.point) {
    append_binary(bytes, c.points[p]);
    if (!c.widths.empty()) append_binary(bytes, c.widths[p]);
  }
  return bytes + edges;
}

static std::unique_ptr<CurveWriter> make_ply(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<FrameFiles>(target, options, ".ply", encode_ply);
}

const CurveOutput kPlyFormat{.extension = ".ply",
                             .help = "vertices and edges",
                             .holds_closed = true,
                             .holds_names = false,
                             .holds_ids = false,
                             .holds_widths = true,
                             .holds_empty = false,
                             .holds_welds = true,
                             .single_precision = false,
                             .time = CurveOutput::Time::no,
                             .make = make_ply};

}  // namespace osier
