#include "scene/generators/tree_growth.hpp"

#include <algorithm>
#include <limits>

namespace osier {

namespace {

struct Attractor {
  Vec3d position;
  Index nearest = -1;  ///< vertex of the tree, kept up to date as the tree grows
  double distance = std::numeric_limits<double>::infinity();
};

std::vector<Attractor> crown(const GrowthRules& rules, Random& random) {
  std::vector<Vec3d> samples;
  for (int i = 0; i < rules.crown_samples; ++i) {
    const Vec3d p = random.in_unit_ball();
    const double height = p.y > 0 ? rules.crown_height_above : rules.crown_height_below;
    samples.push_back(rules.crown_center + Vec3d{rules.crown_width * p.x, height * p.y, rules.crown_width * p.z});
  }
  std::vector<Attractor> attractors;
  for (const Vec3d& p : farthest_points(samples, rules.attractors)) attractors.push_back({.position = p});
  return attractors;
}

class Growth {
 public:
  Growth(const GrowthRules& rules, Random& random, GrowthBudget& budget)
      : rules_(rules), budget_(budget), attractors_(crown(rules, random)) {}

  std::optional<TreeSkeleton> run() {
    add({0, 0, 0}, -1);
    for (Index i = 0; i < rules_.trunk_segments && within_budget(); ++i) add({0, rules_.step * (i + 1), 0}, i);
    while (within_budget()) {
      const auto target = next_target();
      if (target == attractors_.end()) return std::move(tree_);
      const Index from = target->nearest;
      const Vec3d& base = tree_.position[from];
      const Vec3d pull = normalized(target->position - base) + Vec3d{0, rules_.lift, 0};
      const Vec3d tip = base + rules_.step * normalized(pull);
      // With the published numbers every step comes nearer, so this never happens. With a strong lift the same step would be
      // taken for ever.
      if (norm(target->position - tip) >= target->distance) attractors_.erase(target);
      else add(tip, from);
    }
    return {};
  }

 private:
  bool within_budget() const { return budget_.vertices > 0 && budget_.distances > 0; }

  /// The attractor within reach that the sap gets to first: path length to its nearest vertex + the way from there.
  std::vector<Attractor>::iterator next_target() {
    auto best = attractors_.end();
    double best_cost = std::numeric_limits<double>::infinity();
    for (auto a = attractors_.begin(); a != attractors_.end(); ++a) {
      if (a->distance > rules_.reach) continue;
      const double cost = path_length_[a->nearest] + a->distance;
      if (cost < best_cost) best = a, best_cost = cost;
    }
    return best;
  }

  /// Each new vertex costs one distance per living attractor: with a few thousand of each that is milliseconds, less than a
  /// spatial grid would take to build.
  void add(const Vec3d& position, Index parent) {
    const Index v = static_cast<Index>(tree_.position.size());
    path_length_.push_back(parent < 0 ? 0 : path_length_[parent] + norm(position - tree_.position[parent]));
    tree_.position.push_back(position);
    tree_.parent.push_back(parent);
    budget_.vertices -= 1, budget_.distances -= static_cast<double>(attractors_.size());
    for (Attractor& a : attractors_) {
      const double distance = norm(a.position - position);
      if (distance < a.distance) a.distance = distance, a.nearest = v;
    }
    std::erase_if(attractors_, [&](const Attractor& a) { return a.distance < rules_.kill; });
  }

  GrowthRules rules_;
  GrowthBudget& budget_;
  std::vector<Attractor> attractors_;
  TreeSkeleton tree_;
  std::vector<double> path_length_;  ///< from the root [m]
};

}  // namespace

std::optional<TreeSkeleton> grow_tree(const GrowthRules& rules, Random& random, GrowthBudget& budget) {
  return Growth(rules, random, budget).run();
}

}  // namespace osier
