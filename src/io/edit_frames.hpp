// The edits of curve files, made in the same way on every frame of a run.
#pragma once

#include <vector>

#include "io/curve_frame.hpp"
#include "io/curves/edit.hpp"

namespace osier {

/// Built from the first frame: new points are those of the old curves, or lie between two of them, at places that stay the same
/// material points for the whole run.
class FrameEdits {
 public:
  /// Throws InputError naming command-line options. Welding is refused: rods of a run are welded already.
  FrameEdits(const CurveFrame& first, const CurveEdits& edits);
  CurveFrame apply(const CurveFrame& frame) const;

 private:
  UpAxis up_ = UpAxis::y;
  double scale_ = 1;
  std::size_t points_ = 0;  ///< of a frame before
  CurveSet shape_;          ///< of a frame afterwards
  std::vector<Resampling::Place> source_;
};

}  // namespace osier
