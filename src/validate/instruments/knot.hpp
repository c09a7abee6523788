// Whether a rod is knotted. Its knot determinant is that of the colouring equations of a projection: for every crossing, twice
// the strand that goes over equals the sum of the two strands that end under it. All equations but one and all strands but one;
// the determinant does not depend on which, nor on the projection [Livingston 1993, Knot Theory, chapter 3].
//
// 1 for a rod without a knot, 3 for an overhand knot (trefoil), 5 for a figure-eight knot. An open rod is one strand more than a
// closed one, its two ends far away belong together.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

/// Corners of an open curve, or of a closed one without its first corner again. Seen from an irregular direction, so that no
/// crossing falls on a corner.
double knot_determinant(const std::vector<Vec3d>& corners, bool closed);

class Knot final : public Instrument {
 public:
  std::string rod;

  static const char* kind() { return "knot"; }
  static const char* help() {
    return "Which knot a rod forms at the end. Column: determinant (1: none, 3: overhand knot). Ends of an open rod have to be "
           "outside of the knot.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("rod", rod, "Which rod; the first when left out");
  }
  void prepare(const Scene& scene, Problems& problems) override;
  std::vector<std::string> columns() const override { return {"determinant"}; }
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  std::vector<Index> vertices_;
  bool closed_ = false;
};

}  // namespace osier::validate
