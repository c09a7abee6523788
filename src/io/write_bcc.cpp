// Cem Yuksel's binary curve collection: a 64-byte header, then n and the points of each curve; n is negative for closed ones.
#include <cstring>
#include <limits>

#include "io/curve_writer.hpp"
#include "osier/error.hpp"

namespace osier {

static std::string encode_bcc(const CurveFrame& frame, const CurveWriteOptions& options) {
  const CurveSet& c = frame.curves;
  std::string bytes = "BCC\x44PL";  // 4-byte integers, 4-byte floats, polylines
  append_binary(bytes, std::int8_t{3});
  append_binary(bytes, static_cast<std::int8_t>(options.up == 'z' ? 2 : 1));
  append_binary(bytes, static_cast<std::uint64_t>(c.size()));
  append_binary(bytes, static_cast<std::uint64_t>(c.points.size()));
  char info[40] = "written by Osier";
  bytes.append(info, sizeof(info));
  bytes.reserve(bytes.size() + 4 * c.size() + 12 * c.points.size());
  for (std::size_t k = 0; k < c.size(); ++k) {
    const auto points = c.curve(k);
    if (points.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw InputError({{".bcc", "a curve has more points than the format can count", "choose another format"}});
    const auto n = static_cast<std::int32_t>(points.size());
    append_binary(bytes, c.closed[k] ? -n : n);
    for (const Vec3d& x : points)
      for (const double v : {x.x, x.y, x.z}) append_binary(bytes, static_cast<float>(v));
  }
  return bytes;
}

static std::unique_ptr<CurveWriter> make_bcc(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<FrameFiles>(target, options, ".bcc", encode_bcc);
}

const CurveOutput kBccFormat{.extension = ".bcc",
                             .help = "binary curve collection: yarns and curves, closed ones included",
                             .holds_closed = true,
                             .holds_names = false,
                             .holds_ids = false,
                             .holds_widths = false,
                             .holds_empty = true,
                             .holds_welds = false,
                             .single_precision = true,
                             .time = CurveOutput::Time::no,
                             .make = make_bcc};

}  // namespace osier
