// A woven patch: plain weave.
#pragma once

#include "scene/material_ref.hpp"
#include "scene/structure.hpp"

namespace osier {

class Weave : public Structure {
 public:
  int warp = 8, weft = 8, segments_per_crossing = 4;
  double warp_spacing = 2e-3;
  std::optional<double> weft_spacing;
  double clearance = 1.25;
  Vec3d center, along{1, 0, 0}, across{0, 1, 0};
  MaterialRef warp_material, weft_material;

  static const char* kind() { return "structure_weave"; }
  static const char* help() {
    return "A plain weave: fibres of the warp run along `along` and those of the weft along `across`, and each goes over one and "
           "under the next. The rest shape is the pattern as it is laid out; every fibre ends half a spacing beyond its last "
           "crossing. Nothing holds fibres together but contact, or springs between the groups of crossings: `.warp_ties` and "
           "`.weft_ties` are the vertices where fibres cross, in the same order; `.warp_before`, `.warp_after`, `.weft_before` "
           "and "
           "`.weft_after` their neighbours. Pieces: `.warp0`, ... and `.weft0`, ...; groups beside those of crossings: "
           "`.border`, "
           "the ends of all fibres, and `.corners`, the crossings at the corners.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("warp", warp, "Fibres of the warp", {.min = 1});
    f("weft", weft, "Fibres of the weft", {.min = 1});
    f("segments_per_crossing", segments_per_crossing, "Segments from one crossing to the next", {.min = 2});
    f("warp_spacing", warp_spacing, "Distance of neighbouring fibres of the warp", {.unit = "m", .min = 0, .above_min = true});
    f("weft_spacing", weft_spacing, "Of the weft; that of the warp when left out", {.unit = "m", .min = 0, .above_min = true});
    f("clearance", clearance,
      "Distance of centrelines where fibres cross, over the sum of their radii; contact begins at 1.2. Warp and weft wave alike",
      {.min = 1});
    f("center", center, "Middle of the patch", {.unit = "m"});
    f("along", along, "Direction of the warp; need not be a unit vector");
    f("across", across, "Direction of the weft; its part along `along` is dropped");
    f("warp_material", warp_material, "Of the warp", {.required = true});
    f("weft_material", weft_material, "Of the weft", {.required = true});
  }
  void prepare(const StructureContext& context, Problems& problems) override;
  void check(Problems& problems) const override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "weave"; }

 private:
  Section warp_section_, weft_section_;
};

}  // namespace osier
