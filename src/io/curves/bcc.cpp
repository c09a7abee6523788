// .bcc, binary curve collection. 64 bytes of header: "BCC", 0x44 (4-byte integers and floats), "C0" (uniform Catmull-Rom) or
// "PL" (polyline), i8 dimensions, i8 up axis, u64 curves, u64 points, char[40] text. Then for each curve i32 n (negative: a
// closed loop of |n| points) and |n| points of three floats.
#include "io/curves/binary.hpp"
#include "io/curves/cubic.hpp"
#include "io/curves/registry.hpp"

namespace osier {

namespace {

constexpr std::size_t kHeader = 64;

struct BccHeader {
  bool cubic = false;
  UpAxis up = UpAxis::y;
  std::size_t curves = 0, points = 0;
};

BccHeader read_bcc_header(const CurveSource& source, BinaryCursor& in) {
  const std::string_view text = source.text();
  if (!text.starts_with("BCC")) source.fail_at_byte(0, "does not begin with BCC", "is this a .bcc file?");
  in.need(kHeader, "the header of 64 bytes");
  if (text[3] != 0x44) source.fail_at_byte(3, "has integers or floats of other than 4 bytes", "write it with 4-byte numbers");
  const std::string_view type = text.substr(4, 2);
  if (type != "C0" && type != "PL")
    source.fail_at_byte(4, "has an unknown type of curve", "write C0 (Catmull-Rom) or PL (lines)");
  const auto byte = [&](std::size_t at) -> int { return static_cast<unsigned char>(text[at]); };
  if (byte(6) != 3) source.fail_at_byte(6, fmt::format("has {} dimensions", byte(6)), "write 3");
  const int up = byte(7);
  if (up > 2) source.fail_at_byte(7, fmt::format("has up axis {}", up), "write 0 (x), 1 (y) or 2 (z)");
  in.skip(8, "the header");
  const auto curves = in.take<std::uint64_t>("the header"), points = in.take<std::uint64_t>("the header");
  in.skip(40, "the header");
  const std::size_t left = in.left();
  if (curves > left / 4 || points > (left - 4 * curves) / 12 || 4 * curves + 12 * points != left)
    source.fail_at_byte(
        8, fmt::format("announces {} curves with {} points, which do not fill the {} bytes that follow", curves, points, left),
        "it is cut off or damaged: write it anew");
  return {type == "C0", static_cast<UpAxis>(up), curves, points};
}

}  // namespace

CurveSet read_bcc(const CurveSource& source, const CurveReadOptions& options) {
  BinaryCursor in(source);
  const BccHeader header = read_bcc_header(source, in);
  CurveSet set;
  set.up = header.up;
  set.start.reserve(header.curves + 1);
  set.closed.reserve(header.curves);
  if (!header.cubic) set.points.reserve(header.points);
  std::vector<Vec3d> control;
  for (std::size_t k = 0; k < header.curves; ++k) {
    const std::size_t place = in.at();
    const auto signed_count = static_cast<std::int64_t>(in.take<std::int32_t>("a curve's number of points"));
    const bool closed = signed_count < 0;
    const auto count = static_cast<std::size_t>(closed ? -signed_count : signed_count);
    if (count > in.left() / 12)
      source.fail_at_byte(place, fmt::format("curve {} announces {} points, more than the file has", k, count),
                          "it is damaged: write it anew");
    control.clear();
    for (std::size_t i = 0; i < count; ++i) control.push_back(in.take_point());
    const CubicWrap wrap = closed ? CubicWrap::periodic : CubicWrap::pinned;
    if (header.cubic && cubic_spans(count, CubicBasis::catmull_rom, wrap) > 0)
      for (const CubicSample& s : sample_cubic(count, CubicBasis::catmull_rom, wrap, options.cubic_samples))
        set.points.push_back(s.of(control.data()));
    else set.points.insert(set.points.end(), control.begin(), control.end());
    set.closed.push_back(closed);
    set.start.push_back(set.points.size());
  }
  if (in.left() > 0)
    source.fail_at_byte(in.at(), fmt::format("{} bytes are left after the last curve", in.left()),
                        "it is damaged: write it anew");
  return set;
}

}  // namespace osier
