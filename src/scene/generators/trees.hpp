// The trees of the authors' published scenes of Stable Cosserat Rods. Three of them have 9,948 vertices, 9,945 segments and
// 12,254 joints there; ours grow from other random numbers and come within a few per cent.
#pragma once

#include "scene/generators/tree_growth.hpp"
#include "scene/structure.hpp"

namespace osier {

class Trees : public Structure {
 public:
  int count = 3;
  int seed = 1;
  GrowthRules growth;
  double spread = 4.4;
  double stretch_shear = 1e4, bend_twist = 50, line_density = 0.8796, radius = 0.006;
  double tau = 0;

  static const char* kind() { return "structure_trees"; }
  static const char* help() {
    return "Trees grown by space colonisation: branches head for points of a crown, and thicken with the wood they carry. With "
           "m(v) the branch length that vertex v carries (its edges and its children's m), M the mean of m over a segment's two "
           "ends and D = M / `step`, a segment has `stretch_shear`·D, `line_density`·D and `radius`·D^0.4; a joint has "
           "`bend_twist`·(mean m of its four ends)^1.8. Pieces: one per tree, called like the structure with 0, 1, ... appended; "
           "group: `.roots` (root vertices and first segments, to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("count", count, "Number of trees", {.min = 1, .max = 1000});
    f("seed", seed, "Seed of crowns and places", {.min = 0});
    f("spread", spread, "The trees stand in a disc of this radius times the root of their number; a single one at the origin",
      {.unit = "m", .min = 0, .above_min = true});
    f("crown_samples", growth.crown_samples, "Random points in the crown before thinning", {.min = 1, .max = 1e6});
    f("attractors", growth.attractors, "Points left after thinning, which the branches head for", {.min = 1, .max = 1e5});
    f("crown_center", growth.crown_center, "Centre of the crown above the root", {.unit = "m"});
    f("crown_width", growth.crown_width, "Radius of the crown", {.unit = "m", .min = 0, .above_min = true});
    f("crown_height_above", growth.crown_height_above, "Height of the crown above its centre", {.unit = "m", .min = 0});
    f("crown_height_below", growth.crown_height_below, "Height of the crown below its centre", {.unit = "m", .min = 0});
    f("trunk_segments", growth.trunk_segments, "Segments of the bare trunk that growth starts from", {.min = 1});
    f("step", growth.step, "Length of a segment", {.unit = "m", .min = 0, .above_min = true});
    f("reach", growth.reach, "A crown point attracts branches that are at most this near",
      {.unit = "m", .min = 0, .above_min = true});
    f("kill", growth.kill, "A crown point is reached at this distance", {.unit = "m", .min = 0, .above_min = true});
    f("lift", growth.lift, "Pull upwards, relative to the pull of the crown point", {.min = 0});
    f("stretch_shear", stretch_shear, "Stretching and shearing stiffness of a segment with D = 1",
      {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness of a joint that carries 1 m of branches",
      {.unit = "N·m²", .min = 0, .above_min = true});
    f("line_density", line_density, "Line density of a segment with D = 1", {.unit = "kg/m", .min = 0, .above_min = true});
    f("radius", radius, "Radius of a segment with D = 1", {.unit = "m", .min = 0, .above_min = true});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  void check(Problems& problems) const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "trees"; }

 private:
  RodInfo add_tree(RodGraph& graph, const TreeSkeleton& tree, const Vec3d& root) const;
};

}  // namespace osier
