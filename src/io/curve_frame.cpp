#include "io/curve_frame.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "math/quat.hpp"
#include "model/strands.hpp"

namespace osier {

static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

bool same_topology(const CurveSet& a, const CurveSet& b) { return a.start == b.start && a.closed == b.closed; }

SharedPoints shared_points(const CurveSet& curves) {
  std::vector<std::size_t> low(curves.points.size());
  std::iota(low.begin(), low.end(), std::size_t{0});
  for (const auto& [a, b] : curves.welds) low[b] = a;  // stars around their lowest points
  SharedPoints shared;
  for (std::size_t p = 0; p < low.size(); ++p) {
    if (low[p] == p) shared.point.push_back(p);
    shared.number.push_back(low[p] == p ? shared.point.size() - 1 : shared.number[low[p]]);
  }
  return shared;
}

std::vector<Vec3d> tangents(const CurveSet& curves) {
  std::vector<Vec3d> out(curves.points.size());
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const auto x = curves.curve(k);
    const std::size_t n = x.size(), first = curves.start[k];
    const bool closed = curves.closed[k] && n > 2;
    const auto edge = [&](std::size_t i) { return normalized(x[(i + 1) % n] - x[i]); };
    for (std::size_t i = 0; i < n && n > 1; ++i) {
      Vec3d t{};
      if (closed || i > 0) t += edge((i + n - 1) % n);
      if (closed || i + 1 < n) t += edge(i);
      out[first + i] = normalized(t);
    }
    // Zero where points coincide or the curve turns back on itself: filled from behind, then from ahead.
    const auto fill = [&](Vec3d& last, Vec3d& here) { (norm2(here) > 0.5 ? last : here) = norm2(here) > 0.5 ? here : last; };
    Vec3d last{};
    for (std::size_t i = 0; i < n; ++i) fill(last, out[first + i]);
    last = {0, 0, 1};
    for (std::size_t i = n; i-- > 0;) fill(last, out[first + i]);
  }
  return out;
}

std::vector<Vec3d> untwisted_normals(const CurveSet& curves) {
  const std::vector<Vec3d> tangent = tangents(curves);
  std::vector<Vec3d> out(tangent.size());
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::size_t first = curves.start[k], n = curves.start[k + 1] - first;
    if (n == 0) continue;
    const Vec3d t0 = tangent[first];
    const Vec3d side = std::abs(t0.y) < 0.9 ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0};
    out[first] = normalized(side - dot(side, t0) * t0);
    const auto carried = [&](const Vec3d& normal, const Vec3d& from, const Vec3d& to) {
      const Vec3d moved = rotate(rotation_between(from, to), normal);
      return normalized(moved - dot(moved, to) * to);
    };
    for (std::size_t i = 1; i < n; ++i) out[first + i] = carried(out[first + i - 1], tangent[first + i - 1], tangent[first + i]);
    if (!curves.closed[k] || n < 3) continue;
    const Vec3d back = carried(out[first + n - 1], tangent[first + n - 1], t0);
    const double angle = std::atan2(dot(cross(back, out[first]), t0), dot(back, out[first]));
    for (std::size_t i = 0; i < n; ++i)
      out[first + i] =
          rotate(axis_angle(tangent[first + i], angle * static_cast<double>(i) / static_cast<double>(n)), out[first + i]);
  }
  return out;
}

RodCurves::RodCurves(const Model& model) : vertex_radius_(model.vertex_radius) {
  const std::vector<Index> rod = rod_of_segments(model);
  const std::vector<std::uint8_t> all(model.segment_vertices.size(), 1);
  for (Strand& strand : find_strands(model, all, rod)) {
    const Index first = strand.segments.front(), r = rod[first];
    std::vector<Index> vertices = strand.vertices(model);
    if (strand.closed) vertices.pop_back();
    chains_.push_back({r < 0 ? fmt::format("segment {}", first) : model.rods[r].name,
                       r < 0 ? static_cast<std::int64_t>(model.rods.size()) + first : r, std::move(vertices),
                       std::move(strand.segments), strand.closed});
  }
  std::stable_sort(chains_.begin(), chains_.end(), [](const Chain& a, const Chain& b) { return a.id < b.id; });
  for (const double limit : model.segment_strain_limit) may_break_.push_back(std::isfinite(limit) ? 1 : 0);
  may_break_.resize(model.segment_vertices.size(), 0);
}

void RodCurves::add_piece(CurveFrame& out, const Frame& frame, const Chain& chain, std::size_t first, std::size_t count,
                          bool closed, bool collapsed) const {
  const std::size_t n = chain.vertices.size(), segments = chain.segments.size();
  const std::size_t points = closed ? count : count + 1;
  const auto d1 = [&](std::size_t i) {
    return rotate(frame.segment_frame[static_cast<std::size_t>(chain.segments[i % segments])], Vec3d{1, 0, 0});
  };
  for (std::size_t i = 0; i < points; ++i) {
    const auto v = static_cast<std::size_t>(chain.vertices[(first + (collapsed ? 0 : i)) % n]);
    out.curves.points.push_back(frame.vertex_position[v]);
    out.curves.widths.push_back(collapsed ? 0 : 2 * vertex_radius_[v]);
    out.velocities.push_back(v < frame.vertex_velocity.size() ? frame.vertex_velocity[v] : Vec3d{});
    Vec3d normal{};
    if (segments > 0) {
      const std::size_t at = first + i;
      if (closed || i > 0) normal += d1(at + segments - 1);
      if ((closed || i < count) && count > 0) normal += d1(at);
    }
    normal = normalized(normal);
    out.normals.push_back(norm2(normal) > 0.5 ? normal : segments > 0 ? d1(first + std::min(i, segments - 1)) : Vec3d{1, 0, 0});
  }
  out.curves.start.push_back(out.curves.points.size());
  out.curves.closed.push_back(closed ? 1 : 0);
  out.curves.names.push_back(chain.name);
  out.curves.ids.push_back(chain.id);
}

/// Joins the curve that was added last to those before, where it shares vertices with them.
void RodCurves::weld_last(CurveFrame& out, const Chain& chain, std::size_t first, Seen& seen) const {
  const std::size_t n = chain.vertices.size(), begin = out.curves.start[out.curves.start.size() - 2];
  for (std::size_t p = begin; p < out.curves.points.size(); ++p) {
    std::size_t& there = seen[static_cast<std::size_t>(chain.vertices[(first + p - begin) % n])];
    if (there == kNobody) there = p;
    else out.curves.welds.push_back({there, p});
  }
}

/// `is_cut(segment)` says where the chain is interrupted; a cut segment is left out, or kept as a curve of its own.
template <class Cut>
void RodCurves::add_pieces(CurveFrame& out, const Frame& frame, const Chain& chain, Cut is_cut, bool keep_cut, Seen& seen) const {
  const std::size_t segments = chain.segments.size();
  const auto cut = [&](std::size_t i) { return is_cut(static_cast<std::size_t>(chain.segments[i % segments])); };
  std::size_t begin = 0;
  if (chain.closed) {
    std::size_t at = 0;
    while (at < segments && !cut(at)) ++at;
    if (at == segments) {
      add_piece(out, frame, chain, 0, segments, true, false);
      return weld_last(out, chain, 0, seen);
    }
    begin = at;  // start with the cut, so that the piece across the seam stays whole
  }
  for (std::size_t i = begin; i < begin + segments;) {
    if (cut(i)) {
      const bool broken = !frame.segment_alive[static_cast<std::size_t>(chain.segments[i % segments])];
      if (keep_cut) add_piece(out, frame, chain, i, 1, false, broken);
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < begin + segments && !cut(end)) ++end;
    add_piece(out, frame, chain, i, end - i, false, false);
    weld_last(out, chain, i, seen);
    i = end;
  }
}

CurveFrame RodCurves::curves_of(const Frame& frame, bool constant) const {
  CurveFrame out{.index = frame.index, .time = frame.time, .curves = {}, .normals = {}, .velocities = {}};
  out.obstacle_points.assign(frame.obstacle_points.begin(), frame.obstacle_points.end());
  out.contacts.assign(frame.contacts.begin(), frame.contacts.end());
  Seen seen(vertex_radius_.size(), kNobody);
  for (const Chain& chain : chains_)
    add_pieces(
        out, frame, chain, [&](std::size_t s) { return constant ? may_break_[s] != 0 : !frame.segment_alive[s]; }, constant,
        seen);
  return out;
}

std::vector<std::pair<std::int64_t, std::vector<Index>>> RodCurves::segments() const {
  std::vector<std::pair<std::int64_t, std::vector<Index>>> list;
  for (const Chain& chain : chains_) list.emplace_back(chain.id, chain.segments);
  return list;
}

CurveFrame RodCurves::split(const Frame& frame) const { return curves_of(frame, false); }
CurveFrame RodCurves::constant(const Frame& frame) const { return curves_of(frame, true); }

}  // namespace osier
