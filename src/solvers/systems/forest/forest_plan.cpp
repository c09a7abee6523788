#include "solvers/systems/forest/forest_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>

namespace osier::systems {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Disjoint sets of trees, by their roots.
class Roots {
 public:
  explicit Roots(const Tree& t) : nodes_(t.nodes.size()), of_(t.nodes.size()), above_(t.roots.size()) {
    std::iota(above_.begin(), above_.end(), 0);
    for (std::size_t i = 0; i < nodes_; ++i) {
      const auto p = at(t.nodes[i].parent);
      of_[i] = p < nodes_ ? of_[p] : static_cast<int>(p - nodes_);
    }
  }
  /// The root of a node, or the root itself.
  int of(int place) { return find(at(place) < nodes_ ? of_[at(place)] : place - static_cast<int>(nodes_)); }
  void join(int a, int b) { above_[at(of(a))] = of(b); }

 private:
  int find(int r) {
    while (above_[at(r)] != r) r = above_[at(r)] = above_[at(above_[at(r)])];
    return r;
  }
  std::size_t nodes_;
  std::vector<int> of_, above_;
};

}  // namespace

std::vector<std::uint8_t> nodes_for_lanes(const Model& m, const Control& c, const Tree& t) {
  const auto count = static_cast<int>(t.nodes.size());
  Roots roots(t);
  for (const TreeRow& row : t.rows)
    if (row.other >= 0) roots.join(row.node, row.other);
  std::vector<std::uint8_t> suits(t.roots.size(), 1);
  const auto refuse = [&](int node) { suits[at(roots.of(node))] = 0; };
  const auto hangs_on_root = [&](int node) { return t.nodes[at(node)].parent >= count; };
  for (int i = 0; i < count; ++i) {
    const TreeNode& n = t.nodes[at(i)];
    const FrameControl frame = c.frame_control[n.segment];
    const bool plain = n.far_vertex >= 0 && !c.vertex_fixed[n.far_vertex] && frame != FrameControl::hinged &&
                       m.segment_stiffness[n.segment].smallest() > 0 && !m.segment_inertia[n.segment].any();
    const bool fixed = frame == FrameControl::fixed, jointed = n.joint >= 0;
    const bool hangs_well = hangs_on_root(i) ? c.vertex_fixed[n.near_vertex] && (fixed || jointed) : !fixed && jointed;
    if (!plain || !hangs_well) refuse(i);
    if (n.joint >= 0 && !(m.joint_stiffness[n.joint].smallest() > 0)) refuse(i);
  }
  for (const TreeRow& row : t.rows) {
    if (row.kind == TreeRow::Kind::hold_frame && hangs_on_root(row.node)) continue;
    const bool siblings = row.kind == TreeRow::Kind::close_joint && row.other < count && !hangs_on_root(row.node) &&
                          t.nodes[at(row.node)].parent == t.nodes[at(row.other)].parent;
    if (!siblings || !(m.joint_stiffness[row.joint].smallest() > 0)) refuse(row.node);
  }
  for (const auto& [node, joint] : t.local_joints) refuse(node);
  std::vector<int> ties(at(count), 0);
  for (const TreeRow& row : t.rows)
    if (const int p = t.nodes[at(row.node)].parent; row.kind == TreeRow::Kind::close_joint && row.axis == 0 && p < count)
      if (++ties[at(p)] > kMostTies) refuse(p);
  std::vector<std::uint8_t> wanted(at(count));
  for (int i = 0; i < count; ++i) wanted[at(i)] = suits[at(roots.of(i))];
  return wanted;
}

namespace {

/// A branch for a thread has about kBranch nodes. It is put together from subtrees of at most kSubtree nodes, which are so many
/// that lanes are full from the start.
constexpr int kBranch = 1536, kSubtree = 256;

class Planner {
 public:
  Planner(const Model& m, const Control& c, const Tree& t, const std::vector<std::uint8_t>& wanted, int lanes)
      : m_(m), c_(c), t_(t), wanted_(wanted), children_(t.nodes.size()), ties_(t.nodes.size()), tied_(t.nodes.size(), 0) {
    plan_.lanes = lanes;
  }
  ForestPlan plan();

 private:
  /// The kind of a node: nodes of one kind need the same work in a row.
  enum Kind { kLeaf, kSingle, kFork, kWide, kKinds };
  struct Tie {
    int node[2];
    Index joint;
  };
  int count() const { return static_cast<int>(t_.nodes.size()); }
  void find_relatives();
  void split();
  void schedule(const std::vector<int>& nodes, ForestJob& job);
  void fill_slots();
  Kind kind(int node) const {
    const std::size_t n = children_[at(node)].size(), k = ties_[at(node)].size();
    return n == 0 ? kLeaf : n == 1 ? kSingle : n == 2 && k == 1 ? kFork : kWide;
  }
  /// Whether nodes of one kind fit into a row of another.
  static bool asks_no_more(std::size_t kind, std::size_t than) { return kind / 2 <= than / 2 && kind % 2 <= than % 2; }
  std::size_t queue_of(int node) const { return 2 * static_cast<std::size_t>(kind(node)) + tied_[at(node)]; }

  const Model& m_;
  const Control& c_;
  const Tree& t_;
  const std::vector<std::uint8_t>& wanted_;
  ForestPlan plan_;
  std::vector<std::vector<int>> children_;
  std::vector<std::vector<Tie>> ties_;  ///< per node: the ties of its children
  std::vector<std::uint8_t> tied_;
  std::vector<int> height_, size_, job_, slot_;
};

void Planner::find_relatives() {
  height_.assign(at(count()), 0), size_.assign(at(count()), 1);
  for (int i = count(); i-- > 0;) {
    const int p = t_.nodes[at(i)].parent;
    if (!wanted_[at(i)] || p >= count()) continue;
    children_[at(p)].push_back(i);
    height_[at(p)] = std::max(height_[at(p)], height_[at(i)] + 1), size_[at(p)] += size_[at(i)];
  }
  for (const TreeRow& row : t_.rows) {
    if (!wanted_[at(row.node)] || row.kind != TreeRow::Kind::close_joint || row.axis != 0) continue;
    ties_[at(t_.nodes[at(row.node)].parent)].push_back({{row.other, row.node}, row.joint});
    tied_[at(row.node)] = tied_[at(row.other)] = 1;
  }
  std::vector<double> way(at(count()), 0);
  for (int i = 0; i < count(); ++i) {
    if (!wanted_[at(i)]) continue;
    const TreeNode& n = t_.nodes[at(i)];
    way[at(i)] = m_.segment_rest_length[n.segment] + (n.parent < count() ? way[at(n.parent)] : 0);
    plan_.reach = std::max(plan_.reach, way[at(i)]);
    ++plan_.nodes;
  }
}

/// Subtrees of at most kSubtree nodes, put together until there are kBranch.
void Planner::split() {
  job_.assign(at(count()), -1);
  std::vector<std::vector<int>> branches(1);
  if (plan_.nodes >= 3 * kBranch)
    for (int i = 0; i < count(); ++i) {
      const int p = t_.nodes[at(i)].parent;
      if (!wanted_[at(i)] || size_[at(i)] > kSubtree) continue;
      if (p < count() && job_[at(p)] >= 0) job_[at(i)] = job_[at(p)];
      else {
        if (!branches.back().empty() && static_cast<int>(branches.back().size()) + size_[at(i)] > kBranch)
          branches.emplace_back();
        job_[at(i)] = static_cast<int>(branches.size()) - 1;
      }
      branches[at(job_[at(i)])].push_back(i);
    }
  std::vector<int> trunk;
  for (int i = 0; i < count(); ++i)
    if (wanted_[at(i)] && job_[at(i)] < 0) trunk.push_back(i);
  slot_.assign(at(count()), -1);
  schedule(trunk, plan_.trunk);
  for (const std::vector<int>& nodes : branches)
    if (!nodes.empty()) schedule(nodes, plan_.branches.emplace_back());
}

/// List scheduling from the roots: of the nodes whose parents are done, those with the longest path below them come first.
void Planner::schedule(const std::vector<int>& nodes, ForestJob& job) {
  const auto farther = [&](int a, int b) { return height_[at(a)] != height_[at(b)] ? height_[at(a)] < height_[at(b)] : a > b; };
  using Queue = std::priority_queue<int, std::vector<int>, decltype(farther)>;
  std::vector<Queue> ready(2 * kKinds, Queue(farther));
  const int own = nodes.empty() ? -1 : job_[at(nodes.front())];
  std::size_t waiting = 0;
  const auto put = [&](int node) { ready[queue_of(node)].push(node), ++waiting; };
  for (int i : nodes) {
    const int p = t_.nodes[at(i)].parent;
    if (p >= count() || job_[at(p)] != own) put(i);
  }
  const auto lanes = at(plan_.lanes);
  job.first_row = static_cast<int>(plan_.rows.size());
  std::vector<int> row;
  const auto take = [&](Queue& queue) {
    while (!queue.empty() && row.size() < lanes) row.push_back(queue.top()), queue.pop(), --waiting;
  };
  while (waiting > 0) {
    row.clear();
    // Take the kind of the node with the longest path below, if possible a kind that fills the row.
    Queue* best = nullptr;
    for (bool full : {true, false}) {
      for (Queue& queue : ready)
        if (!queue.empty() && (!full || queue.size() >= lanes) && (best == nullptr || farther(best->top(), queue.top())))
          best = &queue;
      if (best != nullptr) break;
    }
    take(*best);
    // Fill up with nodes that need no additional work, then with any others.
    const auto used = static_cast<std::size_t>(best - ready.data());
    for (bool alike : {true, false})
      while (row.size() < lanes) {
        Queue* next = nullptr;
        for (std::size_t kind = 0; kind < ready.size(); ++kind) {
          Queue& queue = ready[kind];
          if (!queue.empty() && (!alike || asks_no_more(kind, used)) && (next == nullptr || farther(next->top(), queue.top())))
            next = &queue;
        }
        if (next == nullptr) break;
        row.push_back(next->top()), next->pop(), --waiting;
      }
    const auto first = plan_.rows.size() * lanes;
    ForestRow& here = plan_.rows.emplace_back();
    plan_.slots.resize(first + lanes);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const int node = row[k];
      slot_[at(node)] = static_cast<int>(first + k);
      if (tied_[at(node)]) here.tied = static_cast<std::uint16_t>(here.tied | 1u << k);
      const Kind what = kind(node);
      here.children = std::max(here.children, static_cast<std::uint8_t>(what == kFork ? 2 : what == kSingle ? 1 : 0));
      here.forks = here.forks || what == kFork;
      for (int child : children_[at(node)])
        if (job_[at(child)] == own) put(child);
    }
    if (here.tied != 0) here.column = plan_.columns, plan_.columns += std::popcount(here.tied);
    here.held = row.size() < lanes;
  }
  job.last_row = static_cast<int>(plan_.rows.size());
}

void Planner::fill_slots() {
  for (int i = 0; i < count(); ++i) {
    if (!wanted_[at(i)]) continue;
    const TreeNode& n = t_.nodes[at(i)];
    if (n.parent < count()) continue;
    plan_.rows[at(slot_[at(i)] / plan_.lanes)].held = true;
    ForestHead head{n.near_vertex, n.segment, c_.frame_control[n.segment] == FrameControl::fixed};
    if (!head.fixed) {
      const auto [a, b] = m_.joint_frames[n.joint];
      head.frame = m_.is_anchor(a) ? a : b;
    }
    plan_.slots[at(slot_[at(i)])].parent = static_cast<int>(plan_.heads.size());
    plan_.heads.push_back(head);
  }
  ++plan_.columns;  // the sentinel
  plan_.slots.resize(at(plan_.slot_count()));
  for (std::size_t h = 0; h < plan_.heads.size(); ++h) {
    ForestSlot& s = plan_.slots[at(plan_.head_slot(h))];
    s.segment = plan_.heads[h].frame;
    s.far_vertex = plan_.heads[h].vertex;
  }
  std::vector<int> node_in(at(plan_.node_slots()), -1);
  for (int i = 0; i < count(); ++i)
    if (slot_[at(i)] >= 0) node_in[at(slot_[at(i)])] = i;
  for (int s = 0; s < plan_.node_slots(); ++s) {
    ForestRow& row = plan_.rows[at(s / plan_.lanes)];
    if (s % plan_.lanes == 0) row.first_wide = row.last_wide = static_cast<int>(plan_.wide.size());
    ForestSlot& slot = plan_.slots[at(s)];
    slot.below = plan_.below_nothing();
    const int i = node_in[at(s)];
    if (i < 0) {
      slot.parent = plan_.above_nothing();
      continue;
    }
    const TreeNode& n = t_.nodes[at(i)];
    slot.segment = n.segment;
    slot.far_vertex = n.far_vertex;
    slot.direction = m_.segment_vertices[n.segment][0] == n.near_vertex ? 1 : -1;
    slot.parent = n.parent < count() ? slot_[at(n.parent)] : plan_.head_slot(at(slot.parent));
    const bool fixed = n.parent >= count() && c_.frame_control[n.segment] == FrameControl::fixed;
    slot.joint = fixed ? -1 : n.joint;
    slot.flipped = slot.joint >= 0 && m_.joint_frames[slot.joint][0] == n.segment;
    const std::vector<int>& below = children_[at(i)];
    const std::vector<Tie>& ties = ties_[at(i)];
    const Kind what = kind(i);
    const auto first_tie = static_cast<int>(plan_.ties.size());
    for (const Tie& tie : ties) plan_.ties.push_back({tie.joint, {slot_[at(tie.node[0])], slot_[at(tie.node[1])]}});
    if (what == kSingle) slot.below = slot_[at(below[0])];
    if (what == kFork) slot.below = -1 - first_tie;
    if (what == kWide) {
      const auto first_child = static_cast<int>(plan_.wide_child.size());
      for (int child : below) plan_.wide_child.push_back(slot_[at(child)]);
      plan_.wide.push_back(
          {s, first_child, static_cast<int>(plan_.wide_child.size()), first_tie, static_cast<int>(plan_.ties.size())});
      row.last_wide = static_cast<int>(plan_.wide.size());
    }
  }
}

ForestPlan Planner::plan() {
  find_relatives();
  split();
  fill_slots();
  plan_.rows.shrink_to_fit(), plan_.slots.shrink_to_fit(), plan_.ties.shrink_to_fit();
  return std::move(plan_);
}

}  // namespace

ForestPlan plan_forest(const Model& m, const Control& c, const Tree& t, const std::vector<std::uint8_t>& wanted, int lanes) {
  return Planner(m, c, t, wanted, lanes).plan();
}

std::size_t ForestPlan::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return of(rows) + of(slots) + of(branches) + of(heads) + of(ties) + of(wide) + of(wide_child);
}

}  // namespace osier::systems
