// Branches of one tree are solved at the same time, and nothing shows it.
#include <gtest/gtest.h>

#include "solvers/direct/direct_solver.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

/// A trunk with many boughs, one of which ends at the tip of another.
StepProblem bushy_tree() {
  StepProblem p;
  Random random(2600);
  RodGraph& g = p.graph;
  const double l = 0.1;
  std::vector<Index> trunk{g.add_vertex({0, 0, 0})};
  for (Index v : random_walk(g, {0, 0, 0}, 24, l, random)) trunk.push_back(v);
  const Section section = random_section(random, Damping::both);
  const std::vector<Index> trunk_segments = add_twisted_chain(g, trunk, section, false, 0.3, random);
  Index tip = -1;
  for (int i = 2; i < 24; ++i)
    for (int k = 0; k < 2; ++k) {
      std::vector<Index> path{trunk[static_cast<std::size_t>(i)]};
      for (Index v : random_walk(g, g.vertices[path[0]].rest, 30, l, random)) path.push_back(v);
      if (i == 20 && k == 1) path.push_back(tip);
      tip = path.back();
      const std::vector<Index> bough = add_twisted_chain(g, path, section, false, 0.3, random);
      g.add_joint(trunk_segments[static_cast<std::size_t>(i - 1)], bough.front());
    }
  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[trunk[0]] = 1;
  for (Vec3d& f : p.control.vertex_force) f = random.in_cube();
  p.h = 0.01;
  return p;
}

TEST(DirectBranches, ArePartsThatOnlyTheTrunkTies) {
  const StepProblem p = bushy_tree();
  const systems::TreePlan plan = systems::build_tree(p.model, p.control).plan();
  ASSERT_GE(plan.branches.size(), 8u);
  std::vector<int> job(plan.places.size(), -1), when(plan.places.size(), -1);
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    const auto place = static_cast<std::size_t>(plan.order[i]);
    ASSERT_EQ(when[place], -1) << "twice in the order";
    when[place] = static_cast<int>(i);
    for (std::size_t b = 0; b < plan.branches.size(); ++b)
      if (static_cast<int>(i) >= plan.branches[b].first_in_order && static_cast<int>(i) < plan.branches[b].last_in_order)
        job[place] = static_cast<int>(b);
  }
  std::vector<int> from(plan.places.size(), -1);  // the branch that a place of the trunk is fed by
  for (int place = 0; place < plan.node_count(); ++place) {
    const auto here = static_cast<std::size_t>(place), parent = static_cast<std::size_t>(plan.places[here].parent);
    ASSERT_GE(when[here], 0);
    ASSERT_TRUE(when[here] < when[parent]) << "a child after its parent";
    if (job[here] < 0) {
      ASSERT_EQ(job[parent], -1) << "the trunk below a branch";
      continue;
    }
    if (job[parent] >= 0) {
      ASSERT_EQ(job[parent], job[here]);
      continue;
    }
    ASSERT_TRUE(from[parent] < 0 || from[parent] == job[here]) << "two branches at one place";
    from[parent] = job[here];
  }
  for (int place = 0; place < plan.node_count(); ++place) {  // nothing of the trunk adds to such a place
    const auto here = static_cast<std::size_t>(place);
    if (job[here] >= 0) continue;
    ASSERT_EQ(from[static_cast<std::size_t>(plan.places[here].parent)], -1);
  }
}

TEST(DirectBranches, AreTheSameForAnyNumberOfThreads) {
  const StepProblem p = bushy_tree();
  for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
    State alone;
    for (int threads : {1, 2, 3, 7}) {
      State state = p.state;
      direct::DirectSolver direct(p.model, {.precision = precision, .threads = threads});
      for (int i = 0; i < 5; ++i) ASSERT_FALSE(direct.step(p.input(), state).non_finite);
      if (threads == 1) alone = state;
      for (std::size_t v = 0; v < state.vertex_position.size(); ++v)
        ASSERT_EQ(norm(state.vertex_position[v] - alone.vertex_position[v]), 0) << threads << " threads";
      for (std::size_t f = 0; f < state.frame_rotation.size(); ++f)
        ASSERT_EQ(norm2(state.frame_rotation[f] - alone.frame_rotation[f]), 0) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace osier::test
