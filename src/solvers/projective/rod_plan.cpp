#include "solvers/projective/rod_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace osier::projective {

namespace {

/// One rod by the numbers of the model, ascending, with anchors after segments.
struct Rod {
  std::vector<Index> vertices, frames, joints;
  Index segments = 0;
};

/// Which rod every vertex belongs to.
class Pieces {
 public:
  explicit Pieces(const Model& m) : parent_(static_cast<std::size_t>(m.vertex_count())) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_alive[s]) join(m.segment_vertices[s][0], m.segment_vertices[s][1]);
    for (Index j = 0; j < m.joint_count(); ++j) {
      const auto [a, b] = m.joint_frames[j];
      if (m.joint_alive[j] && !m.is_anchor(a) && !m.is_anchor(b)) join(m.segment_vertices[a][0], m.segment_vertices[b][0]);
    }
  }
  Index root(Index v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

 private:
  void join(Index a, Index b) {
    const Index ra = root(a), rb = root(b);
    parent_[std::max(ra, rb)] = std::min(ra, rb);
  }
  std::vector<Index> parent_;
};

std::vector<Rod> rods_of(const Model& m, RodPlan& plan) {
  Pieces pieces(m);
  std::vector<Rod> rods;
  std::vector<Index> rod_of(static_cast<std::size_t>(m.vertex_count()), -1);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) {
      plan.loose_vertices.push_back(v);
      continue;
    }
    const Index root = pieces.root(v);
    if (root == v) {
      rod_of[v] = static_cast<Index>(rods.size());
      rods.emplace_back();
    }
    rod_of[v] = rod_of[root];
    rods[static_cast<std::size_t>(rod_of[v])].vertices.push_back(v);
  }
  const auto rod_at = [&](Index s) -> Rod& { return rods[static_cast<std::size_t>(rod_of[m.segment_vertices[s][0]])]; };
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (m.segment_alive[s]) rod_at(s).frames.push_back(s);
    else plan.loose_frames.push_back(s);
  }
  for (Rod& r : rods) r.segments = static_cast<Index>(r.frames.size());
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    if (!m.joint_alive[j] || (m.is_anchor(a) && m.is_anchor(b))) continue;
    rod_at(m.is_anchor(a) ? b : a).joints.push_back(j);
  }
  for (Rod& r : rods) {
    std::vector<Index> anchors;
    for (const Index j : r.joints)
      for (const Index f : m.joint_frames[j])
        if (m.is_anchor(f)) anchors.push_back(f);
    std::sort(anchors.begin(), anchors.end());
    anchors.erase(std::unique(anchors.begin(), anchors.end()), anchors.end());
    r.frames.insert(r.frames.end(), anchors.begin(), anchors.end());
  }
  for (Index f = m.segment_count(); f < m.frame_count(); ++f) plan.loose_frames.push_back(f);
  return rods;
}

/// The graph of a rod in its own numbers: [vertices, segments, anchors, pairs of segments, pairs of joints].
std::vector<Index> graph_of(const Model& m, const Rod& r) {
  std::vector<Index> g{static_cast<Index>(r.vertices.size()), r.segments, static_cast<Index>(r.frames.size()) - r.segments};
  const auto place = [](const std::vector<Index>& list, Index begin, Index end, Index i) {
    return static_cast<Index>(std::lower_bound(list.begin() + begin, list.begin() + end, i) - list.begin());
  };
  const auto vertex = [&](Index v) { return place(r.vertices, 0, g[0], v); };
  const auto frame = [&](Index f) {
    const auto all = static_cast<Index>(r.frames.size());
    return m.is_anchor(f) ? place(r.frames, r.segments, all, f) : place(r.frames, 0, r.segments, f);
  };
  g.reserve(3 + 2 * static_cast<std::size_t>(r.segments) + 2 * r.joints.size());
  for (Index i = 0; i < r.segments; ++i)
    for (const Index v : m.segment_vertices[r.frames[static_cast<std::size_t>(i)]]) g.push_back(vertex(v));
  for (const Index j : r.joints)
    for (const Index f : m.joint_frames[j]) g.push_back(frame(f));
  return g;
}

/// Its shape, with vertices and segments in the order of elimination.
RodShape shape_of(const std::vector<Index>& graph, std::size_t joints) {
  RodShape s;
  s.vertices = graph[0], s.segments = graph[1], s.anchors = graph[2];
  const auto pair = [&](std::size_t i) { return std::array<Index, 2>{graph[3 + 2 * i], graph[4 + 2 * i]}; };
  const auto segments = static_cast<std::size_t>(s.segments);
  std::vector<std::array<Index, 2>> edges;
  for (std::size_t i = 0; i < segments; ++i) edges.push_back(pair(i));
  s.positions = eliminate(s.vertices, edges);
  std::vector<Index> vertex_place(static_cast<std::size_t>(s.vertices)), frame_place(static_cast<std::size_t>(s.frames()));
  for (Index i = 0; i < s.vertices; ++i) vertex_place[s.positions.order[i]] = i;

  std::vector<std::array<Index, 2>> between;
  for (std::size_t j = 0; j < joints; ++j) {
    const auto [a, b] = pair(segments + j);
    const bool inner = a < s.segments && b < s.segments;
    s.joint_entry.push_back(inner ? static_cast<Index>(between.size()) : -1);
    if (inner) between.push_back({a, b});
  }
  s.turns = eliminate(s.segments, between);
  for (Index& e : s.joint_entry)
    if (e >= 0) e = s.turns.edge_entry[static_cast<std::size_t>(e)];
  for (Index i = 0; i < s.frames(); ++i) frame_place[i] = i;
  for (Index i = 0; i < s.segments; ++i) frame_place[s.turns.order[i]] = i;

  // Segments go with their frames.
  s.segment_vertices.resize(segments);
  std::vector<Index> entry(segments);
  for (std::size_t i = 0; i < segments; ++i) {
    const auto to = static_cast<std::size_t>(frame_place[i]);
    s.segment_vertices[to] = {vertex_place[edges[i][0]], vertex_place[edges[i][1]]};
    entry[to] = s.positions.edge_entry[i];
  }
  s.positions.edge_entry = entry;
  for (std::size_t j = 0; j < joints; ++j) {
    const auto [a, b] = pair(segments + j);
    s.joint_frames.push_back({frame_place[a], frame_place[b]});
  }
  s.joint_frames.shrink_to_fit();
  s.joint_entry.shrink_to_fit();
  return s;
}

}  // namespace

std::size_t RodShape::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return sizeof(*this) + positions.bytes() + turns.bytes() + of(segment_vertices) + of(joint_frames) + of(joint_entry);
}

RodPlan plan_rods(const Model& m, int lanes) {
  RodPlan plan;
  const std::vector<Rod> rods = rods_of(m, plan);
  std::map<std::vector<Index>, Index> known;
  std::vector<std::vector<Index>> alike;  // rods of each shape
  for (std::size_t r = 0; r < rods.size(); ++r) {
    std::vector<Index> graph = graph_of(m, rods[r]);
    const auto [at, is_new] = known.try_emplace(graph, static_cast<Index>(plan.shapes.size()));
    if (is_new) {
      plan.shapes.push_back(shape_of(graph, rods[r].joints.size()));
      alike.emplace_back();
    }
    alike[static_cast<std::size_t>(at->second)].push_back(static_cast<Index>(r));
  }
  const auto add_group = [&](Index shape, std::span<const Index> members, int width) {
    const RodShape& s = plan.shapes[static_cast<std::size_t>(shape)];
    RodGroup g{.shape = shape, .lanes = width, .rods = static_cast<int>(members.size()), .vertex = {}, .frame = {}, .joint = {}};
    const auto fill = [&](std::vector<Index>& list, Index count, const auto& element) {
      list.reserve(static_cast<std::size_t>(count * width));
      for (Index i = 0; i < count; ++i)
        for (int k = 0; k < width; ++k)
          list.push_back(element(rods[static_cast<std::size_t>(members[std::min<std::size_t>(k, members.size() - 1)])], i));
    };
    fill(g.vertex, s.vertices, [&](const Rod& r, Index i) { return r.vertices[s.positions.order[i]]; });
    fill(g.frame, s.frames(), [&](const Rod& r, Index i) { return r.frames[i < s.segments ? s.turns.order[i] : i]; });
    fill(g.joint, s.joints(), [&](const Rod& r, Index i) { return r.joints[static_cast<std::size_t>(i)]; });
    plan.groups.push_back(std::move(g));
  };
  for (std::size_t shape = 0; shape < alike.size(); ++shape) {
    const std::span<const Index> members = alike[shape];
    for (std::size_t i = 0; i < members.size();) {
      const std::size_t left = members.size() - i;
      const bool together = lanes > 1 && left > 1;
      const std::size_t count = together ? std::min(left, static_cast<std::size_t>(lanes)) : 1;
      add_group(static_cast<Index>(shape), members.subspan(i, count), together ? lanes : 1);
      i += count;
    }
  }
  return plan;
}

}  // namespace osier::projective
