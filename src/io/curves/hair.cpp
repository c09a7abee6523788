// .hair. 128 bytes of header: "HAIR", u32 strands, u32 points, u32 bits (1 segments, 2 points, 4 thickness, 8 transparency,
// 16 colours), u32 default segments, f32 default thickness, f32 default transparency, f32[3] default colour, char[88] text. Then
// the arrays whose bits are set: u16 segments[strands], f32 points[3 n], thickness[n], transparency[n], colours[3 n].
#include "io/curves/binary.hpp"
#include "io/curves/registry.hpp"

namespace osier {

namespace {

enum HairBits : std::uint32_t { kSegments = 1, kPoints = 2, kThickness = 4, kTransparency = 8, kColours = 16 };

struct HairHeader {
  std::size_t strands = 0, points = 0;
  std::uint32_t bits = 0, segments = 0;
  double thickness = 0;
};

HairHeader read_hair_header(const CurveSource& source, BinaryCursor& in) {
  if (!source.text().starts_with("HAIR")) source.fail_at_byte(0, "does not begin with HAIR", "is this a .hair file?");
  in.need(128, "the header of 128 bytes");
  in.skip(4, "the header");
  HairHeader h;
  h.strands = in.take<std::uint32_t>("the header");
  h.points = in.take<std::uint32_t>("the header");
  h.bits = in.take<std::uint32_t>("the header");
  h.segments = in.take<std::uint32_t>("the header");
  h.thickness = in.take_float("the default thickness");
  in.skip(4 + 12 + 88, "the header");
  if (h.bits > 31) source.fail_at_byte(12, fmt::format("has unknown arrays (bits {:#x})", h.bits), "bits 0 to 4 are known");
  if (!(h.bits & kPoints) && h.points > 0) source.fail_at_byte(12, "has no array of points", "write one");
  const bool given = (h.bits & kSegments) != 0;
  std::size_t bytes = given ? 2 * h.strands : 0;  // the counts have 32 bits: no product overflows 64
  for (const auto& [bit, size] : {std::pair{kPoints, 12u}, {kThickness, 4u}, {kTransparency, 4u}, {kColours, 12u}})
    if (h.bits & bit) bytes += size * h.points;
  if (bytes != in.left())
    source.fail_at_byte(
        4, fmt::format("announces {} strands with {} points, {} bytes, but {} follow", h.strands, h.points, bytes, in.left()),
        "it is cut off or damaged: write it anew");
  // Before memory is taken for strands of which the file has no bytes of its own.
  if (!given && h.strands * (static_cast<std::size_t>(h.segments) + 1) != h.points)
    source.fail_at_byte(4, fmt::format("{} strands of {} segments do not have {} points", h.strands, h.segments, h.points),
                        "it is damaged: write it anew");
  return h;
}

}  // namespace

CurveSet read_hair(const CurveSource& source, const CurveReadOptions&) {
  BinaryCursor in(source);
  const HairHeader h = read_hair_header(source, in);
  CurveSet set;
  set.start.reserve(h.strands + 1);
  const std::size_t place = in.at();
  for (std::size_t k = 0; k < h.strands; ++k) {
    const std::size_t segments = h.bits & kSegments ? in.take<std::uint16_t>("the segments") : h.segments;
    set.start.push_back(set.start.back() + segments + 1);
  }
  if (set.start.back() != h.points)
    source.fail_at_byte(place, fmt::format("the strands have {} points in all, the header says {}", set.start.back(), h.points),
                        "it is damaged: write it anew");
  set.closed.assign(h.strands, 0);
  set.points.reserve(h.points);
  for (std::size_t i = 0; i < h.points; ++i) set.points.push_back(in.take_point());
  if (h.bits & kThickness) {
    set.widths.reserve(h.points);
    for (std::size_t i = 0; i < h.points; ++i) {
      const std::size_t at = in.at();
      set.widths.push_back(in.take_float("a thickness"));
      if (set.widths.back() < 0) source.fail_at_byte(at, "a thickness is negative", "use 0 or more");
    }
  } else if (h.thickness > 0) {
    set.widths.assign(h.points, h.thickness);
  } else if (h.thickness < 0) {
    source.fail_at_byte(20, "the default thickness is negative", "use 0 or more");
  }
  return set;
}

}  // namespace osier
