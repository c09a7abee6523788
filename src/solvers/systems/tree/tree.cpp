#include "solvers/systems/tree/tree.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "model/breadth_first.hpp"

namespace osier::systems {

namespace {

enum class Search { breadth_first, depth_first };

class Builder {
 public:
  /// `first_root`: the vertex to begin with, or -1.
  Builder(const Model& m, const Control& c, const Subset& subset, Search search, Index first_root = -1)
      : m_(m),
        c_(c),
        subset_(subset),
        search_(search),
        first_root_(first_root),
        clamped_(m.vertex_count(), 0),
        arrived_(m.vertex_count(), kNotYet),
        joint_used_(m.joint_count(), 0) {
    for (Index v : m.anchor_vertex) clamped_[v] = c.vertex_fixed[v];
  }
  Tree build();

 private:
  static constexpr Index kRoot = -1, kNotYet = -2;
  bool has(Index s) const { return subset_.has_segment(m_, s); }
  Index degree(Index v) const {
    const auto entries = m_.vertex_segments.of(v);
    return static_cast<Index>(std::count_if(entries.begin(), entries.end(), [&](Index e) { return has(e / 2); }));
  }
  std::vector<Index> root_candidates() const;
  Tree finish();
  bool plant(Index root);
  void spread();
  void add_node(Index s, Index near_end);
  Index joints_at(Index s, Index v) const;
  bool joined(Index s, Index t) const;
  void add_rows();
  void renumber();

  const Model& m_;
  const Control& c_;
  const Subset& subset_;
  Search search_;
  Index first_root_;
  Tree t_;
  std::vector<Index> node_of_segment_;  ///< -1 for dead segments
  std::vector<std::uint8_t> clamped_;   ///< held vertices with an anchor: no joint leads through them
  std::vector<Index> arrived_;          ///< node that reached a vertex, or kRoot, or kNotYet
  std::vector<std::uint8_t> joint_used_;
  struct HalfEdge {
    Index segment, near_end;
  };
  std::deque<HalfEdge> frontier_, later_;
  struct Closing {
    Index node, vertex;
  };
  std::vector<Closing> closing_;
};

/// Vertices in the order in which they should become roots: the one that is asked for, clamped, held ends, ends, held, any.
std::vector<Index> Builder::root_candidates() const {
  std::vector<Index> order;
  const auto take = [&](auto&& wanted) {
    for (std::size_t i = 0; i < subset_.vertices.size(); ++i)
      if (const Index v = subset_.vertices[i]; m_.vertex_alive[v] && wanted(v)) order.push_back(v);
  };
  if (first_root_ >= 0) order.push_back(first_root_);
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

bool Builder::joined(Index s, Index t) const {
  const auto joints = m_.frame_joints.of(s);
  return std::any_of(joints.begin(), joints.end(), [&](Index f) { return m_.joint_frames[f / 2][1 - f % 2] == t; });
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
                .parent = clamped_[near_end] ? kRoot : arrived_[near_end],
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
    for (Index e : m_.vertex_segments.of(far_end))
      if (has(e / 2)) (joined(e / 2, s) ? frontier_ : later_).push_back({e / 2, far_end});
  }
  node_of_segment_[s] = n;
  t_.nodes.push_back(node);
}

/// Returns false if no element is left.
bool Builder::plant(Index root) {
  const auto segments = m_.vertex_segments.of(root);
  if (!clamped_[root] && arrived_[root] != kNotYet) return false;
  const auto taken = [&](Index e) { return node_of_segment_[e / 2] >= 0 || !has(e / 2); };
  if (!segments.empty() && std::all_of(segments.begin(), segments.end(), taken)) return false;
  if (!clamped_[root]) arrived_[root] = kRoot;
  t_.roots.push_back(root);
  for (Index e : segments)
    if (has(e / 2)) frontier_.push_back({e / 2, root});
  return true;
}

/// Grows along joints first: a frame should be connected to its parent by a joint, and not by constraint rows alone.
void Builder::spread() {
  while (!frontier_.empty() || !later_.empty()) {
    std::deque<HalfEdge>& from = frontier_.empty() ? later_ : frontier_;
    const HalfEdge next = search_ == Search::breadth_first ? from.front() : from.back();
    if (search_ == Search::breadth_first) from.pop_front();
    else from.pop_back();
    if (node_of_segment_[next.segment] < 0) add_node(next.segment, next.near_end);
  }
}

void Builder::add_rows() {
  std::vector<Index> root_of_vertex(m_.vertex_count(), -1);
  for (std::size_t r = 0; r < t_.roots.size(); ++r) root_of_vertex[t_.roots[r]] = static_cast<Index>(r);
  const auto node_count = static_cast<Index>(t_.nodes.size());
  for (TreeNode& n : t_.nodes)
    if (n.parent < 0) n.parent = node_count + root_of_vertex[n.near_vertex];
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
         .other = arrived_[closing.vertex] == kRoot ? node_count + root_of_vertex[closing.vertex] : arrived_[closing.vertex]},
        0);
  for (std::size_t i = 0; i < subset_.joints.size(); ++i) {
    const Index j = subset_.joints[i];
    if (joint_used_[j] || !subset_.has_joint(m_, j)) continue;
    const auto [a, b] = m_.joint_frames[j];
    if (m_.is_anchor(a) || m_.is_anchor(b)) t_.local_joints.emplace_back(node_of_segment_[m_.is_anchor(a) ? b : a], j);
    else add({.kind = Kind::close_joint, .axis = 0, .node = node_of_segment_[b], .other = node_of_segment_[a], .joint = j}, 0);
  }
}

/// Sorts nodes in preorder, so that the recursion walks through memory in order.
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
  for (Index& i : node_of_segment_)
    if (i >= 0) i = place[i];
  for (Index& i : arrived_)
    if (i >= 0) i = place[i];
  for (Closing& closing : closing_) closing.node = place[closing.node];
}

Tree Builder::build() {
  node_of_segment_.assign(m_.segment_count(), -1);
  for (Index root : root_candidates())
    if (plant(root)) spread();
  return finish();
}

Tree Builder::finish() {
  renumber();
  add_rows();
  std::sort(t_.local_joints.begin(), t_.local_joints.end());
  t_.nodes.shrink_to_fit(), t_.rows.shrink_to_fit(), t_.roots.shrink_to_fit();
  return std::move(t_);
}

}  // namespace

std::vector<int> Tree::parents() const {
  std::vector<int> list(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) list[i] = nodes[i].parent;
  return list;
}

std::vector<RowEnds> Tree::row_ends() const {
  std::vector<RowEnds> ends(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ends[i] = {{rows[i].node, rows[i].other}};
  return ends;
}

std::span<const std::pair<Index, Index>> Tree::local_joints_of(std::size_t node) const {
  if (local_joints.empty()) return {};
  const auto before = [](const std::pair<Index, Index>& joint, Index n) { return joint.first < n; };
  const auto n = static_cast<Index>(node);
  const auto begin = std::lower_bound(local_joints.begin(), local_joints.end(), n, before);
  return {begin, std::lower_bound(begin, local_joints.end(), n + 1, before)};
}

std::size_t Tree::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(nodes) + of(roots) + of(rows) + of(local_joints);
}

TreePlan Tree::plan() const {
  TreePlan plan;
  plan.build(parents(), static_cast<int>(roots.size()), row_ends(), {});
  return plan;
}

namespace {

/// A vertex in the middle of the largest part of the model: halfway along the longest of the shortest ways, about.
Index middle_vertex(const Model& m, const Subset& subset) {
  BreadthFirst search(m);
  std::vector<std::uint8_t> seen(m.vertex_count(), 0);
  Index start = -1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < subset.vertices.size(); ++i) {
    const Index v = subset.vertices[i];
    if (seen[v] || !m.vertex_alive[v]) continue;
    const std::span<const Index> part = search.search(v);
    for (Index w : part) seen[w] = 1;
    if (part.size() > most) most = part.size(), start = v;
  }
  if (start < 0) return -1;
  const std::span<const Index> part = search.search_from_end(start);
  Index middle = part.back();
  for (Index steps = search.depth(middle) / 2; steps > 0; --steps) middle = search.from(middle);
  return middle;
}

}  // namespace

bool Tree::closes_loops() const {
  return std::any_of(rows.begin(), rows.end(), [](const TreeRow& r) { return r.kind == TreeRow::Kind::close_segment; });
}

bool Tree::has_more_columns_than(double count) const {
  const std::size_t n = nodes.size();
  std::vector<int> depth(n + roots.size(), 0);
  const auto parent = [&](std::size_t i) { return static_cast<std::size_t>(nodes[i].parent); };
  for (std::size_t i = 0; i < n; ++i) depth[i] = depth[parent(i)] + 1;
  double open = 0;
  for (const TreeRow& row : rows) {
    if (row.other < 0) continue;
    auto a = static_cast<std::size_t>(row.node), b = static_cast<std::size_t>(row.other);
    while (a != b && open <= count) {
      std::size_t& lower = depth[a] >= depth[b] ? a : b;
      if (lower >= n) break;  // another tree
      lower = parent(lower), ++open;
    }
    if (open > count) return true;
  }
  return false;
}

Tree first_tree(const Model& m, const Control& c, const Subset& subset) {
  return Builder(m, c, subset, Search::breadth_first).build();
}

Tree build_tree(const Model& m, const Control& c, const Subset& subset) {
  return *build_tree_within(m, c, subset, std::numeric_limits<double>::infinity());
}

Tree build_tree(const Model& m, const Control& c) { return build_tree(m, c, whole_of(m)); }

std::optional<Tree> build_tree_within(const Model& m, const Control& c, const Subset& subset, double columns) {
  Tree best = first_tree(m, c, subset);
  if (!best.closes_loops()) return best;
  constexpr double kFar = 4;  // a factor that another tree is unlikely to save
  if (std::isfinite(columns) && best.has_more_columns_than(kFar * columns)) return {};
  double least = best.plan().work();
  const auto consider = [&](Tree tree) {
    if (std::isfinite(columns) && tree.has_more_columns_than(kFar * columns)) return;
    if (const double work = tree.plan().work(); work < least) {
      least = work;
      best = std::move(tree);
    }
  };
  consider(Builder(m, c, subset, Search::depth_first).build());
  // From the middle the ways around loops are short, but what is held there has to be held by rows.
  consider(Builder(m, c, subset, Search::breadth_first, middle_vertex(m, subset)).build());
  return best;
}

}  // namespace osier::systems
