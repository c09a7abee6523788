#include "solvers/direct/step_plan.hpp"

#include <algorithm>
#include <cmath>

#include "model/breadth_first.hpp"
#include "solvers/lanes/kernel_cost.hpp"

namespace osier::direct {

namespace {

constexpr double kTreeLink = 300, kTreeWork = 130;  ///< per link, and per link's worth of TreePlan::work()
constexpr double kBlockAssembly = 350;              ///< per segment
constexpr KernelCost kBlockFloat{50, 18, 10, 8.5}, kBlockDouble{70, 55, 19, 15};

/// Mean of how much stiffer joints hold a frame than its edge does.
double frame_ratio(const Model& m) {
  double sum = 0, count = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double edge = m.segment_stiffness[s].smallest();
    if (!m.segment_alive[s] || !(edge > 0)) continue;
    double joints = 0;
    for (Index e : m.frame_joints.of(s)) joints += m.joint_stiffness[e / 2].largest() / 4;
    sum += joints / edge, ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Segments along the longest of the shortest ways, about.
double reach_of(const Model& m) {
  BreadthFirst search(m);
  std::vector<std::uint8_t> seen(m.vertex_count(), 0);
  double most = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (seen[v] || !m.vertex_alive[v]) continue;
    const std::span<const Index> part = search.search_from_end(v);
    for (Index w : part) seen[w] = 1;
    most = std::max(most, static_cast<double>(search.depth(part.back())));
  }
  return most;
}

/// More segments than a forest over the vertices has.
bool has_loops(const Model& m) {
  std::vector<Index> leader(m.vertex_count());
  for (Index v = 0; v < m.vertex_count(); ++v) leader[v] = v;
  const auto find = [&](Index v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const Index a = find(m.segment_vertices[s][0]), b = find(m.segment_vertices[s][1]);
    if (a == b) return true;
    leader[b] = a;
  }
  return false;
}

/// Counted on `net`, `ring` and `dome` at steps from 0.5 to 16 ms, to a factor of two; on `bridge`, whose parts differ, to four.
double expected_iterations(const Model& m, double h) {
  const double far = std::sqrt(1 + 4 * m.stiffness_ratio(h)) + std::sqrt(1 + frame_ratio(m)) - 1;
  return 6 + 6 * std::min(far, 3 * reach_of(m));
}

}  // namespace

StepPlan plan_step(const Model& m, const Control& c, double h, const Options& options) {
  constexpr double kLeaner = 1.5;  // blocks take a small part of the memory
  StepPlan blocks{.loops = Loops::blocks, .tree = {}};
  const bool either = options.loops == Loops::automatic && h > 0 && has_loops(m);
  if (either || options.loops == Loops::blocks) {
    const KernelCost& cost = options.precision == Precision::single_precision ? kBlockFloat : kBlockDouble;
    blocks.iterations = expected_iterations(m, h);
    blocks.ns = kBlockAssembly + cost.of(options.simd) * blocks.iterations;
  }
  if (options.loops == Loops::blocks) return blocks;
  StepPlan columns{.loops = Loops::columns, .tree = {}};
  if (either) {
    const double column_ns = kTreeWork * TreePlan::kWorkOfColumn / TreePlan::kWorkOfLink;
    std::optional<Tree> tree = build_tree_within(m, c, blocks.ns / kLeaner * m.segment_count() / column_ns);
    if (!tree) return blocks;
    columns.tree = std::move(*tree);
  } else {
    columns.tree = build_tree(m, c);
  }
  const double nodes = static_cast<double>(std::max<std::size_t>(1, columns.tree.nodes.size()));
  columns.ns = kTreeLink + kTreeWork * columns.tree.plan().work() / (TreePlan::kWorkOfLink * nodes);
  return either && blocks.ns < kLeaner * columns.ns ? blocks : columns;
}

}  // namespace osier::direct
