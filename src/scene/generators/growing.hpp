// What grows in great numbers out of a surface: strands of hair, blades of grass.
#pragma once

#include <span>
#include <string>

#include "model/rod_graph.hpp"
#include "scene/generators/sampling.hpp"

namespace osier {

/// A unit vector at a right angle to the unit vector n.
Vec3d any_across(const Vec3d& n);

/// A unit vector within `angle` [rad] of the unit vector n, evenly spread over the directions around it.
Vec3d leaning(const Vec3d& n, double angle, Random& random);

/// Adds rods `<prefix>0`, `<prefix>1`, ... and, when it goes, their group `<prefix>.roots` of first vertices and first segments.
class RootGroup {
 public:
  /// Room for `count` rods of `vertices` each is made at once: growing arrays would hold a large head of hair twice.
  RootGroup(RodGraph& graph, const std::string& prefix, int count, int vertices);
  ~RootGroup();
  RootGroup(const RootGroup&) = delete;
  RootGroup& operator=(const RootGroup&) = delete;
  void grow(std::span<const Vec3d> points, std::span<const Section> sections);

 private:
  RodGraph& graph_;
  std::string prefix_;
  RodInfo roots_;
  std::vector<Index> path_;
  int grown_ = 0;
};

}  // namespace osier
