#include "solvers/direct/step_plan.hpp"

#include <algorithm>
#include <cmath>

#include "model/breadth_first.hpp"
#include "solvers/lanes/kernel_cost.hpp"

namespace osier::direct {

using systems::TreePlan;

namespace {

constexpr double kTreeLink = 300, kTreeWork = 130;  ///< ns per link, and per work of one link in TreePlan::work()
constexpr double kBlockAssembly = 350;              ///< ns per segment
constexpr KernelCost kBlockFloat{50, 18, 10, 8.5}, kBlockDouble{70, 55, 19, 15};

/// The mean ratio of the stiffness of joints on a frame to that of its edge.
double frame_ratio(const Model& m, const Subset& subset) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < subset.segments.size(); ++i) {
    const Index s = subset.segments[i];
    const double edge = m.segment_stiffness[s].smallest();
    if (!m.segment_alive[s] || !(edge > 0)) continue;
    double joints = 0;
    for (Index e : m.frame_joints.of(s)) joints += m.joint_stiffness[e / 2].largest() / 4;
    sum += joints / edge;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// About the number of segments along the longest of all shortest paths.
double reach_of(const Model& m, const Subset& subset) {
  BreadthFirst search(m);
  std::vector<std::uint8_t> seen(m.vertex_count(), 0);
  double most = 0;
  for (std::size_t i = 0; i < subset.vertices.size(); ++i) {
    const Index v = subset.vertices[i];
    if (seen[v] || !m.vertex_alive[v]) continue;
    const std::span<const Index> part = search.search_from_end(v);
    for (Index w : part) seen[w] = 1;
    most = std::max(most, static_cast<double>(search.depth(part.back())));
  }
  return most;
}

/// Whether there are more segments than a forest over the vertices has.
bool has_loops(const Model& m, const Subset& subset) {
  std::vector<Index> leader(m.vertex_count());
  for (Index v = 0; v < m.vertex_count(); ++v) leader[v] = v;
  const auto find = [&](Index v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  for (std::size_t i = 0; i < subset.segments.size(); ++i) {
    const Index s = subset.segments[i];
    if (!m.segment_alive[s]) continue;
    const Index a = find(m.segment_vertices[s][0]), b = find(m.segment_vertices[s][1]);
    if (a == b) return true;
    leader[b] = a;
  }
  return false;
}

/// Springs, and vertices held along single directions.
bool has_vertex_terms(const Model& m, const Control& c, const Subset& subset) {
  const auto in = [&](Index v) { return v >= 0 && subset.has_vertex(m, v); };
  return std::any_of(c.held_axes.begin(), c.held_axes.end(), [&](const HeldAxes& h) { return in(h.vertex); }) ||
         std::any_of(c.springs.begin(), c.springs.end(), [&](const Spring& s) { return in(s.a) || in(s.b); });
}

/// The expected number of iterations of conjugate gradients. Fitted to `net`, `ring` and `dome` at steps from 0.5 to 16 ms, where
/// it is right within a factor of two; on `bridge`, whose parts differ, within four.
double expected_iterations(const Model& m, const Subset& subset, double h) {
  const double far = std::sqrt(1 + 4 * m.stiffness_ratio(h)) + std::sqrt(1 + frame_ratio(m, subset)) - 1;
  return 6 + 6 * std::min(far, 3 * reach_of(m, subset));
}

}  // namespace

StepPlan plan_step(const Model& m, const Control& c, double h, const Options& options) {
  return plan_step(m, c, whole_of(m), h, options);
}

StepPlan plan_step(const Model& m, const Control& c, const Subset& subset, double h, const Options& options) {
  constexpr double kMemoryBonus = 1.5;  // blocks take a small part of the memory
  constexpr double kSparse = 4000;      // ns per segment, measured
  if (has_vertex_terms(m, c, subset)) return {.loops = Loops::sparse, .tree = {}, .iterations = 1, .ns = kSparse};
  StepPlan blocks{.loops = Loops::blocks, .tree = {}};
  const bool either = options.loops == Loops::automatic && h > 0 && has_loops(m, subset);
  if (either || options.loops == Loops::blocks) {
    const KernelCost& cost = options.precision == Precision::single_precision ? kBlockFloat : kBlockDouble;
    blocks.iterations = expected_iterations(m, subset, h);
    blocks.ns = kBlockAssembly + cost.of(options.simd) * blocks.iterations;
  }
  if (options.loops == Loops::blocks) return blocks;
  StepPlan columns{.loops = Loops::columns, .tree = {}};
  if (either) {
    const double column_ns = kTreeWork * TreePlan::kWorkOfColumn / TreePlan::kWorkOfLink;
    std::optional<Tree> tree = systems::build_tree_within(
        m, c, subset, blocks.ns / kMemoryBonus * static_cast<double>(subset.segments.size()) / column_ns);
    if (!tree) return blocks;
    columns.tree = std::move(*tree);
  } else {
    columns.tree = systems::build_tree(m, c, subset);
  }
  const double nodes = static_cast<double>(std::max<std::size_t>(1, columns.tree.nodes.size()));
  columns.ns = kTreeLink + kTreeWork * columns.tree.plan().work() / (TreePlan::kWorkOfLink * nodes);
  return either && blocks.ns < kMemoryBonus * columns.ns ? blocks : columns;
}

}  // namespace osier::direct
