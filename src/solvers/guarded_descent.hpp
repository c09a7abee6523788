// Rules of iterations with contact, whoever makes them (newton_contact.cpp, deti/fibre_contact.cpp).
#pragma once

#include <cmath>

namespace osier::guarded {

/// The error of positions that a contact bears, as a share of its range and for a tolerance of 1.
constexpr double kShareOfRange = 2;
constexpr int kFirstStiffening = 4;  ///< iteration
constexpr int kMostHalvings = 14;
constexpr int kRound = 50;
constexpr int kMostStuck = 3;  ///< iterations in which what is prescribed gets nowhere, before it is left behind

/// The friction of an iteration is that of the normal forces, normals and places at hand, which can go to and fro for ever: later
/// iterations take over less and less of them. What they find counts when an iteration with all of it at hand leaves it where it
/// is. Iterations far from the solution may have left friction of a step that was nowhere near: after a round all of it is taken
/// anew.
inline double freshness(int iteration) {
  constexpr int kFree = 6;
  return iteration < kFree ? 1 : std::pow(0.7, iteration - kFree + 1);
}

}  // namespace osier::guarded
