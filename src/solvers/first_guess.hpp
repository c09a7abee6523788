// Where the frames of a step begin, from how things moved before: node by node in double, and in lanes.
#pragma once

#include "math/number.hpp"
#include "math/quat.hpp"

namespace osier::systems {

/// The shorter of the two quaternions that turn one frame into another.
OSIER_FN Quatd turn_between(const Quatd& from, const Quatd& to) {
  const Quatd turn = to * conj(from);
  return turn.w < 0 ? -turn : turn;
}

/// |arm|^2, of lanes without a segment something to divide by.
template <class P>
OSIER_FN P of_arm(const Vec3<P>& arm) {
  return larger(norm2(arm), P(ScalarOf<P>(1e-30)));
}

/// Frames begin where their edges turn if vertices keep their velocities, `since` being how far the far end gets ahead of the
/// near one. Not where that would take them far: they are not the strand's then. `free`: 0 where the frame stays.
template <class P>
OSIER_FN Quat<P> carried_turn(const Vec3<P>& arm0, const Vec3<P>& since, P& free) {
  free = select(norm2(since) < P(0.25) * norm2(arm0), inverse(norm2(arm0)), P(0));
  const Vec3<P> half = (P(0.5) * free) * cross(arm0, since);
  const Quat<P> turn{half.x, half.y, half.z, P(1)};
  return inverse_sqrt(norm2(turn)) * turn;
}

/// The spin about the segment that a turn has, as a turn of its own. Not where it is much: it need not be of the same motion.
template <class P>
OSIER_FN Quat<P> spin_of(const Quat<P>& turn, const Vec3<P>& arm0) {
  using T = ScalarOf<P>;
  const P arm2 = of_arm(arm0), along = dot(imag(turn), arm0) * inverse(arm2);
  const P kept = select(along * along * arm2 < P(T(0.0025)), along, P(0));
  const Quat<P> spin{kept * arm0.x, kept * arm0.y, kept * arm0.z, P(1)};
  return inverse_sqrt(norm2(spin)) * spin;
}

}  // namespace osier::systems
