#include "model/parts.hpp"

#include <algorithm>

namespace osier {

namespace {

Index first_segment(const Model& m, Index v) {
  const auto entries = m.vertex_segments.of(v);  // living ones
  return entries.empty() ? -1 : entries.front() / 2;
}

}  // namespace

Parts find_parts(const Model& m, std::span<const Spring> springs) {
  std::vector<Index> leader(static_cast<std::size_t>(m.segment_count()));
  for (Index s = 0; s < m.segment_count(); ++s) leader[s] = s;
  const auto find = [&](Index s) {
    while (leader[s] != s) s = leader[s] = leader[leader[s]];
    return s;
  };
  const auto join = [&](Index a, Index b) {
    a = find(a), b = find(b);
    leader[std::max(a, b)] = std::min(a, b);
  };
  for (Index v = 0; v < m.vertex_count(); ++v)
    for (const Index e : m.vertex_segments.of(v)) join(first_segment(m, v), e / 2);
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    if (m.joint_alive[j] && !m.is_anchor(a) && !m.is_anchor(b)) join(a, b);
  }
  for (const Spring& s : springs) {
    if (s.b < 0) continue;
    const Index a = first_segment(m, s.a), b = first_segment(m, s.b);
    if (a >= 0 && b >= 0) join(a, b);
  }
  Parts parts{.of = std::vector<Index>(leader.size(), -1)};
  for (Index s = 0; s < m.segment_count(); ++s) {
    const Index first = find(s);
    parts.of[s] = first == s ? parts.count++ : parts.of[first];
  }
  return parts;
}

std::vector<std::uint8_t> segments_with_vertex_terms(const Model& m, const Control& c) {
  std::vector<std::uint8_t> has(static_cast<std::size_t>(m.segment_count()), 0);
  if (!c.has_vertex_terms()) return has;
  const Parts parts = find_parts(m, c.springs);
  std::vector<std::uint8_t> part_has(static_cast<std::size_t>(parts.count), 0);
  const auto mark = [&](Index v) {
    if (v < 0) return;
    if (const Index s = first_segment(m, v); s >= 0) part_has[parts.of[s]] = 1;
  };
  for (const HeldAxes& h : c.held_axes) mark(h.vertex);
  for (const Spring& s : c.springs) mark(s.a), mark(s.b);
  for (Index s = 0; s < m.segment_count(); ++s) has[s] = m.segment_alive[s] && part_has[parts.of[s]];
  return has;
}

}  // namespace osier
