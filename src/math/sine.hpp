// sin(x) as a template over the number type, for double and for packs of double: one formula for every instruction set.
//
//   n = x/pi to the nearest whole number,   r = x - n pi,   sin x = (-1)^n sin r
//
// pi is taken in three parts, the first two of 33 bits, so that n times them is exact while |n| < 2^20; what is left of pi is
// below 1e-36 (Cody & Waite). sin r, |r| <= pi/2, is Taylor's series up to r^21, whose next term is below 2e-18. The error is at
// most 4e-16 (tested); arguments beyond 2^20 pi are left to the C library, lane by lane.
#pragma once

#include "math/number.hpp"

namespace osier {

/// The nearest whole number, halves to even, for |x| < 2^51: adding 3 2^51 leaves no bits for the fraction.
template <class P>
OSIER_FN P nearest_whole(P x) {
  const P shift(ScalarOf<P>(0x1.8p52));
  return (x + shift) - shift;
}

/// (-1)^k/(2k + 1)!
template <class S>
OSIER_FN constexpr S taylor_of_sine(int k) {
  S c(1);
  for (int i = 1; i <= k; ++i) c /= static_cast<S>(-2 * i * (2 * i + 1));
  return c;
}

template <class P>
OSIER_FN P sine(P x) {
  using S = ScalarOf<P>;
  static_assert(sizeof(S) == 8, "the parts of pi and the length of the series are for double");
  using std::abs;
  constexpr S kPi1 = 0x1.921fb544p+1, kPi2 = 0x1.0b4611a6p-33, kPi3 = 0x1.3198a2e037073p-68, kLimit = 0x1.921fp+21;
  const P n = nearest_whole(x * P(S(0.31830988618379067154)));
  const P r = ((x - n * P(kPi1)) - n * P(kPi2)) - n * P(kPi3);
  const P odd = n - P(S(2)) * nearest_whole(P(S(0.5)) * n);  // -1, 0 or 1
  const P r2 = r * r;
  P sum(taylor_of_sine<S>(10));
  for (int k = 9; k > 0; --k) sum = P(taylor_of_sine<S>(k)) + r2 * sum;
  P result = (P(S(1)) - P(S(2)) * odd * odd) * (r + r * (r2 * sum));
  if (const auto far = !(abs(x) <= P(kLimit)); any(far)) [[unlikely]]
    for (int i = 0; i < lanes_of<P>; ++i)
      if (bits(far) >> i & 1u) set_lane(result, i, std::sin(lane(x, i)));
  return result;
}

}  // namespace osier
