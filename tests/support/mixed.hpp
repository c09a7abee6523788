// A step of everything at once: strands of uneven length, one long chain, a tree, a net and cables, with all that can be held,
// driven, damped and broken.
#pragma once

#include "support/problem.hpp"

namespace osier::test {

struct MixedOptions {
  Damping damping = Damping::both;
  bool torque = true, held = true, broken = true;
  int long_chain = 700;  ///< vertices
  int net = 6;           ///< cells each way
  double strain = 0.1;
};

inline StepProblem mixed_problem(std::uint64_t seed, const MixedOptions& options = {}) {
  Random random(seed);
  StepProblem p;
  RodGraph& g = p.graph;
  const double l = 0.2;
  const auto section = [&] { return random_section(random, options.damping); };
  const auto strand = [&](Vec3d from, int vertices) {
    std::vector<Index> path{g.add_vertex(from)};
    for (Index v : random_walk(g, from, vertices - 1, l, random)) path.push_back(v);
    add_twisted_chain(g, path, section(), false, 0.5, random);
    return path;
  };

  std::vector<std::vector<Index>> strands;
  for (int n : {5, 2, 9, 30, 31, 7, 28, 3, 12, 33, 17, 16, 8, 25, 4, 6, 11, 29, 30, 10, 21})
    strands.push_back(strand({static_cast<double>(strands.size()), 0, 0}, n));
  const std::vector<Index> chain = strand({0, 5, 0}, options.long_chain);

  std::vector<Index> trunk = strand({0, 0, 10}, 14);
  std::vector<Index> branch_segments;
  const Index trunk_first = static_cast<Index>(g.segments.size()) - 13;
  for (int i : {3, 3, 5, 6, 8, 8, 11, 13}) {
    std::vector<Index> branch{trunk[i]};
    for (Index v : random_walk(g, g.vertices[trunk[i]].rest, 2 + i % 4, l, random)) branch.push_back(v);
    const auto made = add_twisted_chain(g, branch, section(), false, 0.5, random);
    g.add_joint(trunk_first + i - 1, made[0]);
    if (i < 13) g.add_joint(made[0], trunk_first + i);
    branch_segments.insert(branch_segments.end(), made.begin(), made.end());
  }

  const int n = options.net + 1;
  std::vector<Index> knots;
  for (int i = 0; i < n * n; ++i)
    knots.push_back(g.add_vertex(Vec3d{0.3 * (i % n), 0.3 * (i / n), -10} + 0.02 * random.in_cube()));
  Section cable = section();
  cable.bend_twist = 0.0;
  std::vector<Index> net_segments;
  for (int i = 0; i < n; ++i) {
    std::vector<Index> row, column;
    for (int j = 0; j < n; ++j) row.push_back(knots[i * n + j]), column.push_back(knots[j * n + i]);
    const auto bending = add_twisted_chain(g, row, section(), false, 0.2, random);
    net_segments.insert(net_segments.end(), bending.begin(), bending.end());
    for (int j = 0; j + 1 < n; ++j) net_segments.push_back(g.add_segment(column[j], column[j + 1], cable));
  }

  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  if (options.held)
    for (Index v : {strands[0][0], strands[3][0], strands[3].back(), chain.front(), chain.back(), trunk[0], strands[9][0]})
      p.state.frame_rotation.push_back(add_clamp(p.model, g, p.state, v).rotation);
  if (options.broken) {
    const Index first = p.model.segment_count() - static_cast<Index>(net_segments.size());
    p.model.segment_alive[first + 5] = p.model.segment_alive[branch_segments[1]] = 0;
    Index s = 0;  // two neighbours in a strand: the vertex between them is dead
    while (p.model.segment_vertices[s][0] != strands[4][12]) ++s;
    p.model.segment_alive[s] = p.model.segment_alive[s + 1] = 0;
  }
  update_topology(p.model);

  p.control = still_control(p.model, p.state);
  Control& c = p.control;
  if (options.held) {
    for (Index v : {strands[0][0], strands[3][0], strands[3].back(), strands[9][0], chain.front(), chain.back(), trunk[0],
                    knots[0], knots[static_cast<std::size_t>(n - 1)]})
      c.vertex_fixed[v] = 1, c.vertex_target[v] += 0.01 * random.in_cube();
    for (Index s : {branch_segments[2], Index(20), Index(300)})
      c.frame_control[s] = FrameControl::fixed,
      c.frame_target[s] = normalized(rotation_exp(0.1 * random.in_cube()) * c.frame_target[s]);
    for (Index s : {branch_segments[4], Index(40), Index(500)})
      c.frame_control[s] = FrameControl::hinged, c.frame_hinge_axis[s] = random.direction();
  }
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    c.vertex_force[v] = 2.0 * random.in_cube();
    c.vertex_damping[v] = random.range(0, 0.5);
    p.state.vertex_velocity[v] = random.in_cube();
    if (!c.vertex_fixed[v]) p.state.vertex_position[v] += (options.strain * l) * random.in_cube();
  }
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  turn_frames(p, options.strain, random);
  if (options.torque) add_torques(p, 0.2, Loose::left_alone, random);
  return p;
}

}  // namespace osier::test
