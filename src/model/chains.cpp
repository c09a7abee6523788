#include "model/chains.hpp"

namespace osier {

namespace {

struct SegmentJoints {
  Index before = -1, after = -1;  ///< joint from the segment before, to the segment after
  Index head = -1, tail = -1;     ///< to anchors at its two ends
  bool other = false;             ///< any more
};

SegmentJoints joints_of(const Model& m, Index s) {
  SegmentJoints found;
  const auto put = [&](Index& slot, Index joint) {
    if (slot >= 0) found.other = true;
    slot = joint;
  };
  for (Index e : m.frame_joints.of(s)) {
    const Index j = e / 2, partner = m.joint_frames[j][1 - e % 2];
    const auto [a, b] = m.joint_frames[j];
    if (m.is_anchor(partner)) {
      const Index at = m.anchor_vertex[partner - m.segment_count()];
      if (at == m.segment_vertices[s][0]) put(found.head, j);
      else if (at == m.segment_vertices[s][1]) put(found.tail, j);
      else found.other = true;
    } else if (a == s - 1 && b == s) {
      put(found.before, j);
    } else if (a == s && b == s + 1) {
      put(found.after, j);
    } else {
      found.other = true;
    }
  }
  return found;
}

/// The chain that starts with this vertex; `vertices` is 0 when there is none.
Chain chain_from(const Model& m, Index v) {
  const Chain none{0, 0, 0, 0, 0, 0};
  if (!m.vertex_alive[v] || m.vertex_segments.of(v).size() != 1 || m.vertex_segments.of(v)[0] % 2 != 0) return none;
  const Index s0 = m.vertex_segments.of(v)[0] / 2;
  Chain c{.vertices = 1, .first_vertex = v, .first_segment = s0, .first_joint = -1, .head_joint = -1, .tail_joint = -1};
  for (Index s = s0;; ++s) {
    if (s >= m.segment_count() || !m.segment_alive[s]) return none;
    const Index i = s - s0, far = m.segment_vertices[s][1];
    if (m.segment_vertices[s][0] != v + i || far != v + i + 1) return none;
    const SegmentJoints joints = joints_of(m, s);
    if (joints.other || (joints.head >= 0 && i > 0)) return none;
    if (i == 0) c.head_joint = joints.head;
    if (i == 0 && joints.before >= 0) return none;
    if (i == 1) c.first_joint = joints.before;
    if (i >= 1 && joints.before != (c.first_joint < 0 ? -1 : c.first_joint + i - 1)) return none;
    ++c.vertices;
    const auto at_far = m.vertex_segments.of(far);
    if (at_far.size() == 1) {
      if (joints.after >= 0) return none;
      c.tail_joint = joints.tail;
      return c;
    }
    if (at_far.size() != 2 || joints.tail >= 0) return none;
  }
}

}  // namespace

std::vector<Chain> find_chains(const Model& m) {
  std::vector<Chain> chains;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    const Chain c = chain_from(m, v);
    if (c.vertices == 0) continue;
    chains.push_back(c);
    v += c.vertices - 1;
  }
  return chains;
}

}  // namespace osier
