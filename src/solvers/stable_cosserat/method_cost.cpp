#include "solvers/stable_cosserat/method_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/vec3.hpp"
#include "solvers/direct/split_solver.hpp"
#include "solvers/lanes/kernel_cost.hpp"
#include "solvers/stable_cosserat/kernels.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

using lanes::extent_of_chains, lanes::kShortestCut;

namespace {

/// By `osier bench kernels`.
struct Costs {
  KernelCost sweep;      ///< in lanes, over a graph: between the tree's and the bridge's
  KernelCost axes;       ///< the same with a stiffness per axis
  KernelCost strand;     ///< direct, a strand in each lane
  KernelCost cut_chain;  ///< direct, one chain in pieces
  KernelCost tree;       ///< direct, trees in lanes, with what a step takes besides
};
constexpr Costs kFloatCosts{{65, 20, 11, 7}, {200, 58, 27, 17}, {145, 38, 18, 12}, {350, 97, 53, 50}, {310, 145, 92, 92}};
constexpr Costs kDoubleCosts{{90, 65, 22, 15}, {250, 175, 49, 30}, {145, 76, 36, 25}, {356, 198, 106, 98}, {450, 355, 125, 118}};
constexpr double kAnisotropicLanes = 2;  ///< times the isotropic law
constexpr double kElementSweep = 250;    ///< a sweep with inertia of frames, element by element

/// Gauss-Newton iterations of a step: 1.1 where rods swing, 2.5 where they are thrown about. Four more decades take one more.
double direct_iterations(double tolerance) { return 1.75 + std::max(0.0, std::log10(1e-3 / tolerance)) / 4; }
/// With the exact curvature there are fewer, and the inner solves of all but the first are short.
constexpr double kBlockIterations = 0.7;

/// Lanes that a sweep passes over, those without an element included, for each element.
double lanes_per_element(const Model& m, int lanes) {
  const auto rounded = [&](const Coloring& colors) {
    double sum = 0;
    for (Index c = 0; c < colors.count(); ++c) sum += std::ceil(static_cast<double>(colors.of(c).size()) / lanes) * lanes;
    return sum;
  };
  const auto elements = static_cast<double>(m.vertex_colors.element.size() + m.segment_colors.element.size());
  return elements > 0 ? (rounded(m.vertex_colors) + rounded(m.segment_colors)) / elements : 1;
}

int lanes_of_kernels(const Settings& s) {
  return s.number == Precision::single_precision ? kernels<float>(s.instructions).lanes : kernels<double>(s.instructions).lanes;
}

double sweep_ns(const Settings& s, const Model& m, const Costs& costs) {
  const auto vertices = static_cast<double>(m.vertex_colors.element.size());
  if (m.has_inertia()) return kElementSweep * vertices;
  const KernelCost& cost = m.is_isotropic() ? costs.sweep : costs.axes;
  return cost.of(s.instructions) * lanes_per_element(m, lanes_of_kernels(s)) * vertices;
}

double direct_ns(const Settings& s, const Model& m, const Control& c, const Costs& costs, const direct::RestPlan& rest) {
  double ns = (rest.plan.loops == systems::Loops::blocks ? kBlockIterations : 1) * rest.segments * rest.plan.ns;
  for (StiffnessLaw law : {StiffnessLaw::isotropic, StiffnessLaw::anisotropic}) {
    std::vector<Chain> strands, cut;
    for (const direct::LaneChain& l : direct::lane_chains(m, c))
      if (l.law == law) (l.chain.vertices >= kShortestCut ? cut : strands).push_back(l.chain);
    const double times = law == StiffnessLaw::anisotropic ? kAnisotropicLanes : 1;
    const int lanes = lanes_of_kernels(s);
    ns += times * costs.strand.of(s.instructions) * static_cast<double>(extent_of_chains(strands, lanes).rows) * lanes;
    for (const Chain& chain : cut) ns += times * costs.cut_chain.of(s.instructions) * chain.vertices;
  }
  const direct::LaneTrees trees = direct::lane_trees(m, c, {.precision = s.number, .simd = s.instructions});
  ns += (trees.law == StiffnessLaw::anisotropic ? kAnisotropicLanes : 1) * costs.tree.of(s.instructions) * trees.slots;
  return ns;
}

}  // namespace

SweepRatios sweep_ratios(const Model& m, const Control& c, double h) {
  SweepRatios ratios;
  double vertex = 0, frame = 0, vertices = 0, frames = 0;
  const auto spring = [&](Index s) { return (1 + m.segment_tau[s].largest() / h) * m.segment_stiffness[s]; };
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c.vertex_fixed[v]) continue;
    const double inertia = m.vertex_mass[v] / (h * h) + c.vertex_damping[v] / h;
    double held = inertia, force = 0;
    for (Index e : m.vertex_segments.of(v)) {
      const double l = m.segment_rest_length[e / 2], k = spring(e / 2).largest();
      held += k / (l * l), force += k / l;
    }
    if (held > 0) ratios.give = std::max(ratios.give, force / held);
    if (inertia > 0) vertex += std::pow(held / inertia, 2), ++vertices;
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) continue;
    const double edge = spring(s).smallest() + m.segment_inertia[s].smallest() / (h * h);
    double held = edge;
    for (Index e : m.frame_joints.of(s)) held += (1 + m.joint_tau[e / 2].largest() / h) * m.joint_stiffness[e / 2].largest() / 4;
    if (edge > 0) frame += std::pow(held / edge, 2), ++frames;
  }
  if (vertices > 0) ratios.vertex = std::sqrt(vertex / vertices);
  if (frames > 0) ratios.frame = std::sqrt(frame / frames);
  return ratios;
}

// Counted against converged steps of the scenes bridge, net, ring, slingshot, trees and slinky and of cantilevers, at steps from
// 0.1 to 33 ms: within a factor of 2.5 of all of them where rods are in motion (docs/adr/0016-auto.md has the table).
double predicted_sweeps(const SweepRatios& r, double tolerance) {
  const double decades = std::max(0.3, -std::log10(tolerance) / 3);
  return decades * (10 + 5 * r.vertex + 2 * r.frame);
}

Precision sweep_precision(const Settings& s, const Model& m, const Control& c, double h, const SweepRatios& ratios) {
  double acceleration = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v] && !c.vertex_fixed[v] && m.vertex_mass[v] > 0)
      acceleration = std::max(acceleration, norm(c.vertex_force[v]) / m.vertex_mass[v]);
  const double tolerance = s.tolerance.value_or(systems::Options{}.tolerance);
  const bool fine = static_cast<double>(std::numeric_limits<float>::epsilon()) * ratios.give <= tolerance * h * h * acceleration;
  return fine ? s.number : Precision::double_precision;
}

MethodCosts method_costs(const Settings& s, const Model& m, const Control& c, double h, const direct::RestPlan& rest) {
  const auto costs = [](const Settings& of) -> const Costs& {
    return of.number == Precision::single_precision ? kFloatCosts : kDoubleCosts;
  };
  const double tolerance = s.tolerance.value_or(systems::Options{}.tolerance);
  const SweepRatios ratios = sweep_ratios(m, c, h);
  Settings sweeps = s;
  sweeps.number = sweep_precision(s, m, c, h, ratios);
  return {.sweeps = predicted_sweeps(ratios, tolerance),
          .sweep_seconds = 1e-9 * sweep_ns(sweeps, m, costs(sweeps)),
          .direct_seconds = 1e-9 * direct_iterations(tolerance) * direct_ns(s, m, c, costs(s), rest)};
}

}  // namespace osier::stable_cosserat
