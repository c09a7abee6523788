#include "solvers/direct/tree.hpp"

#include <algorithm>
#include <deque>

namespace osier::direct {

namespace {

enum class Search { breadth_first, depth_first };

class Builder {
 public:
  Builder(const Model& m, const Control& c, Search search)
      : m_(m),
        c_(c),
        search_(search),
        clamped_(m.vertex_count(), 0),
        arrived_(m.vertex_count(), kNotYet),
        joint_used_(m.joint_count(), 0) {
    for (Index v : m.anchor_vertex) clamped_[v] = c.vertex_fixed[v];
  }
  Tree build();

 private:
  static constexpr Index kRoot = -1, kNotYet = -2;
  Index degree(Index v) const { return static_cast<Index>(m_.vertex_segments.of(v).size()); }
  std::vector<Index> root_candidates() const;
  void grow(Index root);
  void add_node(Index s, Index near_end);
  Index joints_at(Index s, Index v) const;
  void add_rows();
  void renumber();

  const Model& m_;
  const Control& c_;
  Search search_;
  Tree t_;
  std::vector<std::uint8_t> clamped_;  ///< held vertices with an anchor: no joint leads through them
  std::vector<Index> arrived_;         ///< node that reached a vertex, or kRoot, or kNotYet
  std::vector<std::uint8_t> joint_used_;
  struct HalfEdge {
    Index segment, near_end;
  };
  std::deque<HalfEdge> frontier_;
  struct Closing {
    Index node, vertex;
  };
  std::vector<Closing> closing_;
};

/// Vertices in the order in which they should become roots: clamped, held ends, ends, held, any.
std::vector<Index> Builder::root_candidates() const {
  std::vector<Index> order;
  const auto take = [&](auto&& wanted) {
    for (Index v = 0; v < m_.vertex_count(); ++v)
      if (m_.vertex_alive[v] && wanted(v)) order.push_back(v);
  };
  take([&](Index v) { return clamped_[v] != 0; });
  take([&](Index v) { return c_.vertex_fixed[v] && degree(v) == 1; });
  take([&](Index v) { return degree(v) == 1; });
  take([&](Index v) { return c_.vertex_fixed[v] != 0; });
  take([](Index) { return true; });
  return order;
}

/// Joints of a segment at one of its ends.
Index Builder::joints_at(Index s, Index v) const {
  Index count = 0;
  for (Index f : m_.frame_joints.of(s)) {
    const Index other = m_.joint_frames[f / 2][1 - f % 2];
    if (m_.is_anchor(other)) continue;
    const auto [a, b] = m_.segment_vertices[other];
    count += a == v || b == v;
  }
  return count;
}

void Builder::add_node(Index s, Index near_end) {
  const auto [a, b] = m_.segment_vertices[s];
  Index far_end = near_end == a ? b : a;
  const auto closes = [&](Index v) { return !c_.vertex_fixed[v] && arrived_[v] != kNotYet; };
  // A loop is cut where fewer joints have to be closed with it.
  if (closes(far_end) && closes(near_end) && joints_at(s, far_end) > joints_at(s, near_end)) std::swap(near_end, far_end);
  const auto n = static_cast<Index>(t_.nodes.size());
  TreeNode node{.segment = s,
                .near_vertex = near_end,
                .far_vertex = far_end,
                .sign = near_end == a ? 1.0 : -1.0,
                .parent = clamped_[near_end] ? kRoot : arrived_[near_end],
                .root = -1,
                .joint = -1};
  const Index parent_segment = node.parent >= 0 ? t_.nodes[node.parent].segment : -1;
  for (Index f : m_.frame_joints.of(s)) {
    const Index j = f / 2, other = m_.joint_frames[j][1 - f % 2];
    const bool anchor_here = m_.is_anchor(other) && m_.anchor_vertex[other - m_.segment_count()] == near_end;
    if (node.joint >= 0 || joint_used_[j] || !(node.parent < 0 ? anchor_here : other == parent_segment)) continue;
    node.joint = j;
    joint_used_[j] = 1;
  }
  if (closes(far_end)) {
    closing_.push_back({n, far_end});
    node.far_vertex = -1;
  } else if (!clamped_[far_end] && arrived_[far_end] == kNotYet) {
    arrived_[far_end] = n;
    for (Index e : m_.vertex_segments.of(far_end)) frontier_.push_back({e / 2, far_end});
  }
  t_.node_of_segment[s] = n;
  t_.nodes.push_back(node);
}

void Builder::grow(Index root) {
  const auto segments = m_.vertex_segments.of(root);
  if (!clamped_[root] && arrived_[root] != kNotYet) return;
  const auto taken = [&](Index e) { return t_.node_of_segment[e / 2] >= 0; };
  if (!segments.empty() && std::all_of(segments.begin(), segments.end(), taken)) return;
  if (!clamped_[root]) arrived_[root] = kRoot;
  t_.roots.push_back(root);
  for (Index e : segments) frontier_.push_back({e / 2, root});
  while (!frontier_.empty()) {
    const HalfEdge next = search_ == Search::breadth_first ? frontier_.front() : frontier_.back();
    if (search_ == Search::breadth_first) frontier_.pop_front();
    else frontier_.pop_back();
    if (t_.node_of_segment[next.segment] < 0) add_node(next.segment, next.near_end);
  }
}

void Builder::add_rows() {
  std::vector<Index> root_of_vertex(m_.vertex_count(), -1);
  for (std::size_t r = 0; r < t_.roots.size(); ++r) root_of_vertex[t_.roots[r]] = static_cast<Index>(r);
  for (TreeNode& n : t_.nodes) n.root = n.parent < 0 ? root_of_vertex[n.near_vertex] : -1;
  using Kind = TreeRow::Kind;
  const auto add = [&](TreeRow row, int first) {
    for (int axis = first; axis < 3; ++axis) {
      row.axis = static_cast<std::uint8_t>(axis);
      t_.rows.push_back(row);
    }
  };
  for (std::size_t i = 0; i < t_.nodes.size(); ++i) {
    const TreeNode& n = t_.nodes[i];
    const auto node = static_cast<Index>(i);
    if (n.far_vertex >= 0 && c_.vertex_fixed[n.far_vertex]) add({.kind = Kind::hold_vertex, .axis = 0, .node = node}, 0);
    if (c_.frame_control[n.segment] == FrameControl::fixed) add({.kind = Kind::hold_frame, .axis = 0, .node = node}, 0);
    if (c_.frame_control[n.segment] == FrameControl::hinged) add({.kind = Kind::hinge_frame, .axis = 0, .node = node}, 1);
  }
  for (const Closing& closing : closing_)
    add({.kind = Kind::close_segment,
         .axis = 0,
         .node = closing.node,
         .other = std::max(arrived_[closing.vertex], -1),
         .root = arrived_[closing.vertex] == kRoot ? root_of_vertex[closing.vertex] : -1},
        0);
  for (Index j = 0; j < m_.joint_count(); ++j) {
    if (!m_.joint_alive[j] || joint_used_[j]) continue;
    const auto [a, b] = m_.joint_frames[j];
    if (m_.is_anchor(a) || m_.is_anchor(b)) t_.local_joints.emplace_back(t_.node_of_segment[m_.is_anchor(a) ? b : a], j);
    else
      add({.kind = Kind::close_joint,
           .axis = 0,
           .node = t_.node_of_segment[b],
           .other = t_.node_of_segment[a],
           .root = -1,
           .joint = j},
          0);
  }
}

/// In preorder, so that the recursion walks through memory.
void Builder::renumber() {
  const std::size_t n = t_.nodes.size();
  std::vector<Index> size(n, 1), place(n);
  for (std::size_t i = n; i-- > 0;)
    if (t_.nodes[i].parent >= 0) size[t_.nodes[i].parent] += size[i];
  std::vector<Index> next(n);  // where the next child's subtree begins
  Index next_top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Index& at = t_.nodes[i].parent >= 0 ? next[t_.nodes[i].parent] : next_top;
    place[i] = at;
    at += size[i];
    next[i] = place[i] + 1;
  }
  std::vector<TreeNode> nodes(n);
  for (std::size_t i = 0; i < n; ++i) {
    nodes[place[i]] = t_.nodes[i];
    if (t_.nodes[i].parent >= 0) nodes[place[i]].parent = place[t_.nodes[i].parent];
  }
  t_.nodes = std::move(nodes);
  for (Index& i : t_.node_of_segment)
    if (i >= 0) i = place[i];
  for (Index& i : arrived_)
    if (i >= 0) i = place[i];
  for (Closing& closing : closing_) closing.node = place[closing.node];
}

Tree Builder::build() {
  t_.node_of_segment.assign(m_.segment_count(), -1);
  for (Index root : root_candidates()) grow(root);
  renumber();
  add_rows();
  return std::move(t_);
}

}  // namespace

std::vector<int> Tree::parents() const {
  std::vector<int> list(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    list[i] = nodes[i].parent >= 0 ? nodes[i].parent : static_cast<int>(nodes.size()) + nodes[i].root;
  return list;
}

std::vector<RowEnds> Tree::row_ends() const {
  std::vector<RowEnds> ends(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    ends[i] = {{rows[i].node, rows[i].root >= 0 ? static_cast<int>(nodes.size()) + rows[i].root : rows[i].other}};
  return ends;
}

TreePlan Tree::plan() const {
  TreePlan plan;
  plan.build(parents(), static_cast<int>(roots.size()), row_ends(), {});
  return plan;
}

Tree build_tree(const Model& m, const Control& c) {
  Tree best = Builder(m, c, Search::breadth_first).build();
  if (std::none_of(best.rows.begin(), best.rows.end(), [](const TreeRow& r) { return r.kind == TreeRow::Kind::close_segment; }))
    return best;
  Tree other = Builder(m, c, Search::depth_first).build();
  return other.plan().work() < best.plan().work() ? other : best;
}

}  // namespace osier::direct
