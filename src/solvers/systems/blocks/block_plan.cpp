#include "solvers/systems/blocks/block_plan.hpp"

#include <algorithm>

#include "exec/lanes.hpp"

namespace osier::systems {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The number of neighbours on one side.
Index count_side(std::span<const Index> entries, Index side) {
  return static_cast<Index>(std::count_if(entries.begin(), entries.end(), [&](Index e) { return e % 2 == side; }));
}

/// Sorts elements by their number of neighbours and puts them into tiles.
template <class Alive, class Entries, class Tile>
void tile(Index count, int lanes, const Alive& alive, const Entries& entries, std::vector<Index>& place, const Tile& add_tile) {
  std::vector<Index> list;
  for (Index e = 0; e < count; ++e)
    if (alive(e)) list.push_back(e);
  std::stable_sort(list.begin(), list.end(), [&](Index a, Index b) {
    const auto key = [&](Index e) { return std::pair(count_side(entries(e), 1), count_side(entries(e), 0)); };
    return key(a) < key(b);
  });
  place.assign(at(count), -1);
  for (std::size_t i = 0; i < list.size(); ++i) place[at(list[i])] = static_cast<Index>(i);
  for (std::size_t i = 0; i < list.size(); i += at(lanes)) {
    const std::span<const Index> members = std::span(list).subspan(i, std::min(list.size() - i, at(lanes)));
    Index in = 0, out = 0;
    for (Index e : members) in = std::max(in, count_side(entries(e), 1)), out = std::max(out, count_side(entries(e), 0));
    add_tile(members, in, out);
  }
}

}  // namespace

BlockLayout lay_out_blocks(const Model& m, const Subset& subset, int lanes) {
  BlockLayout l;
  l.lanes = lanes;
  const std::size_t w = at(lanes);
  // The members of each tile.
  std::vector<std::vector<Index>> members;
  const auto add = [&](std::span<const Index> own, Index in, Index out) {
    l.tiles.push_back({0, in, out});
    members.emplace_back(own.begin(), own.end());
  };
  tile(
      m.vertex_count(), lanes, [&](Index v) { return subset.has_vertex(m, v); }, [&](Index v) { return m.vertex_segments.of(v); },
      l.vertex_place, add);
  l.vertex_tiles = l.tiles.size();
  tile(
      m.segment_count(), lanes, [&](Index s) { return subset.has_segment(m, s); }, [&](Index s) { return m.frame_joints.of(s); },
      l.segment_place, add);
  const auto no_segment = static_cast<Index>(4 * l.segment_places());
  const auto nothing = static_cast<Index>(4 * (l.vertex_places() + l.segment_places()));  // the sentinel among directions
  std::size_t rows = 0;
  for (std::size_t t = 0; t < l.tiles.size(); ++t) {
    BlockTile& tile = l.tiles[t];
    tile.indices = static_cast<Index>(rows);
    rows += t < l.vertex_tiles ? at(tile.in + tile.out) : 2 + 2 * (at(tile.in + tile.out));
  }
  l.index.assign(rows * w, 0);
  for (std::size_t t = 0; t < l.tiles.size(); ++t) {
    const BlockTile& tile = l.tiles[t];
    const bool of_vertices = t < l.vertex_tiles;
    for (std::size_t k = 0; k < w; ++k) {
      Index* row = l.index.data() + at(tile.indices) * w + k;
      const auto put = [&](std::size_t i, Index value) { row[i * w] = value; };
      const std::size_t neighbours = at(tile.in + tile.out);
      if (of_vertices) {
        for (std::size_t i = 0; i < neighbours; ++i) put(i, no_segment);
      } else {
        put(0, nothing), put(1, nothing);
        for (std::size_t i = 0; i < neighbours; ++i) put(2 + 2 * i, nothing), put(3 + 2 * i, m.joint_count());
      }
      if (k >= members[t].size()) continue;
      const Index e = members[t][k];
      std::size_t next[2] = {at(tile.in), 0};  // by side
      if (of_vertices) {
        for (Index entry : m.vertex_segments.of(e))
          if (subset.has_segment(m, entry / 2)) put(next[entry % 2]++, l.quad(l.segment_place[at(entry / 2)]));
        continue;
      }
      for (std::size_t end = 0; end < 2; ++end) put(end, l.quad(l.vertex_place[at(m.segment_vertices[e][end])]));
      for (Index entry : m.frame_joints.of(e)) {
        const Index other = m.joint_frames[entry / 2][1 - entry % 2];
        const std::size_t i = next[entry % 2]++;
        put(2 + 2 * i, m.is_anchor(other) ? nothing : l.quad(static_cast<Index>(l.vertex_places()) + l.segment_place[at(other)]));
        put(3 + 2 * i, entry / 2);
      }
    }
  }
  l.tiles.shrink_to_fit();
  return l;
}

Index BlockLayout::quad(Index place) const { return 4 * (place / lanes * lanes + place_of_lane(lanes, place % lanes)); }

std::size_t BlockLayout::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(tiles) + of(vertex_place) + of(segment_place) + of(index);
}

}  // namespace osier::systems
