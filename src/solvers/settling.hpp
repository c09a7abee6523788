// When the iterations of a step are done, for trees and for lanes alike.
#pragma once

#include <limits>

#include "math/number.hpp"

namespace osier::systems {

/// What is left of a step's motion when corrections have stopped shrinking, at most (docs/theory/direct.md): a tolerance below it
/// cannot be met, and a step that has got there counts as converged.
constexpr double kFloatFloor = 2e-5, kDoubleFloor = 1e-8;

/// Where the iterations of a step have got to [m].
struct Progress {
  double moved;   ///< by the last correction
  double before;  ///< by the one before it
  double motion;  ///< of the step so far
};

/// Small turns and shrinking corrections need no proof that the energy falls. Where segments are next to rigid it does not: a
/// correction moves their ends along straight lines, which stretches them by what the next one takes back.
constexpr double kSmallTurn = 0.1;  ///< below, what the quadratic model leaves out is a hundredth of what it says [rad]
OSIER_FN bool is_ordinary(const Progress& p, double turned) { return turned <= kSmallTurn && p.moved <= 0.5 * p.before; }

/// Nothing but rounding is left. Forces are rounded, so what they would do if nothing were elastic, `free` [m], counts as well as
/// the motion, of which a rod at rest has none; so are strains, which shows at the far end of the rods' `reach` [m].
OSIER_FN bool is_at_floor(const Progress& p, double free, double reach, bool in_float) {
  const double scale = larger(free, p.motion);
  const double digits = in_float ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
  const bool stalled = !(p.moved <= 0.5 * p.before);
  return p.moved <= 8 * digits * scale || p.moved <= 1e-12 * reach ||
         (stalled && p.moved <= larger(digits * reach, (in_float ? kFloatFloor : kDoubleFloor) * scale));
}

/// The smallest change of motion, over the motion, that errors are measured against: one to the same side in every step, 1e-3 of
/// the motion each, would be a drag of one per second at h = 1 ms.
constexpr double kLeastChange = 1.0 / 32;

/// What is left after a move when every one to come is s < 1 times the one before, doubled for safety.
OSIER_FN double left_after(double moved, double s) { return 2 * moved * s / (1 - s); }
/// The error that a tolerance allows in a step that goes this far, `motion`, and changes that much of it.
OSIER_FN double allowed_error(double tolerance, double change, double motion) {
  return tolerance * smaller(motion, larger(kLeastChange * motion, change));
}

/// What a step's correction leaves to be done, without another iteration to see it. Within a step corrections have contracted by
/// a ratio s = m_k/m_(k-1), and m_k s/(1 - s) is left. After the first one, s is that of an earlier step: what decides it (how
/// far joints are bent, which curvature is left out) is not new in every step. It grows with the correction, and is looked at
/// again after a number of steps, or where the correction is another one altogether.
class Outlook {
 public:
  OSIER_FN void begin(double h) {
    if (h != h_) forget();
    h_ = h;
    corrections_ = 0;
  }
  OSIER_FN void forget() { ratio_ = kNone; }
  /// After every correction of a step, in turn; `small_turn`: no frame turned by more than a tenth of a radian or so.
  OSIER_FN bool is_enough(const Progress& p, bool small_turn, double tolerance) {
    ++corrections_;
    if (corrections_ == 1) first_ = p.moved;
    if (corrections_ == 2) ratio_ = p.before > 0 ? p.moved / p.before : 0, seen_ = p.before, unseen_ = 0;
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
  double ratio_ = kNone;  ///< of a step's second correction to its first, when last seen
  double seen_ = 0;       ///< that first correction [m]
  double first_ = 0;      ///< that of the step at hand
  double h_ = 0;
  int corrections_ = 0, unseen_ = 0;
};

}  // namespace osier::systems
