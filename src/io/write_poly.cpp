// Houdini's text polygons: POINTS, POLYS, END; a polygon that ends in "<" is closed.
#include <fmt/format.h>

#include "io/curve_writer.hpp"

namespace osier {

static std::string encode_poly(const CurveFrame& frame, const CurveWriteOptions&) {
  const CurveSet& c = frame.curves;
  fmt::memory_buffer text;
  auto out = fmt::appender(text);
  fmt::format_to(out, "POINTS\n");
  const SharedPoints shared = shared_points(c);
  for (const std::size_t p : shared.point)
    fmt::format_to(out, "{}: {} {} {}\n", shared.number[p] + 1, c.points[p].x, c.points[p].y, c.points[p].z);
  fmt::format_to(out, "POLYS\n");
  std::size_t number = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    if (c.curve(k).empty()) continue;
    fmt::format_to(out, "{}:", ++number);
    for (std::size_t p = c.start[k]; p < c.start[k + 1]; ++p) fmt::format_to(out, " {}", shared.number[p] + 1);
    fmt::format_to(out, "{}\n", c.closed[k] ? " <" : "");
  }
  fmt::format_to(out, "END\n");
  return {text.data(), text.size()};
}

static std::unique_ptr<CurveWriter> make_poly(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<FrameFiles>(target, options, ".poly", encode_poly);
}

const CurveOutput kPolyFormat{.extension = ".poly",
                              .help = "text polygons of Houdini",
                              .holds_closed = true,
                              .holds_names = false,
                              .holds_ids = false,
                              .holds_widths = false,
                              .holds_empty = false,
                              .holds_welds = true,
                              .single_precision = false,
                              .time = CurveOutput::Time::no,
                              .make = make_poly};

}  // namespace osier
