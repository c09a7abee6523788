#include "model/subset.hpp"

#include <algorithm>

namespace osier {

bool Subset::has_joint(const Model& m, Index j) const {
  const auto inside = [&](Index frame) { return m.is_anchor(frame) || has_segment(m, frame); };
  return m.joint_alive[j] && std::all_of(m.joint_frames[j].begin(), m.joint_frames[j].end(), inside);
}

bool Subset::has_vertex(const Model& m, Index v) const {
  if (is_whole()) return m.vertex_alive[v] != 0;
  const auto entries = m.vertex_segments.of(v);
  return std::any_of(entries.begin(), entries.end(), [&](Index e) { return has_segment(m, e / 2); });
}

Subset whole_of(const Model& m) {
  Subset s;
  s.vertices = IndexList(m.vertex_count());
  s.segments = IndexList(m.segment_count());
  s.joints = IndexList(m.joint_count());
  s.frames = IndexList(m.frame_count());
  return s;
}

Subset subset_of(const Model& m, std::vector<std::uint8_t> wanted) {
  Subset s;
  s.segment_in = std::move(wanted);
  std::vector<Index> vertices, segments, joints, frames;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (s.has_vertex(m, v)) vertices.push_back(v);
  for (Index i = 0; i < m.segment_count(); ++i)
    if (s.has_segment(m, i)) segments.push_back(i);
  for (Index j = 0; j < m.joint_count(); ++j)
    if (s.has_joint(m, j)) joints.push_back(j);
  frames = segments;
  for (Index f = m.segment_count(); f < m.frame_count(); ++f) frames.push_back(f);
  for (std::vector<Index>* list : {&vertices, &segments, &joints, &frames}) list->shrink_to_fit();
  s.vertices = IndexList(std::move(vertices));
  s.segments = IndexList(std::move(segments));
  s.joints = IndexList(std::move(joints));
  s.frames = IndexList(std::move(frames));
  return s;
}

}  // namespace osier
