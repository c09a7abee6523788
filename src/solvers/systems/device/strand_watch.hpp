// The iterations of one chain on a graphics card as its stop rule sees them: whether it has settled (settling.hpp), and whether
// its energy has risen. As ChainStep does it for lanes (chain_newton.hpp).
#pragma once

#include <cmath>

#include "solvers/settling.hpp"

namespace osier::systems {

struct StrandOptions {
  int iterations = 0;  ///< fixed number, or 0: until the strand has settled
  int max_iterations = 50;
  double tolerance = 1e-3;
  OSIER_FN int limit() const { return iterations > 0 ? iterations : max_iterations; }
};

/// What became of a strand.
enum StrandOutcome : std::uint8_t { kStrandRose = 1, kStrandUnsettled = 2 };

struct StrandWatch {
  double length = 0, free_motion = 0;  ///< of the chain, and how far it would move if nothing were elastic
  double last = 0, before = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool ordinary = false, unsettled = true, rose = false;

  /// The energy of the state that an iteration starts from, and the magnitude of its terms. `pole`: a pole of a joint should
  /// change.
  OSIER_FN void see_energy(double energy, double size, bool pole, bool in_float) {
    const double noise = in_float ? 1e-5 : 1e-11;
    if (iterations > 0 && !ordinary && unsettled && !(energy <= last + noise * size)) rose = true;
    if (!std::isfinite(energy) || pole) rose = true;
    last = energy;
  }
  /// The squares of the largest turn and of the largest change by a correction, and of the largest displacement so far.
  OSIER_FN void see_motion(double turn2, double move2, double motion2, const StrandOptions& o, bool in_float, Outlook& outlook) {
    ++iterations;
    if (!(turn2 <= 1 && move2 < std::numeric_limits<double>::infinity())) rose = true;
    const Progress now{std::sqrt(move2), before, std::sqrt(motion2)};
    ordinary = is_ordinary(now, std::sqrt(turn2));
    before = now.moved;
    if (o.iterations > 0 || !unsettled) return;
    const bool enough = outlook.is_enough(now, turn2 <= 0.01, o.tolerance);
    if (enough || now.moved <= o.tolerance * now.motion || is_at_floor(now, free_motion, length, in_float)) unsettled = false;
  }
  OSIER_FN bool is_done(const StrandOptions& o) const {
    return rose || (o.iterations == 0 && !unsettled) || (o.iterations > 0 && iterations == o.iterations);
  }
  OSIER_FN std::uint8_t outcome(const StrandOptions& o) const {
    return rose ? kStrandRose : o.iterations == 0 && unsettled ? kStrandUnsettled : 0;
  }
};

}  // namespace osier::systems
