#include "solvers/direct/tree.hpp"

#include <deque>

namespace osier::direct {

namespace {

/// Vertices in the order in which they should become roots: held, ends, any. Clamped ones are roots already.
std::vector<Index> root_candidates(const Model& m, const Control& c) {
  std::vector<Index> order;
  const auto degree = [&](Index v) { return m.vertex_segments.of(v).size(); };
  const auto take = [&](auto&& wanted) {
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (m.vertex_alive[v] && wanted(v)) order.push_back(v);
  };
  take([&](Index v) { return c.vertex_fixed[v] && degree(v) == 1; });
  take([&](Index v) { return degree(v) == 1; });
  take([&](Index v) { return c.vertex_fixed[v] != 0; });
  take([](Index) { return true; });
  return order;
}

}  // namespace

Tree build_tree(const Model& m, const Control& c) {
  Tree t;
  t.node_of_segment.assign(m.segment_count(), -1);
  std::vector<Index> arrived(m.vertex_count(), -2);  // node that reached a vertex; -1: root; -2: not yet
  std::vector<std::uint8_t> joint_used(m.joint_count(), 0);
  std::deque<Index> queue;
  const auto plant = [&](Index v) {
    if (arrived[v] != -2 || !m.vertex_alive[v]) return;
    arrived[v] = -1;
    t.roots.push_back(v);
    queue.push_back(v);
  };
  // Nothing passes through a clamp: what hangs on it on either side is a tree of its own.
  for (Index v : m.anchor_vertex)
    if (c.vertex_fixed[v]) plant(v);
  for (Index root : root_candidates(m, c)) {
    if (queue.empty()) plant(root);
    while (!queue.empty()) {
      const Index v = queue.front();
      queue.pop_front();
      for (Index e : m.vertex_segments.of(v)) {
        const Index s = e / 2;
        if (t.node_of_segment[s] >= 0) continue;
        const Index far = m.segment_vertices[s][1 - e % 2], n = static_cast<Index>(t.nodes.size());
        TreeNode node{.segment = s,
                      .near_vertex = v,
                      .far_vertex = far,
                      .sign = e % 2 == 0 ? 1.0 : -1.0,
                      .parent = arrived[v],
                      .joint = -1,
                      .anchored = false};
        const Index parent_segment = node.parent >= 0 ? t.nodes[node.parent].segment : -1;
        for (Index f : m.frame_joints.of(s)) {
          const Index j = f / 2, other = m.joint_frames[j][1 - f % 2];
          const bool anchor_here = m.is_anchor(other) && m.anchor_vertex[other - m.segment_count()] == v;
          if (node.joint >= 0 || joint_used[j] || !(anchor_here || other == parent_segment)) continue;
          node.joint = j;
          node.anchored = anchor_here;
          joint_used[j] = 1;
        }
        if (arrived[far] == -2) {
          arrived[far] = n;
          queue.push_back(far);
        } else if (!c.vertex_fixed[far]) {
          t.closing_segments.push_back({n, far});
          node.far_vertex = -1;
        }
        t.node_of_segment[s] = n;
        t.nodes.push_back(node);
      }
    }
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j] || joint_used[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    if (m.is_anchor(a) || m.is_anchor(b)) t.local_joints.emplace_back(t.node_of_segment[m.is_anchor(a) ? b : a], j);
    else t.closing_joints.push_back(j);
  }
  return t;
}

}  // namespace osier::direct
