// The arithmetic of one link of the articulated compliance recursion (tree_factor.hpp), for any number type: float, double or a
// pack of lanes. No branches on data.
//
//   z = (dx, w)          displacement of a node's vertex and turn of its frame, world axes
//   y = M z = (dx + arm x w, w)     the near end of the segment that carries the node
//   y = zeta + C F,  zeta = z_parent - e          springs of compliance C, axis by axis; F is the force through the link
//
// Upward, S and f are the stiffness and force of the subtree on z; each axis a of compliance c takes its share,
//
//   g = c/(1 + c a.S a),   S -= g (S a)(S a)^T,   f -= g (a.f) S a
//
// and what is left is what the parent feels: S in series with the springs. Nothing is ever divided by a compliance, c = 0 is
// rigid, and every step is a parallel sum of positive numbers, which is why float is enough. Downward, F = f - S zeta.
#pragma once

#include "math/quat.hpp"
#include "math/sym6.hpp"

namespace osier::direct {

template <class T>
struct LinkSprings {
  Vec3<T> arm;     ///< from near to far end along the material axis
  Mat3<T> x_axes;  ///< columns: orthonormal axes of the position springs
  Vec3<T> x_compliance;
  Mat3<T> w_axes;
  Vec3<T> w_compliance;
};

template <class T>
struct LinkFactor {
  Sym6<T> S;          ///< what the parent feels
  Vec6<T> update[6];  ///< S a of each step
  T gain[6];          ///< g of each step
};

template <class T>
OSIER_FN T dot6(const Vec6<T>& a, const Vec6<T>& b) {
  return dot(a.x, b.x) + dot(a.w, b.w);
}

template <class T>
OSIER_FN T component(const Vec3<T>& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/// M^-T f: a force on z as a force on y.
template <class T>
OSIER_FN Vec6<T> at_near_end(const Vec3<T>& arm, const Vec6<T>& f) {
  return {f.x, f.w + cross(arm, f.x)};
}

/// M^-1 y: z that puts the near end at y.
template <class T>
OSIER_FN Vec6<T> at_far_end(const Vec3<T>& arm, const Vec6<T>& y) {
  return {y.x - cross(arm, y.w), y.w};
}

/// a.v for axis j: 0..2 of positions, 3..5 of rotations.
template <class T>
OSIER_FN T along_axis(const LinkSprings<T>& l, int j, const Vec6<T>& v) {
  return j < 3 ? dot(column(l.x_axes, j), v.x) : dot(column(l.w_axes, j - 3), v.w);
}

/// S of the subtree on z, in series with the link's springs.
template <class T>
OSIER_FN void factor_link(const LinkSprings<T>& l, Sym6<T> S, LinkFactor<T>& out) {
  // In terms of y: dx = y_x - arm x w.
  const Mat3<T> G = skew(l.arm);
  const Mat3<T> old_xw = S.xw;
  S.xw = S.xw + T(-1) * (S.xx * G);
  S.ww = S.ww + T(-1) * (transposed(old_xw) * G) + G * S.xw;  // -G^T = G
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> a = column(l.x_axes, j);
    const Vec6<T> s{S.xx * a, transposed_times(S.xw, a)};
    const T c = component(l.x_compliance, j);
    out.gain[j] = c / (T(1) + c * dot(a, s.x));
    out.update[j] = s;
    subtract_outer(S, out.gain[j], s);
  }
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> a = column(l.w_axes, j);
    const Vec6<T> s{S.xw * a, S.ww * a};
    const T c = component(l.w_compliance, j);
    out.gain[3 + j] = c / (T(1) + c * dot(a, s.w));
    out.update[3 + j] = s;
    subtract_outer(S, out.gain[3 + j], s);
  }
  out.S = S;
}

/// A force on z as the parent feels it. `share`, where given, receives a.f of each step.
template <class T>
OSIER_FN Vec6<T> force_up(const LinkSprings<T>& l, const LinkFactor<T>& factor, Vec6<T> f, T* share = nullptr) {
  f = at_near_end(l.arm, f);
  for (int j = 0; j < 6; ++j) {
    const T along = along_axis(l, j, f);
    if (share) share[j] = along;
    f = f - (factor.gain[j] * along) * factor.update[j];
  }
  return f;
}

/// z for the parent's displacement less the present strain, and the force F through the link.
template <class T>
OSIER_FN Vec6<T> displacement_down(const LinkSprings<T>& l, const Vec6<T>& zeta, const Vec6<T>& F) {
  Vec6<T> y = zeta;
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> a = column(l.x_axes, j);
    y.x += (component(l.x_compliance, j) * dot(a, F.x)) * a;
  }
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> a = column(l.w_axes, j);
    y.w += (component(l.w_compliance, j) * dot(a, F.w)) * a;
  }
  return at_far_end(l.arm, y);
}

}  // namespace osier::direct
