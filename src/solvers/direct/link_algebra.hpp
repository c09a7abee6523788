// The arithmetic of one link of the articulated compliance recursion (tree_factor.hpp), for any number type: float, double or a
// pack of lanes. No branches on data.
//
//   z = (dx, w)          displacement of a node's vertex and turn of its frame, world axes
//   y = M z = (dx + arm x w, w)     the near end of the segment that carries the node
//   y = zeta + C F,  zeta = z_parent - e          springs of compliance C, axis by axis; F is the force through the link
//
// Upward, S and f are the stiffness and force of the subtree on z, seen in y and in the axes of the springs. Axis j of compliance
// c takes its share,
//
//   den = 1/(1 + c S_jj),  g = c den,    S_ab -= g S_ja S_jb,  f_a -= g S_ja f_j  (a, b != j),    S_ja *= den,  f_j *= den
//
// and what is left is what the parent feels: S in series with the springs. Nothing is ever divided by a compliance, c = 0 is
// rigid, and what stays along j is a product of positive numbers and not a difference, which is why float is enough. Downward,
// F = f - S zeta.
#pragma once

#include "exec/number.hpp"
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
  bool world_axes = false;  ///< both sets of axes are those of the world: allowed where the compliances of a set are equal
};

template <class T>
struct LinkFactor {
  Sym6<T> S;    ///< what the parent feels, world axes
  T row[6][6];  ///< S_ja of each step, in the axes of the springs; den on the diagonal
  T gain[6];    ///< g of each step
};

/// Other variables z' for a node: z = (x' - Z w', P w'). With them in place of z in M, a link carries the exact Hessian of its
/// springs, of which Gauss-Newton leaves a part out (tree_system.hpp).
template <class T>
struct Reframe {
  Mat3<T> P, Z;
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

/// A stiffness, a force on z as one on z'; z of z'.
template <class T>
OSIER_FN Sym6<T> stiffness_in(const Reframe<T>& r, const Sym6<T>& S) {
  const Mat3<T> xZ = S.xx * r.Z, xw = S.xw * r.P + T(-1) * xZ, mixed = transposed(r.Z) * S.xw * r.P;
  return {S.xx, xw, transposed(r.P) * S.ww * r.P + T(-1) * (mixed + transposed(mixed)) + transposed(r.Z) * xZ};
}
template <class T>
OSIER_FN Vec6<T> force_in(const Reframe<T>& r, const Vec6<T>& f) {
  return {f.x, transposed_times(r.P, f.w) - transposed_times(r.Z, f.x)};
}
template <class T>
OSIER_FN Vec6<T> displacement_of(const Reframe<T>& r, const Vec6<T>& z) {
  return {z.x - r.Z * z.w, r.P * z.w};
}

/// In the axes of the springs, and back. The six numbers are three of positions and three of rotations.
template <class T>
OSIER_FN void to_axes(const LinkSprings<T>& l, const Vec6<T>& v, T out[6]) {
  const Vec3<T> x = l.world_axes ? v.x : transposed_times(l.x_axes, v.x),
                w = l.world_axes ? v.w : transposed_times(l.w_axes, v.w);
  out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = w.x, out[4] = w.y, out[5] = w.z;
}
template <class T>
OSIER_FN Vec6<T> from_axes(const LinkSprings<T>& l, const T v[6]) {
  const Vec3<T> x{v[0], v[1], v[2]}, w{v[3], v[4], v[5]};
  return l.world_axes ? Vec6<T>{x, w} : Vec6<T>{l.x_axes * x, l.w_axes * w};
}

/// A stiffness on z as one on y, dx = y_x - arm x w, in place; S(a, b) with a >= b is an entry, of which those of ww and wx
/// change:
///   S_wx += [arm] S_xx,   S_ww += [arm] S_wx,new^T - S_wx,old [arm]
template <class T, class Entry>
OSIER_FN void see_from_near_end(const Vec3<T>& arm, const Entry& S) {
  Vec3<T> before[3], after[3];  // rows of S_wx
#pragma GCC unroll 3
  for (int a = 0; a < 3; ++a) before[a] = {S(3 + a, 0), S(3 + a, 1), S(3 + a, 2)};
  const Vec3<T> x = cross(arm, Vec3<T>{S(0, 0), S(1, 0), S(2, 0)}), y = cross(arm, Vec3<T>{S(1, 0), S(1, 1), S(2, 1)}),
                z = cross(arm, Vec3<T>{S(2, 0), S(2, 1), S(2, 2)});
  after[0] = before[0] + Vec3<T>{x.x, y.x, z.x};
  after[1] = before[1] + Vec3<T>{x.y, y.y, z.y};
  after[2] = before[2] + Vec3<T>{x.z, y.z, z.z};
#pragma GCC unroll 3
  for (int b = 0; b < 3; ++b) {
    const Vec3<T> turned = cross(arm, after[b]);
    const Vec3<T> old = cross(before[b], arm);
    // Column b of the first product, row b of the second.
    if (b == 0) S(3, 3) += turned.x, S(4, 3) += turned.y, S(5, 3) += turned.z, S(3, 3) -= old.x;
    if (b == 1) S(4, 4) += turned.y, S(5, 4) += turned.z, S(4, 3) -= old.x, S(4, 4) -= old.y;
    if (b == 2) S(5, 5) += turned.z, S(5, 3) -= old.x, S(5, 4) -= old.y, S(5, 5) -= old.z;
    S(3 + b, 0) = after[b].x, S(3 + b, 1) = after[b].y, S(3 + b, 2) = after[b].z;
  }
}

/// A spring of compliance c along coordinate j, in series with S, in place; S(a, b) with a >= b is an entry. `row` receives S_ja
/// as it was, with den on its diagonal. Returns g.
template <class T, class Entry>
OSIER_FN T eliminate_spring(int j, T c, const Entry& S, T row[6]) {
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) row[a] = a < j ? S(j, a) : S(a, j);
  const T den = inverse(T(1) + c * row[j]), g = c * den;
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) {
    if (a == j) continue;
    const T scaled = g * row[a];
#pragma GCC unroll 6
    for (int b = 0; b <= a; ++b)
      if (b != j) S(a, b) -= scaled * row[b];
  }
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) (a < j ? S(j, a) : S(a, j)) = den * row[a];
  row[j] = den;
  return g;
}

/// What that does to a force; returns f_j as it was.
template <class T>
OSIER_FN T pass_spring(int j, T g, const T row[6], T f[6]) {
  const T along = f[j], scaled = g * along;
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) f[a] = a == j ? row[j] * along : f[a] - scaled * row[a];
  return along;
}

/// S of the subtree on z, in series with the link's springs.
template <class T>
OSIER_FN void factor_link(const LinkSprings<T>& l, Sym6<T> S, LinkFactor<T>& out) {
  see_from_near_end(l.arm, [&](int a, int b) -> T& {
    return a < 3 ? S.xx.m[a][b] : b < 3 ? S.xw.m[b][a - 3] : S.ww.m[a - 3][b - 3];
  });
  S.ww.m[0][1] = S.ww.m[1][0], S.ww.m[0][2] = S.ww.m[2][0], S.ww.m[1][2] = S.ww.m[2][1];
  if (!l.world_axes) {
    S.xx = transposed(l.x_axes) * S.xx * l.x_axes;
    S.xw = transposed(l.x_axes) * S.xw * l.w_axes;
    S.ww = transposed(l.w_axes) * S.ww * l.w_axes;
  }
  T m[6][6];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) m[a][b] = S.xx.m[a][b], m[3 + a][b] = S.xw.m[b][a], m[3 + a][3 + b] = S.ww.m[a][b];
  const T c[6] = {l.x_compliance.x, l.x_compliance.y, l.x_compliance.z, l.w_compliance.x, l.w_compliance.y, l.w_compliance.z};
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j)
    out.gain[j] = eliminate_spring(
        j, c[j], [&](int a, int b) -> T& { return m[a][b]; }, out.row[j]);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      S.xx.m[a][b] = a < b ? m[b][a] : m[a][b];
      S.xw.m[a][b] = m[3 + b][a];
      S.ww.m[a][b] = a < b ? m[3 + b][3 + a] : m[3 + a][3 + b];
    }
  if (!l.world_axes) {
    S.xx = l.x_axes * S.xx * transposed(l.x_axes);
    S.xw = l.x_axes * S.xw * transposed(l.w_axes);
    S.ww = l.w_axes * S.ww * transposed(l.w_axes);
  }
  out.S = S;
}

/// A force on z as the parent feels it. `share` receives f_j of each step before it.
template <class T>
OSIER_FN Vec6<T> force_up(const LinkSprings<T>& l, const LinkFactor<T>& factor, const Vec6<T>& force, T share[6]) {
  T f[6];
  to_axes(l, at_near_end(l.arm, force), f);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) share[j] = pass_spring(j, factor.gain[j], factor.row[j], f);
  return from_axes(l, f);
}

/// z for the parent's displacement less the present strain, and the force F through the link.
template <class T>
OSIER_FN Vec6<T> displacement_down(const LinkSprings<T>& l, const Vec6<T>& zeta, const Vec6<T>& F) {
  T force[6];
  to_axes(l, F, force);
  const Vec3<T>&cx = l.x_compliance, &cw = l.w_compliance;
  const T strain[6] = {cx.x * force[0], cx.y * force[1], cx.z * force[2], cw.x * force[3], cw.y * force[4], cw.z * force[5]};
  return at_far_end(l.arm, zeta + from_axes(l, strain));
}

/// The same where some axis has no stiffness, so that a strain is no force times a compliance: the steps backwards. `share` is
/// what force_up gave, of all forces together.
template <class T>
OSIER_FN Vec6<T> displacement_by_steps(const LinkSprings<T>& l, const LinkFactor<T>& factor, const Vec6<T>& zeta,
                                       const T share[6]) {
  T y[6];
  to_axes(l, zeta, y);
  for (int j = 6; j-- > 0;) {
    T left = share[j];
    for (int a = 0; a < 6; ++a)
      if (a != j) left -= factor.row[j][a] * y[a];
    y[j] = factor.row[j][j] * y[j] + factor.gain[j] * left;
  }
  return at_far_end(l.arm, from_axes(l, y));
}

}  // namespace osier::direct
