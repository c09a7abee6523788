// Render strands bound to simulated guides: many hairs drawn where few were simulated.
#pragma once

#include <array>
#include <vector>

#include "io/curve_frame.hpp"

namespace osier {

/// Around each guide, `strands_per_guide` strands. A strand's root lies in a triangle of the guide's root and two neighbouring
/// ones; its barycentric coordinates there, fixed in the first frame, blend the three guides point by point (guides of different
/// lengths at equal fractions of their lengths). The guide itself has the largest share. Guides beyond `reach` [m] from the root
/// take no part: a strand then blends what remains, so partings stay.
class GuideStrands {
 public:
  /// Throws InputError when the curves cannot be guides.
  GuideStrands(const CurveFrame& first, int strands_per_guide, double reach);
  CurveFrame strands(const CurveFrame& frame) const;

 private:
  struct Strand {
    std::array<std::size_t, 3> guide;
    std::array<double, 3> weight;
  };
  std::size_t guides_;
  std::vector<Strand> strands_;
};

}  // namespace osier
