// The first guess of the frames of a step, from the motion before: node by node in double, and in lanes.
#pragma once

#include "math/number.hpp"
#include "math/quat.hpp"

namespace osier::systems {

/// The shorter of the two quaternions that turn one frame into another.
OSIER_FN Quatd turn_between(const Quatd& from, const Quatd& to) {
  const Quatd turn = to * conj(from);
  return turn.w < 0 ? -turn : turn;
}

/// |arm|^2, or for lanes without a segment a number that can be divided by.
template <class P>
OSIER_FN P of_arm(const Vec3<P>& arm) {
  return larger(norm2(arm), P(ScalarOf<P>(1e-30)));
}

/// The turn of a frame whose vertices keep their velocities. `since`: the displacement of the far end less that of the near end.
/// Where the turn would be large the frame stays, because the velocities are then no smooth motion of the strand. `free`: 0 where
/// the frame stays.
template <class P>
OSIER_FN Quat<P> carried_turn(const Vec3<P>& arm0, const Vec3<P>& since, P& free) {
  free = select(norm2(since) < P(0.25) * norm2(arm0), inverse(norm2(arm0)), P(0));
  const Vec3<P> half = (P(0.5) * free) * cross(arm0, since);
  const Quat<P> turn{half.x, half.y, half.z, P(1)};
  return inverse_sqrt(norm2(turn)) * turn;
}

/// The part of a turn that is spin about the segment. No turn where the spin is large: it need not go on in the next step.
template <class P>
OSIER_FN Quat<P> spin_of(const Quat<P>& turn, const Vec3<P>& arm0) {
  using T = ScalarOf<P>;
  const P arm2 = of_arm(arm0), along = dot(imag(turn), arm0) * inverse(arm2);
  const P kept = select(along * along * arm2 < P(T(0.0025)), along, P(0));
  const Quat<P> spin{kept * arm0.x, kept * arm0.y, kept * arm0.z, P(1)};
  return inverse_sqrt(norm2(spin)) * spin;
}

}  // namespace osier::systems
