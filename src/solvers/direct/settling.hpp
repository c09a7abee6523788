// When the iterations of a step are done, for trees and for lanes alike.
#pragma once

#include <algorithm>
#include <limits>

namespace osier::direct {

/// What is left of a step's motion when corrections have stopped shrinking, at most (docs/theory/direct.md): a tolerance below it
/// cannot be met, and a step that has got there counts as converged.
constexpr double kFloatFloor = 2e-5, kDoubleFloor = 1e-8;

/// Where the iterations of a step have got to [m].
struct Progress {
  double moved;   ///< by the last correction
  double before;  ///< by the one before it
  double motion;  ///< of the step so far
};

/// Nothing but rounding is left. Forces are rounded, so what they would do if nothing were elastic, `free` [m], counts as well as
/// the motion, of which a rod at rest has none; so are strains, which shows at the far end of the rods' `reach` [m].
inline bool is_at_floor(const Progress& p, double free, double reach, bool in_float) {
  const double scale = std::max(p.motion, free);
  const double digits = in_float ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
  const bool stalled = !(p.moved <= 0.5 * p.before);
  return p.moved <= 8 * digits * scale || p.moved <= 1e-12 * reach ||
         (stalled && p.moved <= std::max((in_float ? kFloatFloor : kDoubleFloor) * scale, digits * reach));
}

}  // namespace osier::direct
