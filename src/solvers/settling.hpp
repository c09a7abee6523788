// The stop rule of the iterations of a step, for all linear systems and for lanes.
#pragma once

#include <limits>

#include "math/number.hpp"

namespace osier::systems {

/// The rounding floor: the largest share of a step's motion that is left when corrections have stopped shrinking
/// (docs/theory/direct.md). A tolerance below it cannot be met, and a step at the floor counts as converged.
constexpr double kFloatFloor = 2e-5, kDoubleFloor = 1e-8;

/// Sizes of the corrections of a step so far [m].
struct Progress {
  double moved;   ///< largest change by the last correction
  double before;  ///< largest change by the correction before it
  double motion;  ///< largest displacement of the step so far
};

/// An iteration is ordinary when turns are small and corrections shrink. Ordinary iterations need no proof that the energy falls.
/// Where segments are next to rigid it does not fall: a correction moves their ends along straight lines, which stretches them,
/// and the next correction takes the stretch back.
constexpr double kSmallTurn = 0.1;  ///< for smaller turns the error of the quadratic model is a hundredth of its value [rad]
OSIER_FN bool is_ordinary(const Progress& p, double turned) { return turned <= kSmallTurn && p.moved <= 0.5 * p.before; }

/// Whether corrections are at the rounding floor. Forces are rounded, and a rod at rest has no motion to compare with, so the
/// displacement `free` [m] that forces would cause if nothing were elastic counts as motion, too. Strains are rounded as well,
/// which moves the far end of rods that reach as far as `reach` [m].
OSIER_FN bool is_at_floor(const Progress& p, double free, double reach, bool in_float) {
  const double scale = larger(free, p.motion);
  const double digits = in_float ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
  const bool stalled = !(p.moved <= 0.5 * p.before);
  return p.moved <= 8 * digits * scale || p.moved <= 1e-12 * reach ||
         (stalled && p.moved <= larger(digits * reach, (in_float ? kFloatFloor : kDoubleFloor) * scale));
}

/// Errors are measured against the change of motion, but at least against this share of the motion. (An error to the same side in
/// every step, 1e-3 of the motion each, would be a drag of one per second at h = 1 ms.)
constexpr double kLeastChange = 1.0 / 32;

/// The error that is left after a correction when every further one is s < 1 times the one before, doubled for safety.
OSIER_FN double left_after(double moved, double s) { return 2 * moved * s / (1 - s); }
/// The error that a tolerance allows in a step of size `motion` that changes the motion by `change`.
OSIER_FN double allowed_error(double tolerance, double change, double motion) {
  return tolerance * smaller(motion, larger(kLeastChange * motion, change));
}

/// Forecast of the error that is left after a correction, so that no further iteration is needed to see it. Within a step
/// corrections contract by a ratio s = m_k/m_(k-1), which leaves an error of m_k s/(1 - s). After the first correction of a step
/// the ratio of an earlier step is used, since its causes (how far joints are bent, which curvature is left out) change slowly.
/// The ratio is taken to grow with the correction. It is measured again after a number of steps, or when the first correction has
/// become much larger.
class Outlook {
 public:
  OSIER_FN void begin(double h) {
    if (h != h_) forget();
    h_ = h;
    corrections_ = 0;
  }
  OSIER_FN void forget() { ratio_ = kNone; }
  /// To be asked after every correction of a step: whether the forecast error is within the tolerance. `small_turn`: no frame
  /// turned by more than about a tenth of a radian.
  OSIER_FN bool is_enough(const Progress& p, bool small_turn, double tolerance) {
    ++corrections_;
    if (corrections_ == 1) first_ = p.moved;
    if (corrections_ == 2) {
      ratio_ = p.before > 0 ? p.moved / p.before : 0;
      seen_ = p.before;
      unseen_ = 0;
    }
    const bool seen = corrections_ > 1 || (unseen_ < kMostUnseen && first_ <= kMostGrowth * seen_);
    const double s = corrections_ > 1 ? p.moved / p.before : ratio_ * larger(first_ / seen_, 1.0);
    if (!seen || !small_turn || !(s < kLargest)) return false;
    if (!(left_after(p.moved, s) <= allowed_error(tolerance, first_, p.motion))) return false;
    if (corrections_ == 1) ++unseen_;
    return true;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kLargest = 0.25, kMostGrowth = 4;
  static constexpr int kMostUnseen = 15;
  double ratio_ = kNone;  ///< of a step's second correction to its first, when it was last measured
  double seen_ = 0;       ///< first correction of the step in which the ratio was measured [m]
  double first_ = 0;      ///< first correction of the present step [m]
  double h_ = 0;
  int corrections_ = 0, unseen_ = 0;
};

}  // namespace osier::systems
