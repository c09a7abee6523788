#include "io/edit_frames.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "io/curves/point_groups.hpp"
#include "io/curves/turn.hpp"
#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier {

FrameEdits::FrameEdits(const CurveFrame& first, const CurveEdits& edits)
    : up_(edits.up.value_or(UpAxis::y)), scale_(edits.scale), points_(first.curves.points.size()) {
  Problems problems;
  if (edits.weld) problems.add("--weld", "the rods of a run are welded as in its scene", "leave it out");
  if (!edits.transform.empty()) problems.add("--transform", "is for curve files", "use --scale and --up, or convert twice");
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

  // Lengths are those of the first frame, after `scale`.
  std::optional<double> length = edits.segment_length;
  if (length) *length /= edits.scale;
  Resampling plan = resampling(shape_, length, edits.segments, problems);
  problems.throw_if_any();
  for (Resampling::Place& place : plan.places) place.a = source_[place.a].a, place.b = source_[place.b].a;
  source_ = std::move(plan.places);
  shape_.start = std::move(plan.start);
  shape_.welds = renumbered(shape_.welds, [&](std::size_t p) { return plan.now[p]; });
}

CurveFrame FrameEdits::apply(const CurveFrame& frame) const {
  if (frame.curves.points.size() != points_) throw RunError("edits: a frame has other curves than the first");
  CurveFrame out{.index = frame.index, .time = frame.time, .curves = shape_, .normals = {}, .velocities = {}};
  const auto blend = [&](const std::vector<Vec3d>& values, const Resampling::Place& s) {
    return (1 - s.t) * values[s.a] + s.t * values[s.b];
  };
  out.curves.points.clear();
  for (const Resampling::Place& s : source_) {
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
