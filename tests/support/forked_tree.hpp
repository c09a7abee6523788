// A tree whose segments all fork: half of them are in its last layer, too wide for indices of 16 bits from 17 levels on.
#pragma once

#include <utility>

#include "support/problem.hpp"

namespace osier::test {

inline StepProblem forked_tree(int levels) {
  Random random(1);
  StepProblem p;
  RodGraph& g = p.graph;
  const Section section = random_section(random, Damping::both);
  std::vector<std::pair<Index, Index>> tips;  // vertex, segment
  const Index root = g.add_vertex({0, 0, 0}), first = g.add_vertex({0, 0, 0.2});
  tips.emplace_back(first, g.add_segment(root, first, section));
  for (int level = 1; level < levels; ++level)
    for (const auto& [vertex, segment] : std::exchange(tips, {}))
      for (double side : {-1.0, 1.0}) {
        const Vec3d way = normalized(Vec3d{side, 0.5 * side * (level % 3 - 1), 1});
        const Index tip = g.add_vertex(g.vertices[vertex].rest + 0.2 * way);
        tips.emplace_back(tip, g.add_segment(vertex, tip, section));
        g.add_joint(segment, tips.back().second);
      }
  p.model = compile_graph(g);
  update_topology(p.model);
  p.state = initial_state(g, p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[root] = 1;
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.state.vertex_velocity[v] = 0.3 * random.in_cube();
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  turn_frames(p, 0.1, random);
  return p;
}

}  // namespace osier::test
