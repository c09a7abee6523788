// The stiffness of contacts, which follows the load that they carry.
//
//   k      stiffness of the barrier                                                       [J]
//   m      mass at a segment; h: time step                                                [kg], [s]
//   range  of two segments like this one                                                  [m]
//
// A stiffness that follows the load at once leaves nothing that restores: the force of the next step is that of this one,
// wherever the contact is, and rods bounce for ever. It may follow as fast as the time integration damps the bounce, which
// takes about 1/(w h)^2 steps at a frequency w; at once where a contact is near its core. The mobility here is that of the
// vertices next to the contact; a stiff rod that rests on few contacts is heavier, for which the pace has a margin.
#pragma once

#include <cmath>

#include "contact/barrier.hpp"
#include "math/number.hpp"

namespace osier::contact {

constexpr double kLeastStiffness = 1e-3;  ///< of a contact that carries something: a share of the inertial one

/// What of a segment bounds the stiffness of its contacts.
struct SegmentStrength {
  double range = 0;                        ///< [m]
  double radius = 0;                       ///< [m]
  double length = 0;                       ///< at rest [m]
  double mean_mass = 0, largest_mass = 0;  ///< of its vertices [kg]
  double stretch = 0;                      ///< largest k^ss [N m]
  double bending = 0;                      ///< EI [N m^2]

  /// So that half of the range stops a vertex within a step or so.
  OSIER_FN double inertial(double h) const {
    if (mean_mass > 0) return 0.1 * mean_mass * range * range / (h * h);
    return 1e-4 * stretch / (length * length) * range * range;
  }
  /// The stiffness of a contact that has carried nothing yet. A rod that snaps into itself is not stopped by what stops the mass
  /// of one vertex: the contact is as stiff as the rod is in bending, held twenty radii apart (48 EI/L^3).
  OSIER_FN double base(double h) const {
    constexpr double kSpan = 20;
    const double span = kSpan * radius;
    return larger(inertial(h), 48 * bending / (span * span * span) * range * range);
  }
  /// No load needs more: a force that would stretch the rod to twice its length, or stop a vertex many times over. Where the
  /// guard holds contacts at a distance, step after step without convergence, force and stiffness would raise each other
  /// without end.
  OSIER_FN double most(double h, double speed) const {
    constexpr double kStops = 1000;
    const double tension = stretch / length;  // EA [N]
    const double impact = largest_mass * speed / h;
    return larger(larger((tension + impact) * range, kStops * inertial(h)), base(h));
  }
};

/// Rods that are within range of something at the start of a run have been put there. What stops a rod that comes flying would
/// throw them off: their contacts begin with what carries, where they are, the largest load on the rod, its weight or what pulls
/// at it, and stops the segment in a step. `load`: that of start_load.hpp, and the mean of m |v|/h over its vertices [N].
OSIER_FN double stiffness_at_start(const SegmentStrength& of, double load, double s, double range, double h) {
  const double base = of.base(h), least = smaller(kLeastStiffness * of.inertial(h), base);
  const double push = s > 0 ? barrier(s, range, 1.0).force : 0;
  return push > 0 ? larger(least, smaller(load / push, base)) : least;
}

/// What the load of one contact asks for after a step. `mobility`: sum of weight^2/m over its vertices. `free`: the larger one of
/// the shares of the load, on each side, that vertices carry which are not held. What a held vertex carries asks for nothing: it
/// is carried whatever the stiffness is, which would never ease.
OSIER_FN double stiffness_for_load(double k, const Barrier& at, double s, double range, double h, double mobility, double free) {
  constexpr double kSqueezed = 0.2, kPace = 0.05;
  const double full = s > 0 ? free * at.force * range / kPhiAtHalf : k;
  const double pace = s > kSqueezed ? smaller(1.0, kPace * at.stiffness * h * h * mobility) : 1;
  return pace < 1 ? k * std::pow(full / k, pace) : full;
}

/// The stiffness of a segment in the next step. `need`: the most that its contacts ask for; negative where it has none.
OSIER_FN double followed_stiffness(double k, double need, const SegmentStrength& of, double h, double speed) {
  // A contact that opens goes back to its first stiffness slowly: one that opens and closes would be hit by it again and again.
  const bool carries = need >= 0;
  const double least = carries ? kLeastStiffness * of.inertial(h) : of.base(h), most_growth = carries ? 4 : 1.1;
  const double goal = larger(smaller(need, of.most(h, speed)), least);
  return goal > k ? smaller(goal, most_growth * k) : larger(goal, 0.8 * k);
}

/// Segments next to one that carries a load will soon carry it, too, and contacts whose stiffness jumps from one segment to the
/// next would catch on each other. Each next segment has this share of it at least: with more, a heavy contact would lift the
/// light ones beside it to the outer end of their range; with nothing, loose knots lock.
constexpr double kSpreadShare = 0.7;

}  // namespace osier::contact
