// Models in tiles: what a tile's indices lead to is what the model has there, in one region or in many.
#include "solvers/stable_cosserat/graph_plan.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "support/forked_tree.hpp"
#include "support/mixed.hpp"

namespace osier::test {
namespace {

using stable_cosserat::GraphPlan, stable_cosserat::GraphRegions, stable_cosserat::GraphTile, stable_cosserat::GraphWindow,
    stable_cosserat::kTile, stable_cosserat::kZeros, stable_cosserat::owns_joint, stable_cosserat::plan_graph,
    stable_cosserat::regions_of;

std::vector<std::uint8_t> nothing_taken(const Model& m) {
  return std::vector<std::uint8_t>(static_cast<std::size_t>(m.vertex_count()), 0);
}

constexpr Index kNone = -1;

/// Reads a plan back.
template <class T, class I>
class Reader {
 public:
  Reader(const Model& m, const GraphPlan<T>& plan) : m_(m), p_(plan) {
    for (const GraphTile& tile : p_.layout.segment_tiles) {
      for_each_of(tile, [&](int i, Index place) {
        Index at = tile.joints + p_.layout.place_in_tile(i);
        for (Index e : m_.frame_joints.of(p_.layout.frame_id[place]))
          if (owns_joint(e, m_.joint_frames[e / 2][0], m_.segment_count())) owner_[at] = e / 2, at += kTile;
      });
    }
  }

  /// Every living element once, and the neighbours that the model gives it.
  void expect_model() {
    std::set<Index> vertices, segments;
    for (const GraphTile& tile : p_.layout.vertex_tiles)
      for_each_of(tile, [&](int i, Index place) {
        const Index v = p_.layout.vertex_id[place];
        EXPECT_TRUE(vertices.insert(v).second) << v;
        expect_vertex(tile, i, v);
      });
    for (const GraphTile& tile : p_.layout.segment_tiles)
      for_each_of(tile, [&](int i, Index place) {
        const Index s = p_.layout.frame_id[place];
        EXPECT_TRUE(segments.insert(s).second) << s;
        expect_segment(tile, i, s);
      });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(vertices.size()), std::count(m_.vertex_alive.begin(), m_.vertex_alive.end(), 1));
    EXPECT_EQ(static_cast<std::ptrdiff_t>(segments.size()), std::count(m_.segment_alive.begin(), m_.segment_alive.end(), 1));
  }

 private:
  template <class F>
  void for_each_of(const GraphTile& tile, const F& f) const {
    for (int i = 0; i < kTile; ++i)
      if (!(tile.nothing >> i & 1)) f(i, tile.place + p_.layout.place_in_tile(i));
  }
  /// The quadruple that element i of a tile finds in a row, or kNone for one of zeros.
  Index found(const AlignedArray<std::byte>& rows, Index row, int i, Index window) const {
    const I index = reinterpret_cast<const I*>(rows.data())[static_cast<std::ptrdiff_t>(row) * kTile + i];
    EXPECT_EQ(index % p_.layout.units_of_quad(), 0);
    return index == 0 ? kNone : window + static_cast<Index>(index / p_.layout.units_of_quad());
  }
  static Index id(const std::vector<Index>& ids, Index place) { return place == kNone ? kNone : ids[place]; }

  using Pairs = std::multiset<std::pair<Index, Index>>;

  void expect_vertex(const GraphTile& tile, int i, Index v) {
    const GraphWindow& window = p_.layout.windows[tile.region];
    const auto read = [&](Index first, Index count) {
      Pairs pairs;
      for (Index n = first; n < first + count; ++n) {
        const Index other = found(p_.vertex_index, tile.indices + 2 * n, i, window.vertices),
                    segment = found(p_.vertex_index, tile.indices + 2 * n + 1, i, window.frames);
        if (segment != kNone) pairs.insert({id(p_.layout.vertex_id, other), id(p_.layout.frame_id, segment)});
        else EXPECT_EQ(other, kNone);
      }
      return pairs;
    };
    Pairs side[2];
    for (Index e : m_.vertex_segments.of(v)) side[e % 2].insert({m_.segment_vertices[e / 2][1 - e % 2], e / 2});
    EXPECT_EQ(read(0, tile.in), side[1]) << v;
    EXPECT_EQ(read(tile.in, tile.out), side[0]) << v;
  }

  void expect_segment(const GraphTile& tile, int i, Index s) {
    const GraphWindow& window = p_.layout.windows[tile.region];
    const auto row = [&](Index n, Index first) { return found(p_.segment_index, tile.indices + n, i, first); };
    for (Index end = 0; end < 2; ++end)
      EXPECT_EQ(id(p_.layout.vertex_id, row(end, window.vertices)), m_.segment_vertices[s][end]) << s;
    Pairs own, others, want_own, want_others;
    for (Index n = 0; n < tile.in; ++n)
      if (const Index frame = row(2 + n, window.frames); frame != kNone)
        own.insert({id(p_.layout.frame_id, frame), owner_.at(tile.joints + n * kTile + p_.layout.place_in_tile(i))});
    for (Index n = 0; n < tile.out; ++n)
      if (const Index frame = row(2 + tile.in + 2 * n, window.frames); frame != kNone)
        others.insert({id(p_.layout.frame_id, frame), owner_.at(row(3 + tile.in + 2 * n, window.joints))});
    for (Index e : m_.frame_joints.of(s))
      (owns_joint(e, m_.joint_frames[e / 2][0], m_.segment_count()) ? want_own : want_others)
          .insert({m_.joint_frames[e / 2][1 - e % 2], e / 2});
    EXPECT_EQ(own, want_own) << s;
    EXPECT_EQ(others, want_others) << s;
  }

  const Model& m_;
  const GraphPlan<T>& p_;
  std::map<Index, Index> owner_;  ///< joints by place
};

/// The plan leads to the model's neighbours; the width of its indices and whether it has several regions are as expected.
template <class T>
void expect_plan(const Model& m, int lanes, bool narrow, bool several) {
  const GraphPlan<T> plan = plan_graph<T>(m, nothing_taken(m), lanes, false);
  ASSERT_EQ(plan.layout.narrow, narrow);
  EXPECT_EQ(plan.layout.windows.size() > 1, several) << plan.layout.windows.size();
  if (narrow) Reader<T, std::uint16_t>(m, plan).expect_model();
  else Reader<T, Index>(m, plan).expect_model();
  // What an index of zero leads to belongs to nobody.
  for (const GraphWindow& window : plan.layout.windows) {
    const auto is_zero = [](Index place, Index first) { return first <= place && place < first + kZeros; };
    for (const GraphTile& tile : plan.layout.vertex_tiles) EXPECT_FALSE(is_zero(tile.place, window.vertices));
    for (const GraphTile& tile : plan.layout.segment_tiles) {
      EXPECT_FALSE(is_zero(tile.place, window.frames));
      EXPECT_FALSE(tile.in > 0 && is_zero(tile.joints, window.joints));
    }
    for (Index place : plan.layout.anchors) EXPECT_FALSE(is_zero(place, window.frames));
  }
  const auto bytes = [](const auto&... array) { return (... + (array.size() * sizeof(array[0]))); };
  EXPECT_EQ(plan.layout.bytes(), bytes(plan.vertex_number, plan.segment_number, plan.vertex_index, plan.segment_index, plan.u,
                                       plan.q, plan.force, plan.joint, plan.margin, plan.vertex_held, plan.frame_held,
                                       plan.frame_hinged, plan.layout.vertex_tiles, plan.layout.segment_tiles,
                                       plan.layout.windows, plan.layout.vertex_id, plan.layout.frame_id, plan.layout.anchors));
}

TEST(GraphPlan, LeadsToTheNeighboursOfTheModel) {
  const StepProblem small = mixed_problem(1);
  for (int lanes : {1, 4, 8, 16}) expect_plan<float>(small.model, lanes, true, false);
  for (int lanes : {1, 2, 4, 8}) expect_plan<double>(small.model, lanes, true, false);
}

TEST(GraphPlan, LeadsToTheNeighboursOfTheModelInSeveralRegions) {
  const StepProblem p = mixed_problem(2, {.net = 150});
  for (int lanes : {1, 16}) expect_plan<float>(p.model, lanes, true, true);
  for (int lanes : {2, 8}) expect_plan<double>(p.model, lanes, true, true);
  // Regions are shorter in double.
  expect_plan<float>(mixed_problem(3, {.net = 110}).model, 16, true, false);
  expect_plan<double>(mixed_problem(3, {.net = 110}).model, 8, true, true);
}

TEST(GraphPlan, HasLongIndicesWhereALayerIsTooWideForShortOnes) {
  const Model m = forked_tree(17).model;
  expect_plan<float>(m, 16, false, false);
  expect_plan<double>(m, 8, false, false);
}

/// More segments at one vertex than 16 bits can count.
TEST(GraphPlan, TakesAHubOfAnySize) {
  RodGraph g;
  Section cable;
  cable.stretch_shear = 100, cable.line_density = 1;
  const Index hub = g.add_vertex({0, 0, 0});
  for (int i = 0; i < 66000; ++i) g.add_segment(hub, g.add_vertex({1, 0.001 * i, 0}), cable);
  Model m = compile_graph(g);
  update_topology(m);
  expect_plan<float>(m, 16, false, false);
}

/// What the sweeps meet is in the same region or in neighbouring ones, and regions hold what they may.
void expect_regions(const Model& m, Index capacity, const GraphRegions& r) {
  ASSERT_GT(r.count, 2);
  std::vector<Index> vertices(r.count, 0), frames(r.count, 0), joints(r.count, 0);
  const auto near = [](Index a, Index b) { return a >= 0 && b >= 0 && std::abs(a - b) <= 1; };
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) ++vertices[r.of_vertex(v)];
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    ++frames[r.of_frame(s)];
    for (Index v : m.segment_vertices[s]) EXPECT_TRUE(near(r.of_frame(s), r.of_vertex(v))) << s;
    EXPECT_TRUE(near(r.of_vertex(m.segment_vertices[s][0]), r.of_vertex(m.segment_vertices[s][1]))) << s;
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    if (!m.joint_alive[j]) continue;
    EXPECT_TRUE(near(r.of_frame(a), r.of_frame(b))) << j;
    ++joints[r.of_frame(m.is_anchor(a) ? b : a)];
  }
  for (const std::vector<Index>& size : {vertices, frames, joints})
    EXPECT_LE(*std::max_element(size.begin(), size.end()), capacity);
  // They are filled: two neighbours would not have found room in one.
  for (Index i = 0; i + 1 < r.count; ++i)
    EXPECT_GT(std::max({vertices[i] + vertices[i + 1], frames[i] + frames[i + 1], joints[i] + joints[i + 1]}), capacity);
}

TEST(GraphRegions, HaveTheirNeighboursBesideThem) {
  for (std::uint64_t seed : {4, 5}) {
    const StepProblem p = mixed_problem(seed, {.net = 30});
    for (Index capacity : {200, 500}) expect_regions(p.model, capacity, regions_of(p.model, nothing_taken(p.model), capacity));
  }
}

TEST(GraphRegions, AreOneWhereAJointReachesFar) {
  StepProblem p = mixed_problem(6, {.net = 30});
  const auto count = [&] { return regions_of(p.model, nothing_taken(p.model), 300).count; };
  EXPECT_GT(count(), 2);
  p.model.joint_frames[0][1] = p.model.segment_count() - 1;
  update_topology(p.model);
  EXPECT_EQ(count(), 1);
}

TEST(GraphRegions, LeaveOutWhatIsTaken) {
  const StepProblem p = mixed_problem(7, {.net = 30});
  std::vector<std::uint8_t> taken = nothing_taken(p.model);
  const Index first = p.model.segment_vertices[0][0];
  taken[first] = 1;
  for (Index v = first, more = 1; more;) {  // the strand that begins there
    more = 0;
    for (Index e : p.model.vertex_segments.of(v))
      if (const Index w = p.model.segment_vertices[e / 2][1 - e % 2]; !taken[w]) taken[w] = 1, v = w, more = 1;
  }
  const GraphRegions r = regions_of(p.model, taken, 300);
  for (Index v = 0; v < p.model.vertex_count(); ++v) EXPECT_EQ(r.of_vertex(v) < 0, taken[v] || !p.model.vertex_alive[v]) << v;
}

}  // namespace
}  // namespace osier::test
