// Graph, compilation, clamps, colours, fracture bookkeeping.
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "model/rod_graph.hpp"

namespace osier {
namespace {

const Section kSection{.stretch_shear = 100, .bend_twist = 3, .line_density = 2, .radius = 0.01, .tau_stretch = 0, .tau_bend = 0};

RodGraph arc_graph(int n) {
  RodGraph g;
  std::vector<Index> path;
  for (int i = 0; i <= n; ++i) path.push_back(g.add_vertex({std::cos(0.1 * i), std::sin(0.1 * i), 0.02 * i * i}));
  g.add_chain("arc", path, kSection);
  return g;
}

TEST(RodGraph, StiffnessIsThatOfHalfSegmentsInSeries) {
  RodGraph g;
  for (double x : {0.0, 0.2, 0.6}) g.add_vertex({x, 0, 0});
  Section soft = kSection;
  soft.bend_twist = 1;
  const Index a = g.add_segment(0, 1, kSection), b = g.add_segment(1, 2, soft);
  g.add_joint(a, b);
  EXPECT_NEAR(g.joints[0].stiffness.d3, 4 / (0.1 / 3 + 0.2 / 1), 1e-12);
  EXPECT_NEAR(g.joints[0].length, 0.3, 1e-12);
  EXPECT_NEAR(g.vertices[1].mass, 0.5 * 2 * (0.2 + 0.4), 1e-12);
}

TEST(RodGraph, RestPoseHasNoStrain) {
  const RodGraph g = arc_graph(12);
  const Model m = compile_graph(g);
  const State s = initial_state(g, m);
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    const Quatd r = conj(s.frame_rotation[a]) * s.frame_rotation[b];
    EXPECT_NEAR(std::abs(dot(r, m.joint_rest_rotation[j])), 1, 1e-15);
  }
}

TEST(RodGraph, PosedFramesFollowTheEdgesAndKeepRestTwist) {
  RodGraph g = arc_graph(12);
  const Quatd turn = rotation_exp(Vec3d{0.3, -0.8, 0.5});
  for (GraphVertex& v : g.vertices) v.position = rotate(turn, v.rest) + Vec3d{1, 2, 3};
  const Model m = compile_graph(g);
  const State s = initial_state(g, m);
  for (Index k = 0; k < m.segment_count(); ++k) {
    const auto [a, b] = m.segment_vertices[k];
    EXPECT_NEAR(norm(director3(s.frame_rotation[k]) - normalized(g.vertices[b].position - g.vertices[a].position)), 0, 1e-12);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {  // a rigid motion strains nothing
    const auto [a, b] = m.joint_frames[j];
    EXPECT_NEAR(std::abs(dot(conj(s.frame_rotation[a]) * s.frame_rotation[b], m.joint_rest_rotation[j])), 1, 1e-14);
  }
}

TEST(Clamp, AtAnEndAddsOneHalfJointWithoutStrain) {
  const RodGraph g = arc_graph(6);
  Model m = compile_graph(g);
  State s = initial_state(g, m);
  const ClampResult c = add_clamp(m, g, s, 0);
  s.frame_rotation.push_back(c.rotation);
  update_topology(m);
  ASSERT_EQ(c.half_joints.size(), 1u);
  EXPECT_TRUE(c.replaced_joints.empty());
  const Index j = c.half_joints[0];
  EXPECT_NEAR(m.joint_stiffness[j].d3, 8 * kSection.bend_twist.d3 / m.segment_rest_length[0], 1e-9);
  EXPECT_NEAR(std::abs(dot(conj(c.rotation) * s.frame_rotation[0], m.joint_rest_rotation[j])), 1, 1e-14);
  EXPECT_EQ(m.frame_joints.of(c.anchor).size(), 1u);
}

TEST(Clamp, InsideARodReplacesItsJointByTwoHalves) {
  const RodGraph g = arc_graph(6);
  Model m = compile_graph(g);
  const State s = initial_state(g, m);
  const ClampResult c = add_clamp(m, g, s, 3);
  update_topology(m);
  EXPECT_EQ(c.half_joints.size(), 2u);
  ASSERT_EQ(c.replaced_joints.size(), 1u);
  EXPECT_EQ(m.joint_frames[c.replaced_joints[0]], (std::array<Index, 2>{2, 3}));
  EXPECT_FALSE(m.joint_alive[c.replaced_joints[0]]);
  for (Index j : c.half_joints)
    EXPECT_NEAR(std::abs(dot(conj(c.rotation) * s.frame_rotation[m.joint_frames[j][1]], m.joint_rest_rotation[j])), 1, 1e-14);
}

TEST(Topology, ColoursNeverTouchThemselvesAndCoverEverything) {
  RodGraph g;  // a wheel: hub, spokes, rim, joints between all segments at the hub
  const Index hub = g.add_vertex({0, 0, 0});
  std::vector<Index> spokes;
  for (int i = 0; i < 7; ++i)
    spokes.push_back(g.add_segment(hub, g.add_vertex({std::cos(0.9 * i), std::sin(0.9 * i), 0}), kSection));
  for (int i = 0; i < 7; ++i) g.add_segment(1 + i, 1 + (i + 1) % 7, kSection);
  for (std::size_t i = 0; i < spokes.size(); ++i)
    for (std::size_t k = i + 1; k < spokes.size(); ++k) g.add_joint(spokes[i], spokes[k]);
  const Model m = compile_graph(g);
  std::set<Index> seen;
  for (Index c = 0; c < m.segment_colors.count(); ++c) {
    const auto list = m.segment_colors.of(c);
    const std::set<Index> same(list.begin(), list.end());
    for (Index s : list) {
      seen.insert(s);
      for (Index e : m.frame_joints.of(s)) EXPECT_FALSE(same.count(m.joint_frames[e / 2][1 - e % 2]));
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(m.segment_count()));
  for (Index c = 0; c < m.vertex_colors.count(); ++c) {
    const auto list = m.vertex_colors.of(c);
    const std::set<Index> same(list.begin(), list.end());
    for (Index v : list)
      for (Index e : m.vertex_segments.of(v)) EXPECT_FALSE(same.count(m.segment_vertices[e / 2][1 - e % 2]));
  }
}

TEST(Topology, ABrokenSegmentTakesItsJointsAndLonelyVertexWithIt) {
  const RodGraph g = arc_graph(3);
  Model m = compile_graph(g);
  m.segment_alive[2] = 0;
  update_topology(m);
  EXPECT_EQ(m.joint_alive, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(m.vertex_alive, (std::vector<std::uint8_t>{1, 1, 1, 0}));
  EXPECT_EQ(m.vertex_segments.of(2).size(), 1u);
}

}  // namespace
}  // namespace osier
