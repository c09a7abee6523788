// Preconditioned conjugate gradients, for any storage of the vectors.
//
//   z = M^-1 r,  p = z + (r.z / r_prev.z_prev) p,  a = r.z / p.H p,  x += a p,  r -= a H p
//
// `System` does the work and adds up in double:
//
//   double size()               r.z at the start, with x = 0
//   double curvature(beta)      p <- z + beta p, and p.H p
//   double advance(a)           x += a p, r -= a H p; the new r.z
//   bool enough(n, gained)      after n iterations that have lowered the energy by gained/2
#pragma once

#include <cmath>

namespace osier {

enum class PcgEnd { enough, exact, too_many, not_positive, not_finite };

struct PcgResult {
  PcgEnd end = PcgEnd::exact;
  int iterations = 0;
};

template <class System>
PcgResult pcg(System& system, int most) {
  PcgResult result;
  double size = system.size(), before = size, gained = 0;
  while (size > 0 && std::isfinite(size)) {
    if (result.iterations == most) {
      result.end = PcgEnd::too_many;
      return result;
    }
    const double curved = system.curvature(result.iterations > 0 ? size / before : 0);
    if (!std::isfinite(curved)) break;
    if (!(curved > 0)) {
      result.end = PcgEnd::not_positive;
      return result;
    }
    const double step = size / curved;
    gained += step * size;
    before = size;
    size = system.advance(step);
    ++result.iterations;
    if (system.enough(result.iterations, gained)) {
      result.end = PcgEnd::enough;
      return result;
    }
  }
  result.end = size == 0 ? PcgEnd::exact : PcgEnd::not_finite;
  return result;
}

}  // namespace osier
