#include "solvers/stable_cosserat/graph_plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "energies/bend_twist.hpp"
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
/// The number of joints whose target the segment keeps.
Index own_joints_of(const Model& m, Index frame) {
  Index n = 0;
  for (Index e : m.frame_joints.of(frame)) n += owns(m, e) ? 1 : 0;
  return n;
}

std::uint16_t beyond(std::size_t members) { return static_cast<std::uint16_t>(~((1u << members) - 1u)); }

/// The elements of tiles.
struct Members {
  std::vector<Index> of;           ///< kTile elements per tile; the first is repeated where there are fewer
  std::vector<std::uint8_t> size;  ///< number of elements per tile
  std::vector<Index> colors;       ///< the first of every colour, and the end

  std::span<const Index> tile(std::size_t t) const { return std::span(of).subspan(t * kTile, size[t]); }
};

/// Makes tiles of the elements of each colour that `wanted` accepts, sorted by region and `key`. Elements with apart(first,
/// second) and elements of different regions do not share a tile.
template <class Wanted, class RegionOf, class Key, class Apart>
Members tile_colors(const Coloring& colors, Index regions, const Wanted& wanted, const RegionOf& region_of, const Key& key,
                    const Apart& apart) {
  constexpr double kMostParts = 32;
  Members tiles;
  std::vector<Index> list;
  std::vector<std::array<Index, 5>> places;
  Index count = 1;
  for (Index e : colors.element) count = std::max(count, e + 1);
  tiles.colors.assign(1, 0);
  for (Index color = 0; color < colors.count(); ++color) {
    list.clear();
    for (Index e : colors.of(color))
      if (wanted(e)) list.push_back(e);
    // Sort by part of the model first: threads divide the tiles of every colour in the same proportions, so that a thread finds
    // the data of the colour before in its own cache. Several regions need no further parts.
    const double parts = regions > 1 ? 1 : std::clamp(static_cast<double>(list.size()) / (16.0 * kTile), 1.0, kMostParts);
    places.clear();
    for (Index e : list) {
      const int part = static_cast<int>(parts * e / count);
      auto [first, second] = key(e);
      if (part % 2 == 1) {  // ascending and descending by turns, so that tiles across two parts have similar members
        first = -first;
        second = -second;
      }
      places.push_back({region_of(e), part, first, second, e});
    }
    std::sort(places.begin(), places.end());
    std::transform(places.begin(), places.end(), list.begin(), [](const auto& place) { return place.back(); });
    for (std::size_t i = 0; i < list.size();) {
      std::size_t end = i + 1;
      while (end < list.size() && end < i + kTile && region_of(list[i]) == region_of(list[end]) && !apart(list[i], list[end]))
        ++end;
      const std::size_t first = tiles.of.size();
      tiles.of.resize(first + kTile, list[i]);
      std::copy(list.begin() + static_cast<std::ptrdiff_t>(i), list.begin() + static_cast<std::ptrdiff_t>(end),
                tiles.of.begin() + static_cast<std::ptrdiff_t>(first));
      tiles.size.push_back(static_cast<std::uint8_t>(end - i));
      i = end;
    }
    if (const auto all = static_cast<Index>(tiles.size.size()); tiles.colors.back() != all) tiles.colors.push_back(all);
  }
  return tiles;
}

/// Quadruples of every region, one region after the other.
class Blocks {
 public:
  explicit Blocks(Index regions) : next_(regions, kZeros), start_(regions + 1, 0) {}
  void make_room(Index region, Index count) { next_[region] += count; }
  /// Fixes the places when all quadruples are counted: every region begins a cache line.
  void begin() {
    for (std::size_t r = 0; r < next_.size(); ++r) {
      start_[r + 1] = start_[r] + (next_[r] + kZeros - 1) / kZeros * kZeros;
      next_[r] = start_[r] + kZeros;
    }
  }
  Index take(Index region, Index count) { return std::exchange(next_[region], next_[region] + count); }
  /// The base of a region's indices, and the number of quadruples that they have to reach.
  Index window(Index region) const { return start_[std::max(region - 1, 0)]; }
  Index reach() const {
    Index most = 0;
    const auto regions = static_cast<Index>(next_.size());
    for (Index r = 0; r < regions; ++r) most = std::max(most, start_[std::min(r + 2, regions)] - window(r));
    return most;
  }
  Index size() const { return start_.back(); }

 private:
  std::vector<Index> next_, start_;
};

GraphLayout lay_out(const Model& m, std::span<const std::uint8_t> taken, const GraphRegions& regions, int lanes,
                    std::size_t size_of_number, bool gamma) {
  GraphLayout l;
  l.lanes = lanes;
  l.size_of_number = size_of_number;
  l.damped = m.has_damping();
  l.gamma = gamma;
  l.law = law_of(m);
  const auto free_segment = [&](Index s) { return !taken[m.segment_vertices[s][0]]; };
  const auto most = [](std::span<const Index> members, const auto& count) {
    Index n = 0;
    for (Index e : members) n = std::max(n, count(e));
    return n;
  };
  const Members vertices = tile_colors(
      m.vertex_colors, regions.count, [&](Index v) { return !taken[v]; }, [&](Index v) { return regions.of_vertex(v); },
      [&](Index v) { return std::pair(static_cast<Index>(m.vertex_segments.of(v).size()), count_sides(m, v, 1)); },
      [](Index, Index) { return false; });
  const Members segments = tile_colors(
      m.segment_colors, regions.count, free_segment, [&](Index s) { return regions.of_frame(s); },
      [&](Index s) { return std::pair(joints_of(m, s), own_joints_of(m, s)); },
      // Cables have an update of their own, which is for whole tiles.
      [&](Index a, Index b) { return (joints_of(m, a) == 0) != (joints_of(m, b) == 0); });
  l.vertex_colors = vertices.colors;
  l.segment_colors = segments.colors;

  Blocks vertex_blocks(regions.count), frame_blocks(regions.count), joint_blocks(regions.count);
  l.vertex_tiles.reserve(vertices.size.size()), l.segment_tiles.reserve(segments.size.size());
  for (std::size_t t = 0; t < vertices.size.size(); ++t) {
    const std::span<const Index> members = vertices.tile(t);
    const Index region = regions.of_vertex(members.front());
    const GraphTile tile{0,
                         static_cast<Index>(l.vertex_index_rows),
                         0,
                         most(members, [&](Index v) { return count_sides(m, v, 1); }),
                         most(members, [&](Index v) { return count_sides(m, v, 0); }),
                         beyond(members.size()),
                         static_cast<std::uint16_t>(region)};
    l.vertex_tiles.push_back(tile);
    l.vertex_index_rows += static_cast<std::size_t>(2 * (tile.in + tile.out));
    vertex_blocks.make_room(region, kTile);
  }
  for (std::size_t t = 0; t < segments.size.size(); ++t) {
    const std::span<const Index> members = segments.tile(t);
    const Index region = regions.of_frame(members.front());
    const GraphTile tile{0,
                         static_cast<Index>(l.segment_index_rows),
                         0,
                         most(members, [&](Index s) { return own_joints_of(m, s); }),
                         most(members, [&](Index s) { return joints_of(m, s) - own_joints_of(m, s); }),
                         beyond(members.size()),
                         static_cast<std::uint16_t>(region)};
    l.segment_tiles.push_back(tile);
    l.segment_index_rows += static_cast<std::size_t>(2 + tile.in + 2 * tile.out);
    frame_blocks.make_room(region, kTile), joint_blocks.make_room(region, kTile * tile.in);
  }
  std::vector<Index> anchors;
  for (Index f = m.segment_count(); f < m.frame_count(); ++f)
    for (Index e : m.frame_joints.of(f)) {
      const Index s = m.joint_frames[e / 2][1 - e % 2];
      if (m.is_anchor(s) || !free_segment(s)) continue;
      anchors.push_back(f);
      frame_blocks.make_room(regions.of_frame(f), 1);
      break;
    }
  vertex_blocks.begin(), frame_blocks.begin(), joint_blocks.begin();
  l.windows.resize(static_cast<std::size_t>(regions.count));
  for (Index r = 0; r < regions.count; ++r)
    l.windows[r] = {vertex_blocks.window(r), frame_blocks.window(r), joint_blocks.window(r)};
  const auto reach = static_cast<std::size_t>(std::max({vertex_blocks.reach(), frame_blocks.reach(), joint_blocks.reach()}));
  l.narrow = reach * static_cast<std::size_t>(l.units_of_quad()) <= std::size_t{1} << 16;

  const auto name = [&](std::vector<Index>& id, const Members& members, std::size_t t, Index place) {
    for (int i = 0; i < kTile; ++i) id[place + l.place_in_tile(i)] = members.of[t * kTile + static_cast<std::size_t>(i)];
  };
  l.vertex_id.assign(vertex_blocks.size(), vertices.of.empty() ? 0 : vertices.of.front());
  for (std::size_t t = 0; t < l.vertex_tiles.size(); ++t) {
    GraphTile& tile = l.vertex_tiles[t];
    tile.place = vertex_blocks.take(tile.region, kTile);
    name(l.vertex_id, vertices, t, tile.place);
  }
  l.frame_id.assign(frame_blocks.size(), segments.of.empty() ? 0 : segments.of.front());
  for (std::size_t t = 0; t < l.segment_tiles.size(); ++t) {
    GraphTile& tile = l.segment_tiles[t];
    tile.place = frame_blocks.take(tile.region, kTile);
    tile.joints = joint_blocks.take(tile.region, kTile * tile.in);
    name(l.frame_id, segments, t, tile.place);
  }
  for (Index f : anchors) {
    l.anchors.push_back(frame_blocks.take(regions.of_frame(f), 1));
    l.frame_id[l.anchors.back()] = f;
  }
  l.joint_places = static_cast<std::size_t>(joint_blocks.size());
  for (const PerAxis& tau : m.joint_tau) l.most_tau = std::max(l.most_tau, tau.d3);
  l.anchors.shrink_to_fit();
  return l;
}

}  // namespace

int GraphLayout::place_in_tile(int i) const { return i / lanes * lanes + place_of_lane(lanes, i % lanes); }

GraphLayout lay_out_graph(const Model& m, std::span<const std::uint8_t> taken, int lanes, std::size_t size_of_number,
                          bool gamma) {
  const auto lay_out_in = [&](const GraphRegions& regions) { return lay_out(m, taken, regions, lanes, size_of_number, gamma); };
  const Index reach = (1 << 16) / units_of_quad(size_of_number);
  const auto free = static_cast<Index>(std::count(taken.begin(), taken.end(), 0));
  if (free <= reach) {  // otherwise an index cannot reach all quadruples
    GraphLayout whole = lay_out_in({});
    if (whole.narrow || whole.empty()) return whole;
  }
  // A window is three regions, less the empty places of tiles.
  const GraphRegions regions = regions_of(m, taken, reach / 3 * 15 / 16);
  if (regions.count > 1 && regions.count <= std::numeric_limits<std::uint16_t>::max())
    if (GraphLayout in_regions = lay_out_in(regions); in_regions.narrow) return in_regions;
  return lay_out_in({});
}

std::size_t GraphLayout::bytes() const {
  const std::size_t vertices = vertex_id.size(), frames = frame_id.size();
  const std::size_t rows = kVertexRows * vertex_tiles.size() + static_cast<std::size_t>(segment_rows()) * segment_tiles.size();
  return kTile * (rows * size_of_number + (vertex_index_rows + segment_index_rows) * size_of_index()) +
         4 * size_of_number * (vertices + (1 + force_planes()) * frames + joint_planes() * joint_places) +
         (has_joint_margins() ? joint_places * size_of_number : 0) + (vertices + frames + anchors.size()) * sizeof(Index) +
         windows.size() * sizeof(GraphWindow) + vertex_tiles.size() * (sizeof(GraphTile) + sizeof(std::uint16_t)) +
         segment_tiles.size() * (sizeof(GraphTile) + 2 * sizeof(std::uint16_t) + size_of_number);
}

namespace {

/// I is the type of indices.
template <class T, class I>
class Filler {
 public:
  Filler(const Model& m, GraphPlan<T>& plan) : m_(m), p_(plan), l_(plan.layout) {
    vertex_place_.assign(static_cast<std::size_t>(m.vertex_count()), -1);
    frame_place_.assign(static_cast<std::size_t>(m.frame_count()), -1);
    joint_place_.assign(static_cast<std::size_t>(m.joint_count()), -1);
    for (const GraphTile& tile : l_.vertex_tiles)
      for (int i = 0; i < kTile; ++i)
        if (there(tile, i)) vertex_place_[l_.vertex_id[place(tile, i)]] = place(tile, i);
    for (const GraphTile& tile : l_.segment_tiles)
      for (int i = 0; i < kTile; ++i) {
        if (!there(tile, i)) continue;
        const Index s = l_.frame_id[place(tile, i)];
        frame_place_[s] = place(tile, i);
        Index next = tile.joints + l_.place_in_tile(i);
        for (Index e : m.frame_joints.of(s))
          if (owns(m, e)) joint_place_[e / 2] = std::exchange(next, next + kTile);
      }
    for (Index at : l_.anchors) frame_place_[l_.frame_id[at]] = at;
  }

  void fill() {
    p_.vertex_number.assign(l_.vertex_tiles.size() * kVertexRows * kTile, T(0));
    p_.vertex_index.assign(l_.vertex_index_rows * kTile * sizeof(I), std::byte{0});
    p_.segment_number.assign(l_.segment_tiles.size() * static_cast<std::size_t>(l_.segment_rows()) * kTile, T(0));
    p_.segment_index.assign(l_.segment_index_rows * kTile * sizeof(I), std::byte{0});
    p_.u.assign(4 * l_.vertex_id.size(), T(0));
    p_.force.assign(4 * l_.frame_id.size() * l_.force_planes(), T(0));
    p_.q.assign(4 * l_.frame_id.size(), T(0));
    p_.joint.assign(4 * l_.joint_places * l_.joint_planes(), T(0));
    p_.joint_margin.assign(l_.has_joint_margins() ? l_.joint_places : 0, T(0));
    p_.margin.assign(l_.segment_tiles.size(), T(0));
    p_.vertex_held.assign(l_.vertex_tiles.size(), 0);
    p_.frame_held.assign(l_.segment_tiles.size(), 0);
    p_.frame_hinged.assign(l_.segment_tiles.size(), 0);
    for (const GraphTile& tile : l_.vertex_tiles)
      for (int i = 0; i < kTile; ++i)
        if (there(tile, i)) fill_vertex(tile, i);
    for (std::size_t t = 0; t < l_.segment_tiles.size(); ++t)
      for (int i = 0; i < kTile; ++i)
        if (there(l_.segment_tiles[t], i)) fill_segment(l_.segment_tiles[t], t, i);
  }

 private:
  Index place(const GraphTile& tile, int i) const { return tile.place + l_.place_in_tile(i); }
  static bool there(const GraphTile& tile, int i) { return (tile.nothing >> i & 1u) == 0; }
  /// Index 0 is a sentinel, a quadruple of zeros, and the initial value of rows.
  I offset(Index window, Index place) const { return static_cast<I>(place >= 0 ? (place - window) * l_.units_of_quad() : 0); }
  /// Sets the indices of element i in the rows from this one on.
  static auto rows(AlignedArray<std::byte>& array, Index row, int i) {
    return [first = reinterpret_cast<I*>(array.data()) + static_cast<std::ptrdiff_t>(row) * kTile + i](int n) -> I& {
      return first[n * kTile];
    };
  }

  void fill_vertex(const GraphTile& tile, int i) {
    const auto at = rows(p_.vertex_index, tile.indices, i);
    const GraphWindow& window = l_.windows[tile.region];
    int next[2] = {tile.in, 0};
    for (Index e : m_.vertex_segments.of(l_.vertex_id[place(tile, i)])) {
      const Index s = e / 2, side = e % 2;
      const int row = 2 * next[side]++;
      at(row) = offset(window.vertices, vertex_place_[m_.segment_vertices[s][1 - side]]);
      at(row + 1) = offset(window.frames, frame_place_[s]);
    }
  }

  void fill_segment(const GraphTile& tile, std::size_t t, int i) {
    const auto at = rows(p_.segment_index, tile.indices, i);
    const GraphWindow& window = l_.windows[tile.region];
    const Index s = l_.frame_id[place(tile, i)];
    for (int end = 0; end < 2; ++end)
      at(end) = offset(window.vertices, vertex_place_[m_.segment_vertices[s][static_cast<std::size_t>(end)]]);
    if (!l_.axes())
      p_.segment_number[(t * static_cast<std::size_t>(l_.segment_rows()) + kStretchRow) * kTile + static_cast<std::size_t>(i)] =
          static_cast<T>(m_.segment_stiffness[s].d3 / m_.segment_rest_length[s]);
    int own = 2, other = 2 + tile.in;
    for (Index e : m_.frame_joints.of(s)) {
      const Index j = e / 2, side = e % 2;
      const I frame = offset(window.frames, frame_place_[m_.joint_frames[j][1 - side]]);
      if (!owns(m_, e)) {
        at(other++) = frame, at(other++) = offset(window.joints, joint_place_[j]);
        continue;
      }
      at(own++) = frame;
      if (l_.damped) continue;  // without damping the target is kept as this side sees it
      const Quatd rest = side == 1 ? m_.joint_rest_rotation[j] : conj(m_.joint_rest_rotation[j]);
      if (l_.axes()) {
        put(bend_twist::stiffness4(cast<double>(m_.joint_stiffness[j])), joint_place_[j]);
        put(rest, static_cast<Index>(l_.joint_places) + joint_place_[j]);
      } else {
        put(m_.joint_stiffness[j].d3 * rest, joint_place_[j]);
      }
    }
  }
  void put(const Quatd& q, Index place) {
    T* to = p_.joint.data() + 4 * static_cast<std::ptrdiff_t>(place);
    to[0] = static_cast<T>(q.x), to[1] = static_cast<T>(q.y), to[2] = static_cast<T>(q.z), to[3] = static_cast<T>(q.w);
  }

  const Model& m_;
  GraphPlan<T>& p_;
  const GraphLayout& l_;
  std::vector<Index> vertex_place_, frame_place_, joint_place_;
};

}  // namespace

template <class T>
GraphPlan<T> plan_graph(const Model& m, std::span<const std::uint8_t> taken, int lanes, bool gamma) {
  GraphPlan<T> plan;
  plan.layout = lay_out_graph(m, taken, lanes, sizeof(T), gamma);
  if (plan.layout.empty()) return plan;
  if (plan.layout.narrow) Filler<T, std::uint16_t>(m, plan).fill();
  else Filler<T, Index>(m, plan).fill();
  return plan;
}

template GraphPlan<float> plan_graph(const Model&, std::span<const std::uint8_t>, int, bool);
template GraphPlan<double> plan_graph(const Model&, std::span<const std::uint8_t>, int, bool);

}  // namespace osier::stable_cosserat
