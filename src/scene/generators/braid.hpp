// Strands that are braided flat.
#pragma once

#include "scene/material_ref.hpp"
#include "scene/structure.hpp"

namespace osier {

class Braid : public Structure {
 public:
  int strands = 3, segments_per_period = 24;
  double periods = 4, width = 0.04, thickness = 0.03, period = 0.12;
  Vec3d from, along{1, 0, 0}, across{0, 1, 0};
  MaterialRef material;

  static const char* kind() { return "structure_braid"; }
  static const char* help() {
    return "Strands that cross over and under each other, side by side in a flat braid: strand k of n goes to and fro across the "
           "braid, width/2 sin a, while it goes up and down n - 1 times as often, thickness/2 sin (n - 1) a, with a = 2 pi "
           "(s/`period` + k/n). The rest shape is the pattern as it is laid out. Needs `contact`. Pieces: `.strand0`, ...; "
           "groups: "
           "`.start` and `.end` (the first and the last segment of every strand with its vertices, to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("strands", strands, "Number of strands, odd", {.min = 3, .max = 9});
    f("periods", periods, "How often a strand goes to and fro", {.min = 0, .above_min = true});
    f("segments_per_period", segments_per_period, "Segments of a period", {.min = 8});
    f("period", period, "Length of a period along the braid", {.unit = "m", .min = 0, .above_min = true});
    f("width", width, "Width between centrelines", {.unit = "m", .min = 0, .above_min = true});
    f("thickness", thickness, "Thickness between centrelines", {.unit = "m", .min = 0, .above_min = true});
    f("from", from, "Middle of the first end", {.unit = "m"});
    f("along", along, "Direction of the braid; need not be a unit vector");
    f("across", across, "Direction of its width; its part along `along` is dropped");
    f("material", material, "Strand", {.required = true});
  }
  void prepare(const StructureContext& context, Problems& problems) override;
  void check(Problems& problems) const override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "braid"; }

 private:
  int segments() const;
  Vec3d at(int strand, double turns) const;
  Section section_;
};

}  // namespace osier
