#include "scene/generators/trees.hpp"

#include <fmt/format.h>

namespace osier {

namespace {

/// Some ten seconds of work.
constexpr double kMostDistances = 2e10;

/// Branch length that each vertex carries: the edges at it, and what its children carry. (An edge counts at both its ends.)
std::vector<double> carried_length(const TreeSkeleton& tree) {
  std::vector<double> mass(tree.position.size(), 0);
  for (std::size_t v = mass.size() - 1; v > 0; --v) {  // children come after their parents
    const Index p = tree.parent[v];
    const double edge = norm(tree.position[v] - tree.position[p]);
    mass[v] += edge;
    mass[p] += edge + mass[v];
  }
  return mass;
}

std::vector<Vec3d> root_places(int count, double spread, Random& random) {
  if (count == 1) return {Vec3d{}};
  const int kCandidatesPerTree = 100;
  const double disc = spread * std::sqrt(static_cast<double>(count));
  std::vector<Vec3d> candidates;
  for (int i = 0; i < kCandidatesPerTree * count; ++i) candidates.push_back(disc * random.in_unit_disc());
  return farthest_points(candidates, count);
}

}  // namespace

void Trees::check(Problems& problems) const {
  if (growth.attractors > growth.crown_samples)
    problems.add(where + "/attractors", "exceeds `crown_samples`", "thinning can only leave fewer points");
  if (growth.kill >= growth.reach)
    problems.add(where + "/kill", "is not below `reach`: nothing would attract", "make it smaller than `reach`");
  const double distances = static_cast<double>(count) * growth.crown_samples * growth.attractors;
  if (distances > kMostDistances)
    problems.add(where, fmt::format("compares {:.2g} pairs of crown points", distances),
                 fmt::format("use fewer trees, `crown_samples` or `attractors`: at most {:.2g}", kMostDistances));
}

void Trees::build(RodGraph& graph, const std::string& prefix) const {
  Random random(seed);
  RodInfo roots{.name = prefix + ".roots", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  GrowthBudget budget;
  const std::vector<Vec3d> places = root_places(count, spread, random);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::optional<TreeSkeleton> skeleton = grow_tree(growth, random, budget);
    if (!skeleton)
      throw InputError({{where, "grows beyond two million segments, or compares too many points on the way",
                         "use a longer `step`, fewer `trunk_segments`, `attractors` or trees"}});
    RodInfo tree = add_tree(graph, *skeleton, places[i]);
    tree.name = prefix + std::to_string(i);
    roots.vertices.push_back(tree.vertices.front());
    roots.segments.push_back(tree.segments.front());
    graph.rods.push_back(std::move(tree));
  }
  graph.rods.push_back(std::move(roots));
}

RodInfo Trees::add_tree(RodGraph& graph, const TreeSkeleton& tree, const Vec3d& root) const {
  const std::vector<double> mass = carried_length(tree);
  const std::size_t n = tree.position.size();
  RodInfo info;
  for (const Vec3d& p : tree.position) info.vertices.push_back(graph.add_vertex(root + p));

  // Segment v - 1 of the tree ends at vertex v. Its frame is carried over from the branch it grows out of.
  std::vector<std::vector<Index>> at_vertex(n);  // local segment numbers
  for (std::size_t v = 1; v < n; ++v) {
    const Index p = tree.parent[v];
    const double D = 0.5 * (mass[v] + mass[p]) / growth.step;
    // Drawn thickness only: the published line density at the density of wood would make the trunk wider than it is tall.
    // r^2.5 ~ carried wood lies between da Vinci's rule (2, equal area) and Murray's (3).
    const Section section{.stretch_shear = stretch_shear * D,
                          .bend_twist = bend_twist * std::pow(0.5 * (mass[v] + mass[p]), 1.8),  // for a clamp at the root
                          .line_density = line_density * D,
                          .radius = radius * std::pow(D, 0.4),
                          .tau_stretch = tau,
                          .tau_bend = tau};
    std::optional<Index> like;
    if (p > 0) like = info.segments[p - 1];
    info.segments.push_back(graph.add_segment(info.vertices[p], info.vertices[v], section, like));
    at_vertex[p].push_back(static_cast<Index>(v) - 1);
    at_vertex[v].push_back(static_cast<Index>(v) - 1);
  }

  const auto ends_mass = [&](Index s) { return mass[s + 1] + mass[tree.parent[s + 1]]; };
  for (const auto& here : at_vertex)
    for (std::size_t i = 0; i < here.size(); ++i)
      for (std::size_t j = i + 1; j < here.size(); ++j) {
        const double mean = 0.25 * (ends_mass(here[i]) + ends_mass(here[j]));
        const double EI = bend_twist * std::pow(mean, 1.8);
        info.joints.push_back(graph.add_joint(info.segments[here[i]], info.segments[here[j]], EI));
      }
  return info;
}

}  // namespace osier
