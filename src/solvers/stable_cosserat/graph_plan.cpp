#include "solvers/stable_cosserat/graph_plan.hpp"

#include <algorithm>
#include <limits>

#include "exec/lanes.hpp"
#include "math/quat.hpp"

namespace osier::stable_cosserat {

namespace {

/// Segments that end (1) or begin (0) at a vertex.
Index count_sides(const Model& m, Index v, Index side) {
  Index n = 0;
  for (Index e : m.vertex_segments.of(v)) n += e % 2 == side ? 1 : 0;
  return n;
}
bool owns(const Model& m, Index entry) { return owns_joint(entry, m.joint_frames[entry / 2][0], m.segment_count()); }
Index joints_of(const Model& m, Index frame) { return static_cast<Index>(m.frame_joints.of(frame).size()); }
/// Those whose target it keeps.
Index own_joints_of(const Model& m, Index frame) {
  Index n = 0;
  for (Index e : m.frame_joints.of(frame)) n += owns(m, e) ? 1 : 0;
  return n;
}

std::uint32_t lanes_beyond(std::size_t members, int lanes) { return ((1u << lanes) - 1u) & ~((1u << members) - 1u); }

/// The elements of each colour that `wanted` lets through, sorted by `key`, in tiles. close(first, second): they may not share
/// one.
template <class Wanted, class Key, class Apart, class Tile>
void tile_colors(const Coloring& colors, int lanes, const Wanted& wanted, const Key& key, const Apart& apart, const Tile& tile,
                 std::vector<Index>& starts, std::vector<Index>& id) {
  constexpr double kMostRegions = 32;
  std::vector<Index> list;
  Index tiles = 0, count = 1;
  for (Index e : colors.element) count = std::max(count, e + 1);
  starts.assign(1, 0);
  for (Index color = 0; color < colors.count(); ++color) {
    list.clear();
    for (Index e : colors.of(color))
      if (wanted(e)) list.push_back(e);
    // By region of the model first: threads share out the tiles of every colour in the same proportions, and so find in their own
    // cache what they left there a colour before.
    const double regions = std::clamp(static_cast<double>(list.size()) / (8.0 * lanes), 1.0, kMostRegions);
    const auto region = [&](Index e) { return static_cast<int>(regions * e / count); };
    std::stable_sort(list.begin(), list.end(),
                     [&](Index a, Index b) { return std::pair(region(a), key(a)) < std::pair(region(b), key(b)); });
    for (std::size_t i = 0; i < list.size(); ++tiles) {
      std::size_t end = i + 1;
      while (end < list.size() && end < i + static_cast<std::size_t>(lanes) && !apart(list[i], list[end])) ++end;
      const std::span<const Index> members = std::span(list).subspan(i, end - i);
      const std::size_t first = id.size();
      id.resize(first + static_cast<std::size_t>(lanes), members.front());
      for (std::size_t k = 0; k < members.size(); ++k)
        id[first + static_cast<std::size_t>(place_of_lane(lanes, static_cast<int>(k)))] = members[k];
      tile(members);
      i = end;
    }
    if (starts.back() != tiles) starts.push_back(tiles);
  }
}

}  // namespace

GraphLayout lay_out_graph(const Model& m, std::span<const std::uint8_t> taken, int lanes, bool gamma) {
  GraphLayout l;
  l.lanes = lanes, l.damped = m.has_damping(), l.gamma = gamma;
  const auto free_vertex = [&](Index v) { return !taken[v]; };
  const auto free_segment = [&](Index s) { return !taken[m.segment_vertices[s][0]]; };
  const auto most = [](std::span<const Index> members, const auto& count) {
    Index n = 0;
    for (Index e : members) n = std::max(n, count(e));
    return static_cast<std::uint16_t>(n);
  };
  tile_colors(
      m.vertex_colors, lanes, free_vertex,
      [&](Index v) { return std::pair(m.vertex_segments.of(v).size(), count_sides(m, v, 1)); },
      [](Index, Index) { return false; },
      [&](std::span<const Index> members) {
        const GraphTile t{static_cast<Index>(l.vertex_number_rows),
                          static_cast<Index>(l.vertex_index_rows),
                          0,
                          most(members, [&](Index v) { return count_sides(m, v, 1); }),
                          most(members, [&](Index v) { return count_sides(m, v, 0); }),
                          lanes_beyond(members.size(), lanes)};
        l.vertex_tiles.push_back(t);
        l.vertex_number_rows += kVertexRows;
        l.vertex_index_rows += static_cast<std::size_t>(2 * (t.in + t.out));
      },
      l.vertex_colors, l.vertex_id);
  tile_colors(
      m.segment_colors, lanes, free_segment, [&](Index s) { return std::pair(joints_of(m, s), own_joints_of(m, s)); },
      // Cables have an update of their own, for whole tiles.
      [&](Index a, Index b) { return (joints_of(m, a) == 0) != (joints_of(m, b) == 0); },
      [&](std::span<const Index> members) {
        const GraphTile t{static_cast<Index>(l.segment_number_rows),
                          static_cast<Index>(l.segment_index_rows),
                          static_cast<Index>(l.joint_rows),
                          most(members, [&](Index s) { return own_joints_of(m, s); }),
                          most(members, [&](Index s) { return joints_of(m, s) - own_joints_of(m, s); }),
                          lanes_beyond(members.size(), lanes)};
        l.segment_tiles.push_back(t);
        l.segment_number_rows += static_cast<std::size_t>(l.segment_rows());
        l.segment_index_rows += static_cast<std::size_t>(2 + t.in + 2 * t.out);
        l.joint_rows += t.in;
      },
      l.segment_colors, l.frame_id);
  for (Index f = m.segment_count(); f < m.frame_count(); ++f)
    for (Index e : m.frame_joints.of(f)) {
      const Index s = m.joint_frames[e / 2][1 - e % 2];
      if (m.is_anchor(s) || !free_segment(s)) continue;
      l.frame_id.push_back(f);
      break;
    }
  for (const PerAxis& tau : m.joint_tau) l.most_tau = std::max(l.most_tau, tau.d3);
  const std::size_t longest = std::max({l.vertex_id.size(), l.frame_id.size(), l.joint_rows * static_cast<std::size_t>(lanes)});
  l.narrow = 4 * longest <= std::numeric_limits<std::uint16_t>::max();
  l.vertex_tiles.shrink_to_fit(), l.segment_tiles.shrink_to_fit();
  l.vertex_id.shrink_to_fit(), l.frame_id.shrink_to_fit();
  return l;
}

std::size_t GraphLayout::bytes(std::size_t number) const {
  const auto w = static_cast<std::size_t>(lanes);
  const std::size_t vertices = vertex_id.size(), segments = segment_tiles.size() * w, frames = frame_id.size();
  return (vertex_number_rows + segment_number_rows) * w * number +
         (vertex_index_rows + segment_index_rows) * w * size_of_index() +
         4 * number * (vertices + segments + frames + joint_rows * w + 4) + (vertices + frames) * sizeof(Index) +
         vertex_tiles.size() * (sizeof(GraphTile) + sizeof(std::uint32_t)) +
         segment_tiles.size() * (sizeof(GraphTile) + 2 * sizeof(std::uint32_t) + number);
}

namespace {

/// I: of the indices.
template <class T, class I>
class Filler {
 public:
  Filler(const Model& m, GraphPlan<T>& plan) : m_(m), p_(plan), l_(plan.layout), w_(static_cast<std::size_t>(l_.lanes)) {
    vertex_place_.assign(static_cast<std::size_t>(m.vertex_count()), -1);
    frame_place_.assign(static_cast<std::size_t>(m.frame_count()), -1);
    for (std::size_t t = 0; t < l_.vertex_tiles.size(); ++t)
      for (std::size_t k = 0; k < w_; ++k)
        if (there(l_.vertex_tiles[t], k)) vertex_place_[l_.vertex_id[place(t, k)]] = static_cast<Index>(place(t, k));
    joint_place_.assign(static_cast<std::size_t>(m.joint_count()), -1);
    for (std::size_t t = 0; t < l_.segment_tiles.size(); ++t)
      for (std::size_t k = 0; k < w_; ++k) {
        if (!there(l_.segment_tiles[t], k)) continue;
        const Index s = l_.frame_id[place(t, k)];
        frame_place_[s] = static_cast<Index>(place(t, k));
        auto next = static_cast<std::size_t>(l_.segment_tiles[t].joints);
        for (Index e : m.frame_joints.of(s))
          if (owns(m, e)) joint_place_[e / 2] = static_cast<Index>(place(next++, k));
      }
    for (std::size_t i = l_.segment_tiles.size() * w_; i < l_.frame_id.size(); ++i)
      frame_place_[l_.frame_id[i]] = static_cast<Index>(i);
  }

  void fill() {
    const std::size_t segments = l_.segment_tiles.size() * w_;
    p_.vertex_number.assign(l_.vertex_number_rows * w_, T(0));
    p_.vertex_index.assign(l_.vertex_index_rows * w_ * sizeof(I), std::byte{0});
    p_.segment_number.assign(l_.segment_number_rows * w_, T(0));
    p_.segment_index.assign(l_.segment_index_rows * w_ * sizeof(I), std::byte{0});
    p_.u.assign(4 * (l_.vertex_id.size() + 1), T(0));
    p_.pull.assign(4 * (segments + 1), T(0));
    p_.q.assign(4 * (l_.frame_id.size() + 1), T(0));
    p_.joint.assign(4 * (l_.joint_rows * w_ + 1), T(0));
    p_.margin.assign(l_.segment_tiles.size(), T(0));
    p_.vertex_held.assign(l_.vertex_tiles.size(), 0);
    p_.frame_held.assign(l_.segment_tiles.size(), 0);
    p_.frame_hinged.assign(l_.segment_tiles.size(), 0);
    for (std::size_t t = 0; t < l_.vertex_tiles.size(); ++t)
      for (std::size_t k = 0; k < w_; ++k) fill_vertex(l_.vertex_tiles[t], t, k);
    for (std::size_t t = 0; t < l_.segment_tiles.size(); ++t)
      for (std::size_t k = 0; k < w_; ++k) fill_segment(l_.segment_tiles[t], t, k);
  }

 private:
  std::size_t place(std::size_t tile, std::size_t lane) const {
    return tile * w_ + static_cast<std::size_t>(place_of_lane(l_.lanes, static_cast<int>(lane)));
  }
  static bool there(const GraphTile& tile, std::size_t lane) { return (tile.nothing >> lane & 1u) == 0; }
  static I offset(const AlignedArray<T>& quads, Index place) {
    return static_cast<I>(place >= 0 ? 4 * place : static_cast<Index>(quads.size()) - 4);
  }
  /// Lane k of the rows of indices from this one on.
  I* indices(AlignedArray<std::byte>& array, Index row, std::size_t k) const {
    return reinterpret_cast<I*>(array.data()) + static_cast<std::size_t>(row) * w_ + k;
  }

  void fill_vertex(const GraphTile& tile, std::size_t t, std::size_t k) {
    I* index = indices(p_.vertex_index, tile.indices, k);
    for (Index i = 0; i < tile.in + tile.out; ++i)
      index[static_cast<std::size_t>(2 * i) * w_] = offset(p_.u, -1),
                                              index[static_cast<std::size_t>(2 * i + 1) * w_] = offset(p_.pull, -1);
    if (!there(tile, k)) return;
    const Index v = l_.vertex_id[place(t, k)];
    Index next[2] = {tile.in, 0};
    for (Index e : m_.vertex_segments.of(v)) {
      const Index s = e / 2, side = e % 2;
      const auto i = static_cast<std::size_t>(2 * next[side]++);
      index[i * w_] = offset(p_.u, vertex_place_[m_.segment_vertices[s][1 - side]]);
      index[(i + 1) * w_] = offset(p_.pull, frame_place_[s]);
    }
  }

  void fill_segment(const GraphTile& tile, std::size_t t, std::size_t k) {
    T* number = p_.segment_number.data() + static_cast<std::size_t>(tile.numbers) * w_ + k;
    I* index = indices(p_.segment_index, tile.indices, k);
    const auto at = [&](int row) -> I& { return index[static_cast<std::size_t>(row) * w_]; };
    const int others = 2 + tile.in;
    for (int i = 0; i < tile.in; ++i) at(2 + i) = offset(p_.q, -1);
    for (int i = 0; i < tile.out; ++i) at(others + 2 * i) = offset(p_.q, -1), at(others + 2 * i + 1) = offset(p_.joint, -1);
    if (!there(tile, k)) return;
    const Index s = l_.frame_id[place(t, k)];
    for (int end = 0; end < 2; ++end)
      at(end) = offset(p_.u, vertex_place_[m_.segment_vertices[s][static_cast<std::size_t>(end)]]);
    number[kStretchRow * w_] = static_cast<T>(m_.segment_stiffness[s].d3 / m_.segment_rest_length[s]);
    int own = 2, other = others;
    for (Index e : m_.frame_joints.of(s)) {
      const Index j = e / 2, side = e % 2;
      const I frame = offset(p_.q, frame_place_[m_.joint_frames[j][1 - side]]);
      if (!owns(m_, e)) {
        at(other++) = frame, at(other++) = offset(p_.joint, joint_place_[j]);
        continue;
      }
      at(own++) = frame;
      if (l_.damped) continue;  // otherwise k^bt times rest rotation, as this side sees it: nothing to be folded in
      const Quatd rest = m_.joint_stiffness[j].d3 * (side == 1 ? m_.joint_rest_rotation[j] : conj(m_.joint_rest_rotation[j]));
      T* to = p_.joint.data() + offset(p_.joint, joint_place_[j]);
      to[0] = static_cast<T>(rest.x), to[1] = static_cast<T>(rest.y), to[2] = static_cast<T>(rest.z),
      to[3] = static_cast<T>(rest.w);
    }
  }

  const Model& m_;
  GraphPlan<T>& p_;
  const GraphLayout& l_;
  std::size_t w_;
  std::vector<Index> vertex_place_, frame_place_, joint_place_;
};

}  // namespace

template <class T>
GraphPlan<T> plan_graph(const Model& m, std::span<const std::uint8_t> taken, int lanes, bool gamma) {
  GraphPlan<T> plan;
  plan.layout = lay_out_graph(m, taken, lanes, gamma);
  if (plan.layout.empty()) return plan;
  if (plan.layout.narrow) Filler<T, std::uint16_t>(m, plan).fill();
  else Filler<T, Index>(m, plan).fill();
  return plan;
}

template GraphPlan<float> plan_graph(const Model&, std::span<const std::uint8_t>, int, bool);
template GraphPlan<double> plan_graph(const Model&, std::span<const std::uint8_t>, int, bool);

}  // namespace osier::stable_cosserat
