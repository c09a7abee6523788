// A knitted patch: plain stockinette.
#pragma once

#include "scene/material_ref.hpp"
#include "scene/structure.hpp"

namespace osier {

class Knit : public Structure {
 public:
  int rows = 8, stitches = 12, segments_per_stitch = 16;
  double wale = 5e-3;
  Vec3d center, along{1, 0, 0}, up{0, 1, 0};
  MaterialRef material;

  static const char* kind() { return "structure_knit"; }
  static const char* help() {
    return "Plain stockinette, one yarn for each row of stitches: every loop passes behind the legs and over the head of the "
           "loop "
           "below it. The rest shape is the pattern as it is laid out. The yarn's radius may be up to a tenth of `wale` without "
           "its "
           "loops touching at the start. Needs `contact`, without which rows fall through each other. Pieces: `.row0`, ... from "
           "the bottom; groups: `.left` and `.right` (the first and the last segment of every row with its vertices, to hold).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("rows", rows, "Rows of stitches", {.min = 1});
    f("stitches", stitches, "Stitches of a row", {.min = 1});
    f("segments_per_stitch", segments_per_stitch, "Segments of one stitch", {.min = 8});
    f("wale", wale, "Width of a stitch", {.unit = "m", .min = 0, .above_min = true});
    f("center", center, "Middle of the patch", {.unit = "m"});
    f("along", along, "Direction of the rows; need not be a unit vector");
    f("up", up, "Direction from row to row; its part along `along` is dropped");
    f("material", material, "Yarn", {.required = true});
  }
  void prepare(const StructureContext& context, Problems& problems) override;
  void check(Problems& problems) const override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "knit"; }

 private:
  Section section_;
};

}  // namespace osier
