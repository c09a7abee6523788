// Cem Yuksel's hair format: a 128-byte header, then segment counts, points and thicknesses as arrays.
#include <cstring>
#include <fmt/format.h>

#include "io/curve_writer.hpp"
#include "osier/error.hpp"

namespace osier {

static std::string encode_hair(const CurveFrame& frame, const CurveWriteOptions&) {
  const CurveSet& c = frame.curves;
  std::vector<std::uint16_t> segments;
  std::vector<float> points, thickness;
  constexpr std::size_t kMost = 65535;
  const auto add_point = [&](std::size_t p) {
    for (const double v : {c.points[p].x, c.points[p].y, c.points[p].z}) points.push_back(static_cast<float>(v));
    if (!c.widths.empty()) thickness.push_back(static_cast<float>(c.widths[p]));
  };
  for (std::size_t k = 0; k < c.size(); ++k) {
    const std::size_t n = c.curve(k).size();
    if (n == 0) continue;
    const bool repeat = c.closed[k] && n > 2;
    const std::size_t count = repeat ? n : n - 1;
    if (count > kMost)
      throw InputError({{".hair", fmt::format("curve {} has {} segments, and a strand holds at most {}", k, count, kMost),
                         "resample the curves or choose another format"}});
    segments.push_back(static_cast<std::uint16_t>(count));
    for (std::size_t i = 0; i < n; ++i) add_point(c.start[k] + i);
    if (repeat) add_point(c.start[k]);
  }
  std::string bytes = "HAIR";
  const auto u32 = [&](std::size_t value) { append_binary(bytes, static_cast<std::uint32_t>(value)); };
  if (points.size() / 3 > 0xffffffffULL)
    throw InputError({{".hair", "more points than the format can count", "choose another format"}});
  u32(segments.size());
  u32(points.size() / 3);
  u32(thickness.empty() ? 1 | 2 : 1 | 2 | 4);
  u32(0);
  for (const float value : {0.F, 0.F, 1.F, 1.F, 1.F}) append_binary(bytes, value);  // thickness, transparency, colour by default
  char info[88] = "written by Osier";
  bytes.append(info, sizeof(info));
  append_binary(bytes, segments);
  append_binary(bytes, points);
  append_binary(bytes, thickness);
  return bytes;
}

static std::unique_ptr<CurveWriter> make_hair(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<FrameFiles>(target, options, ".hair", encode_hair);
}

const CurveOutput kHairFormat{.extension = ".hair",
                              .help = "strands of hair with thickness, at most 65,536 points each",
                              .holds_closed = false,
                              .holds_names = false,
                              .holds_ids = false,
                              .holds_widths = true,
                              .holds_empty = false,
                              .holds_welds = false,
                              .single_precision = true,
                              .time = CurveOutput::Time::no,
                              .make = make_hair};

}  // namespace osier
