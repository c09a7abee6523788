// The global step: H y = b for one rod, or for one rod in each lane, by L D L^T in the order of elimination.hpp. C is the type of
// a matrix entry: one number for positions, whose three components have the same matrix, and three for turns, whose components
// about d1, d2 and d3 have a matrix each.
#pragma once

#include "math/lane_access.hpp"
#include "math/vec3.hpp"
#include "solvers/projective/elimination.hpp"

namespace osier::projective {

template <class P>
OSIER_FN P reciprocal(P a) {
  return P(1) / a;
}
template <class P>
OSIER_FN Vec3<P> reciprocal(const Vec3<P>& a) {
  return {P(1) / a.x, P(1) / a.y, P(1) / a.z};
}
template <class P>
OSIER_FN P times(P a, P b) {
  return a * b;
}
template <class P>
OSIER_FN Vec3<P> scaled(P c, const Vec3<P>& y) {
  return c * y;
}
template <class P>
OSIER_FN Vec3<P> scaled(const Vec3<P>& c, const Vec3<P>& y) {
  return osier::times(c, y);
}

/// The diagonal becomes the inverse pivots and the entries those of L.
template <class C>
void factor(const EliminationView& e, C* diagonal, C* entry) {
  for (Index c = 0; c < e.nodes; ++c) {
    const C inverse = reciprocal(diagonal[c]);
    diagonal[c] = inverse;
    for (Index u = e.update_start[c]; u < e.update_start[c + 1]; ++u)
      entry[e.update[u].to] = entry[e.update[u].to] - times(times(entry[e.update[u].a], entry[e.update[u].b]), inverse);
    for (Index k = e.column_start[c]; k < e.column_start[c + 1]; ++k) {
      const C l = times(entry[k], inverse);
      diagonal[e.row[k]] = diagonal[e.row[k]] - times(l, entry[k]);
      entry[k] = l;
    }
  }
}

/// y <- H^-1 y. Along a chain the last result stays in registers.
template <class P, class C>
OSIER_FN void solve(const EliminationView& e, const C* inverse_pivot, const C* entry, Vec3<P>* y) {
  Vec3<P> carried{P(0), P(0), P(0)};
  for (Index c = 0; c < e.nodes; ++c) {
    const Vec3<P> here = y[c] - carried;
    carried = {P(0), P(0), P(0)};
    for (Index k = e.column_start[c]; k < e.column_start[c + 1]; ++k) {
      if (e.row[k] == c + 1) carried = scaled(entry[k], here);
      else y[e.row[k]] -= scaled(entry[k], here);
    }
    y[c] = scaled(inverse_pivot[c], here);
  }
  Vec3<P> next{P(0), P(0), P(0)};
  for (Index c = e.nodes; c-- > 0;) {
    Vec3<P> here = y[c];
    for (Index k = e.column_start[c]; k < e.column_start[c + 1]; ++k)
      here -= scaled(entry[k], e.row[k] == c + 1 ? next : y[e.row[k]]);
    y[c] = here;
    next = here;
  }
}

}  // namespace osier::projective
