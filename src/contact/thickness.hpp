// How thick rods are for each other, as functions of numbers.
//
//   core   the distance that centrelines never reach                                      [m]
//   range  the force begins at core + range                                               [m]
//
// Rods that overlap by more than a tenth at the start of the run are as thin for each other as makes them just touch, so that no
// force acts. They grow as they part, and under load from where that holds them. A pair that was pressed down to its core is
// below it by rounding errors only: it keeps it, or it would become thinner in every step.
#pragma once

#include "math/number.hpp"

namespace osier::contact {

/// Two rods of radii r1 and r2 never come nearer than kCore (r1 + r2), and begin to repel each other kRange (r1 + r2) before
/// that: under load they rest about r1 + r2 apart. The core is more than nothing so that normals are well conditioned, and less
/// than the sum of radii so that a resting contact has room on both sides.
constexpr double kCore = 0.8, kRange = 0.4;

OSIER_FN double core_of(double r1, double r2) { return kCore * (r1 + r2); }
OSIER_FN double full_range_of(double r1, double r2) { return kRange * (r1 + r2); }
/// Half of the distance at which two such rods begin to repel each other: that between rods is the sum of two.
OSIER_FN double reach_of(double radius) { return (kCore + kRange) * radius; }

/// How much a rod on a flat face prefers to be pressed at its middle (Obstacle::nearest()) [m].
OSIER_FN double preference_of_middle(double radius) { return 0.1 * radius; }

/// The core of a pair that nothing is known of. `full`: that of rods that do not overlap; `first`: the run begins. Later in a run
/// a pair that is a little below its core has been pressed down to it: it stays as thick as it is.
OSIER_FN double core_at_first(double full, double distance, bool pushes, bool first) {
  constexpr double kRounding = 1e-6;
  constexpr double kOverlap = 0.9;                        // of the sum of radii
  constexpr double kTouching = kCore / (kCore + kRange);  // core over the distance at which the barrier begins
  constexpr double kPressed = 0.99;
  if (!first && pushes && distance > kPressed * full) return smaller(full, distance);
  if (!(distance < (1 - kRounding) * (first && pushes ? kOverlap / kCore * full : full))) return full;
  return pushes ? smaller(full, kTouching * distance) : 0.9 * distance;
}

/// That of a pair that was thin, at the distance at which a step begins.
OSIER_FN double grown_core(double thin, double full, double distance) {
  constexpr double kGrown = kCore / (kCore + 0.4 * kRange);  // at rest under load rods are a little further apart than this
  return smaller(full, larger(thin, kGrown * distance));
}

/// The range of a thin pair is in proportion to its core. `full_core` and `range`: of one that is not.
OSIER_FN double range_of(double range, double core, double full_core, bool pushes) {
  constexpr double kLeastShare = 1e-6;
  return pushes && core < full_core ? range * larger(kLeastShare, core / full_core) : range;
}

}  // namespace osier::contact
