#include "io/edit_frames.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "io/curves/turn.hpp"
#include "math/polyline.hpp"
#include "osier/error.hpp"

namespace osier {

FrameEdits::FrameEdits(const CurveFrame& first, const CurveEdits& edits)
    : up_(edits.up.value_or(UpAxis::y)), scale_(edits.scale), points_(first.curves.points.size()) {
  Problems problems;
  if (edits.weld) problems.add("--weld", "the rods of a run are welded as in its scene", "leave it out");
  if (!(edits.scale > 0 && std::isfinite(edits.scale)))
    problems.add("--scale", fmt::format("{}", edits.scale), "use a positive number");
  if (edits.segments && edits.segment_length)
    problems.add("--segments", "comes together with --segment-length", "keep one of them");
  if (edits.segments && *edits.segments < 1) problems.add("--segments", fmt::format("{}", *edits.segments), "use 1 or more");
  if (edits.segment_length && !(*edits.segment_length > 0))
    problems.add("--segment-length", fmt::format("{} m", *edits.segment_length), "use a positive length");
  problems.throw_if_any();

  // Widths travel with the points through the editing of curves, so they can carry where each came from.
  CurveSet numbered = first.curves;
  numbered.widths.resize(numbered.points.size());
  std::iota(numbered.widths.begin(), numbered.widths.end(), 0.0);
  CurveEdits choice;
  choice.select = edits.select, choice.split_closed = edits.split_closed;
  shape_ = edit_curves(std::move(numbered), choice);
  for (const double from : shape_.widths) source_.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(from), 0});
  shape_.widths.clear();
  if (!edits.segments && !edits.segment_length) return;

  std::vector<Source> source;
  std::vector<std::size_t> start{0};
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    const auto own = std::span(source_).subspan(shape_.start[k], shape_.curve(k).size());
    const bool closed = shape_.closed[k] && own.size() > 2;
    std::vector<Vec3d> corners(shape_.curve(k).begin(), shape_.curve(k).end());
    if (closed) corners.push_back(corners.front());
    const double length = corners.size() > 1 ? polyline_length(corners) : 0;
    if (!(length > 0)) {
      source.insert(source.end(), own.begin(), own.end());
      start.push_back(source.size());
      continue;
    }
    const double wish = edits.segments ? *edits.segments : std::round(length / *edits.segment_length);
    const int segments = static_cast<int>(std::clamp(wish, closed ? 3.0 : 1.0, 1e7));
    if (static_cast<double>(source.size()) + segments > 1e8)
      throw InputError({{"--segment-length", "makes more than 1e8 points", "use a longer one"}});
    const std::vector<PlaceOnPolyline> places = equal_steps(corners, segments);
    for (std::size_t i = 0; i + (closed ? 1 : 0) < places.size(); ++i)
      source.push_back({own[places[i].i].a, own[(places[i].i + 1) % own.size()].a, places[i].t});
    start.push_back(source.size());
  }
  source_ = std::move(source);
  shape_.start = std::move(start);
}

CurveFrame FrameEdits::apply(const CurveFrame& frame) const {
  if (frame.curves.points.size() != points_) throw RunError("edits: a frame has other curves than the first");
  CurveFrame out{.index = frame.index, .time = frame.time, .curves = shape_, .normals = {}, .velocities = {}};
  const auto blend = [&](const std::vector<Vec3d>& values, const Source& s) {
    return (1 - s.t) * values[s.a] + s.t * values[s.b];
  };
  out.curves.points.clear();
  for (const Source& s : source_) {
    out.curves.points.push_back(scale_ * turned_to_y(blend(frame.curves.points, s), up_));
    if (!frame.curves.widths.empty())
      out.curves.widths.push_back(scale_ * ((1 - s.t) * frame.curves.widths[s.a] + s.t * frame.curves.widths[s.b]));
    if (!frame.normals.empty()) {
      const Vec3d d = normalized(blend(frame.normals, s));
      out.normals.push_back(turned_to_y(norm2(d) > 0.5 ? d : frame.normals[s.a], up_));
    }
    if (!frame.velocities.empty()) out.velocities.push_back(scale_ * turned_to_y(blend(frame.velocities, s), up_));
  }
  return out;
}

}  // namespace osier
