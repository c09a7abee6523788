// The arithmetic of one link of the articulated compliance recursion (tree_factor.hpp), for any number type: float, double or a
// pack of lanes. No branches on data.
//
//   z = (dx, w)          displacement of a node's vertex and turn of its frame, world axes
//   y = M z = (dx + arm x w, Q w)   the near end of the segment that carries the node
//   Q = P^-1, P = 1 + C [m]x/2      a joint of moment m and compliance C and the turns of its frames: moment_turn()
//   y = zeta + C F,  zeta = z_parent - e          springs of compliance C, axis by axis; F is the force through the link
//
// Upward, S and f are the stiffness and force of the subtree on z, seen in y and in the axes of the springs. Axis j of compliance
// c takes its share,
//
//   den = 1/(1 + c S_jj),  g = c den,    S_ab -= g S_ja S_jb,  f_a -= g S_ja f_j  (a, b != j),    S_ja *= den,  f_j *= den
//
// and the remaining S and f act on the parent: S in series with the springs. No step divides by a compliance, so c = 0 is a rigid
// spring. The entries along j are products of positive numbers and not differences, which is why float is enough. On the way down
// the same steps lead back from zeta to y.
#pragma once

#include "exec/unroll.hpp"
#include "math/number.hpp"
#include "math/quat.hpp"
#include "math/sym6.hpp"

namespace osier::systems {

/// Compliance of an axis without stiffness.
template <class T>
constexpr T kLoose = T(1e20);

template <class T>
OSIER_FN T component(const Vec3<T>& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/// The inverse of a well-conditioned matrix; not finite if there is none.
template <class T>
OSIER_FN Mat3<T> inverse3(const Mat3<T>& a) {
  const Vec3<T> x{a.m[0][0], a.m[1][0], a.m[2][0]}, y{a.m[0][1], a.m[1][1], a.m[2][1]}, z{a.m[0][2], a.m[1][2], a.m[2][2]};
  const Vec3<T> yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  const T det = dot(x, yz);
  return {{{yz.x / det, yz.y / det, yz.z / det}, {zx.x / det, zx.y / det, zx.z / det}, {xy.x / det, xy.y / det, xy.z / det}}};
}

/// The moment turn of a joint. The moment m of a bent joint turns with its frames, which is work of second order,
/// m.(w_parent x w)/2. The rest of the joint's Hessian is a spring K between the two frames. With Q w in place of w that spring
/// has both terms: K Q = K - [m]x/2. The stiffness [m]x^T C [m]x/4 that Q adds on the frame itself is of second order in the
/// strain e = C m, and positive. P = Q^-1 = 1 + C [m]x/2 agrees with Q to first order and needs no inverse.
///
/// For equal compliances P = 1 + [e/2]x, and P^T m = m. No strain e is more than 2, so that P is at most sqrt(2), and at least 1.
template <class T>
OSIER_FN Vec3<T> moment_turn(const Vec3<T>& e) {
  return T(0.5) * e;
}
/// The moment turn for any compliances: P = 1 + diag(c) [m/2]x in the axes of the springs. P^T m is not m then. Where |P - 1|
/// would exceed one half, m is scaled down.
template <class T>
struct AnisotropicTurn {
  Vec3<T> half_moment, c;
};
template <class T>
OSIER_FN Vec3<T> limited_half_moment(const Vec3<T>& m, const Vec3<T>& c) {
  const auto across = [](T ci, T mj, T mk) { return (ci * mj) * (ci * mj) + (ci * mk) * (ci * mk); };
  const T size = across(c.x, m.y, m.z) + across(c.y, m.z, m.x) + across(c.z, m.x, m.y);  // 4 |P - 1|^2
  return (T(0.5) * smaller(T(1), inverse(size + T(1e-30)))) * m;
}
/// The moment turn of a joint by its strain e = C m, if there is a spring along every axis; otherwise P = 1.
template <class T>
OSIER_FN AnisotropicTurn<T> moment_turn(const Vec3<T>& e, const Vec3<T>& c) {
  const auto is_spring = [](T compliance) { return compliance > T(0) && compliance < kLoose<T>; };
  if (!(is_spring(c.x) && is_spring(c.y) && is_spring(c.z))) return {};
  return {limited_half_moment(Vec3<T>{e.x / c.x, e.y / c.y, e.z / c.z}, c), c};
}

template <class T>
struct LinkSprings {
  Vec3<T> arm;     ///< from near to far end along the material axis
  Mat3<T> x_axes;  ///< columns: orthonormal axes of the position springs
  Vec3<T> x_compliance;
  Mat3<T> w_axes;
  Vec3<T> w_compliance;
  AnisotropicTurn<T> turn;  ///< moment turn, in w_axes
  bool world_axes = false;  ///< both sets of axes are those of the world: allowed where the compliances of a set are equal
};

/// Springs whose two sets of axes are those of the world, with P = 1 + [turn]x.
template <class T>
struct WorldSprings {
  Vec3<T> arm, x_compliance, w_compliance;
  Vec3<T> turn;
};

/// P w, and below P^T w.
template <class T>
OSIER_FN Vec3<T> turn_times(const Vec3<T>& turn, const Vec3<T>& w) {
  return plus_cross(w, turn, w);
}
template <class T>
OSIER_FN Vec3<T> transposed_turn_times(const Vec3<T>& turn, const Vec3<T>& w) {
  return minus_cross(w, turn, w);
}
template <class T>
OSIER_FN Vec3<T> turn_times(const AnisotropicTurn<T>& turn, const Vec3<T>& w) {
  return w + times(turn.c, cross(turn.half_moment, w));
}
template <class T>
OSIER_FN Vec3<T> transposed_turn_times(const AnisotropicTurn<T>& turn, const Vec3<T>& w) {
  return minus_cross(w, turn.half_moment, times(turn.c, w));
}

/// The exact Hessian of a joint with one stiffness: K a for the difference of the turns, a the cosine and v the sine, with its
/// axis, of half the angle (or of damping and bending together, weighted), m = 2 K v:
///
///   K Q = K a - [m]x/2,   Q = a - [v]x,   P = Q^-1 = (a^2 + a [v]x + v v^T)/(a (a^2 + v^2))
///
/// and what is left acts on one frame alone: K (a - a^2 - v^2 + v v^T) on the node's, K (a - 1) on the parent's. Q^T m is a m,
/// the rest is a couple.
template <class T>
struct ExactTurn {
  Vec3<T> v;
  T a, scale;
};
template <class T>
OSIER_FN ExactTurn<T> exact_turn(const Vec3<T>& v) {
  const T v2 = smaller(norm2(v), T(0.75)), a = root(T(1) - v2);
  return {v, a, inverse(a * (a * a + norm2(v)))};
}
template <class T>
OSIER_FN Vec3<T> turn_times(const ExactTurn<T>& t, const Vec3<T>& w) {
  return t.scale * ((t.a * t.a) * w + t.a * cross(t.v, w) + dot(t.v, w) * t.v);
}
template <class T>
OSIER_FN Vec3<T> transposed_turn_times(const ExactTurn<T>& t, const Vec3<T>& w) {
  return t.scale * ((t.a * t.a) * w - t.a * cross(t.v, w) + dot(t.v, w) * t.v);
}

/// P as a matrix.
template <class T>
OSIER_FN Mat3<T> moment_matrix(const AnisotropicTurn<T>& turn) {
  const Vec3<T>&b = turn.half_moment, &c = turn.c;
  return {{{T(1), -(c.x * b.z), c.x * b.y}, {c.y * b.z, T(1), -(c.y * b.x)}, {-(c.z * b.y), c.z * b.x, T(1)}}};
}

/// P^-1 w and P^-T w. For P = 1 + [v]x the inverse is (1 - [v]x + v v^T)/(1 + v^2).
template <class T>
OSIER_FN Vec3<T> inverse_of(const Vec3<T>& turn, const Vec3<T>& w) {
  return inverse(T(1) + norm2(turn)) * (minus_cross(w, turn, w) + dot(turn, w) * turn);
}
template <class T>
OSIER_FN Vec3<T> inverse_transposed_of(const Vec3<T>& turn, const Vec3<T>& w) {
  return inverse(T(1) + norm2(turn)) * (plus_cross(w, turn, w) + dot(turn, w) * turn);
}
template <class T>
OSIER_FN Vec3<T> inverse_of(const AnisotropicTurn<T>& turn, const Vec3<T>& w) {
  return inverse3(moment_matrix(turn)) * w;
}
template <class T>
OSIER_FN Vec3<T> inverse_transposed_of(const AnisotropicTurn<T>& turn, const Vec3<T>& w) {
  return transposed_times(inverse3(moment_matrix(turn)), w);
}

/// Other variables z' for a node: z = (x' - Z w', P w'). With z' in place of z a link carries the exact Hessian of its springs,
/// of which Gauss-Newton leaves a part out (tree_system.hpp).
template <class T>
struct Reframe {
  Mat3<T> P, Z;
};

template <class T>
OSIER_FN T dot6(const Vec6<T>& a, const Vec6<T>& b) {
  return dot(a.x, b.x) + dot(a.w, b.w);
}

/// Change of variables: a stiffness and a force on z become those on z', and z follows from z'.
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

/// Six numbers in the axes of the springs, and back: three of position, then three of rotation.
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

template <class T>
OSIER_FN void to_axes(const WorldSprings<T>&, const Vec6<T>& v, T out[6]) {
  out[0] = v.x.x, out[1] = v.x.y, out[2] = v.x.z, out[3] = v.w.x, out[4] = v.w.y, out[5] = v.w.z;
}
template <class T>
OSIER_FN Vec6<T> from_axes(const WorldSprings<T>&, const T v[6]) {
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// M^-T f: a force on z as one on y, in the axes of the springs.
template <class Springs, class T>
OSIER_FN void at_near_end(const Springs& l, const Vec6<T>& f, T out[6]) {
  to_axes(l, {f.x, plus_cross(f.w, l.arm, f.x)}, out);
  const Vec3<T> w = transposed_turn_times(l.turn, Vec3<T>{out[3], out[4], out[5]});
  out[3] = w.x, out[4] = w.y, out[5] = w.z;
}

/// M^-1 y: z that puts the near end at y, which is given in the axes of the springs.
template <class Springs, class T>
OSIER_FN Vec6<T> at_far_end(const Springs& l, const T y[6]) {
  const Vec3<T> w = turn_times(l.turn, Vec3<T>{y[3], y[4], y[5]});
  const T turned[6] = {y[0], y[1], y[2], w.x, w.y, w.z};
  const Vec6<T> z = from_axes(l, turned);
  return {minus_cross(z.x, l.arm, z.w), z.w};
}

/// A stiffness on z as one on y, dx = y_x - arm x w, in place; S(a, b) with a >= b is an entry, of which those of ww and wx
/// change:
///   S_wx += [arm] S_xx,   S_ww += [arm] S_wx,new^T - S_wx,old [arm]
template <class T, class Entry>
OSIER_FN void see_from_near_end(const Vec3<T>& arm, const Entry& S) {
  Vec3<T> before[3], after[3];  // rows of S_wx
  OSIER_UNROLL(3)
  for (int a = 0; a < 3; ++a) before[a] = {S(3 + a, 0), S(3 + a, 1), S(3 + a, 2)};
  const Vec3<T> x = plus_cross({before[0].x, before[1].x, before[2].x}, arm, {S(0, 0), S(1, 0), S(2, 0)}),
                y = plus_cross({before[0].y, before[1].y, before[2].y}, arm, {S(1, 0), S(1, 1), S(2, 1)}),
                z = plus_cross({before[0].z, before[1].z, before[2].z}, arm, {S(2, 0), S(2, 1), S(2, 2)});
  after[0] = {x.x, y.x, z.x}, after[1] = {x.y, y.y, z.y}, after[2] = {x.z, y.z, z.z};
  // Columns of [arm] S_wx,new^T, of which those above the diagonal are not asked for, less rows of S_wx,old [arm].
  const Vec3<T> c0 = plus_cross({S(3, 3), S(4, 3), S(5, 3)}, arm, after[0]),
                c1 = plus_cross({T(0), S(4, 4), S(5, 4)}, arm, after[1]), c2 = plus_cross({T(0), T(0), S(5, 5)}, arm, after[2]);
  const Vec3<T> r0 = minus_cross({c0.x, T(0), T(0)}, before[0], arm), r1 = minus_cross({c0.y, c1.y, T(0)}, before[1], arm),
                r2 = minus_cross({c0.z, c1.z, c2.z}, before[2], arm);
  S(3, 3) = r0.x, S(4, 3) = r1.x, S(4, 4) = r1.y, S(5, 3) = r2.x, S(5, 4) = r2.y, S(5, 5) = r2.z;
  OSIER_UNROLL(3)
  for (int b = 0; b < 3; ++b) S(3 + b, 0) = after[b].x, S(3 + b, 1) = after[b].y, S(3 + b, 2) = after[b].z;
}

/// S along other axes, in place: A S_xx A^T, B S_wx A^T and B S_ww B^T; S(a, b) with a >= b is an entry. Rows of A and B are the
/// new axes in the old ones, those of position and of rotation.
template <class T, class Entry>
OSIER_FN void turn_symmetric(const Mat3<T>& A, int first, const Entry& S) {
  T half[3][3];  // S A^T
  OSIER_UNROLL(3)
  for (int i = 0; i < 3; ++i) OSIER_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    const T s0 = S(first + i, first), s1 = i < 1 ? S(first + 1, first) : S(first + i, first + 1), s2 = S(first + 2, first + i);
    half[i][j] = s0 * A.m[j][0] + s1 * A.m[j][1] + s2 * A.m[j][2];
  }
  OSIER_UNROLL(3)
  for (int i = 0; i < 3; ++i) OSIER_UNROLL(3)
  for (int j = 0; j <= i; ++j) S(first + i, first + j) = A.m[i][0] * half[0][j] + A.m[i][1] * half[1][j] + A.m[i][2] * half[2][j];
}
template <class T, class Entry>
OSIER_FN void turn_axes(const Mat3<T>& A, const Mat3<T>& B, const Entry& S) {
  turn_symmetric(A, 0, S);
  turn_symmetric(B, 3, S);
  T half[3][3];  // S_wx A^T
  OSIER_UNROLL(3)
  for (int i = 0; i < 3; ++i) OSIER_UNROLL(3)
  for (int j = 0; j < 3; ++j) half[i][j] = S(3 + i, 0) * A.m[j][0] + S(3 + i, 1) * A.m[j][1] + S(3 + i, 2) * A.m[j][2];
  OSIER_UNROLL(3)
  for (int i = 0; i < 3; ++i) OSIER_UNROLL(3)
  for (int j = 0; j < 3; ++j) S(3 + i, j) = B.m[i][0] * half[0][j] + B.m[i][1] * half[1][j] + B.m[i][2] * half[2][j];
}

/// v^T P as a vector.
template <class T>
OSIER_FN Vec3<T> row_times_turn(const Vec3<T>& turn, const Vec3<T>& v) {
  return plus_cross(v, v, turn);
}
template <class T>
OSIER_FN Vec3<T> row_times_turn(const AnisotropicTurn<T>& turn, const Vec3<T>& v) {
  return plus_cross(v, times(turn.c, v), turn.half_moment);
}

template <class T>
OSIER_FN Vec3<T> row_times_turn(const ExactTurn<T>& t, const Vec3<T>& v) {
  return transposed_turn_times(t, v);
}

/// P^T S P for the rotations, in place, in the axes of the springs. MomentTurn: AnisotropicTurn or ExactTurn, or a vector where
/// compliances are equal.
template <class MomentTurn, class Entry>
OSIER_FN void turn_with_moment(const MomentTurn& turn, const Entry& S) {
  using V = Vec3<std::remove_reference_t<decltype(S(3, 3))>>;
  V half[3] = {{S(3, 3), S(4, 3), S(5, 3)}, {S(4, 3), S(4, 4), S(5, 4)}, {S(5, 3), S(5, 4), S(5, 5)}};  // rows of S P
  OSIER_UNROLL(3)
  for (V& row : half) row = row_times_turn(turn, row);
  const V x = transposed_turn_times(turn, V{half[0].x, half[1].x, half[2].x}),
          y = transposed_turn_times(turn, V{half[0].y, half[1].y, half[2].y}),
          z = transposed_turn_times(turn, V{half[0].z, half[1].z, half[2].z});
  S(3, 3) = x.x, S(4, 3) = x.y, S(5, 3) = x.z, S(4, 4) = y.y, S(5, 4) = y.z, S(5, 5) = z.z;
  OSIER_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    const V column = transposed_turn_times(turn, V{S(3, j), S(4, j), S(5, j)});
    S(3, j) = column.x, S(4, j) = column.y, S(5, j) = column.z;
  }
}

/// Turns a force or a displacement into other axes, in place.
template <class T>
OSIER_FN void turn_six(const Mat3<T>& A, const Mat3<T>& B, T v[6]) {
  const Vec3<T> x = A * Vec3<T>{v[0], v[1], v[2]}, w = B * Vec3<T>{v[3], v[4], v[5]};
  v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = w.x, v[4] = w.y, v[5] = w.z;
}

/// A spring of compliance c along coordinate j, in series with S, in place; S(a, b) with a >= b is an entry. `row` receives S_ja
/// as it was, with den on its diagonal. Returns g.
template <class T, class Entry>
OSIER_FN T eliminate_spring(int j, T c, const Entry& S, T row[6]) {
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) row[a] = a < j ? S(j, a) : S(a, j);
  const T den = inverse(T(1) + c * row[j]), g = c * den;
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) {
    if (a == j) continue;
    const T scaled = g * row[a];
    OSIER_UNROLL(6)
    for (int b = 0; b <= a; ++b)
      if (b != j) S(a, b) -= scaled * row[b];
  }
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) (a < j ? S(j, a) : S(a, j)) = den * row[a];
  row[j] = den;
  return g;
}

/// The elimination step of a force; returns f_j from before the step.
template <class T>
OSIER_FN T pass_spring(int j, T g, const T row[6], T f[6]) {
  const T along = f[j], scaled = g * along;
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) f[a] = a == j ? row[j] * along : f[a] - scaled * row[a];
  return along;
}

template <class T>
OSIER_FN void turn_to_axes(const LinkSprings<T>& l, PackedSym6<T>& S) {
  if (!l.world_axes) turn_axes(transposed(l.x_axes), transposed(l.w_axes), [&](int a, int b) -> T& { return S(a, b); });
}
template <class T>
OSIER_FN void turn_from_axes(const LinkSprings<T>& l, PackedSym6<T>& S) {
  if (!l.world_axes) turn_axes(l.x_axes, l.w_axes, [&](int a, int b) -> T& { return S(a, b); });
}
template <class T>
OSIER_FN void turn_to_axes(const WorldSprings<T>&, PackedSym6<T>&) {}
template <class T>
OSIER_FN void turn_from_axes(const WorldSprings<T>&, PackedSym6<T>&) {}

/// Puts S of the subtree on z in series with the link's springs; returns the stiffness on the parent, world axes. S then holds
/// S_ja of each step j for a >= j, in the axes of the springs, which a solve needs (LinkSteps). Springs is LinkSprings or
/// WorldSprings.
template <class Springs, class T>
OSIER_FN PackedSym6<T> factor_link(const Springs& l, PackedSym6<T>& S) {
  see_from_near_end(l.arm, [&](int a, int b) -> T& { return S(a, b); });
  turn_to_axes(l, S);
  turn_with_moment(l.turn, [&](int a, int b) -> T& { return S(a, b); });
  PackedSym6<T> m = S;
  const T c[6] = {l.x_compliance.x, l.x_compliance.y, l.x_compliance.z, l.w_compliance.x, l.w_compliance.y, l.w_compliance.z};
  OSIER_UNROLL(6)
  for (int j = 0; j < 6; ++j) {
    OSIER_UNROLL(6)
    for (int a = j; a < 6; ++a) S(a, j) = m(a, j);
    T row[6];
    eliminate_spring(
        j, c[j], [&](int a, int b) -> T& { return m(a, b); }, row);
  }
  turn_from_axes(l, m);
  return m;
}

/// The six steps of a factored link, for any force on z and any displacement zeta of the near end, in the axes of the springs.
/// With S_ja from before step j, where coordinates below j belong to the parent's side already,
///
///   up     phi_j = f_j - sum_{a<j} S_ja zeta_a        the share of the force in step j
///   down   F_j = den (phi_j - S_jj zeta_j - sum_{a>j} S_ja y_a),   y_j = zeta_j + c F_j
///
/// Elimination takes care of the sum in phi: for b > j, phi_b -= S_jb (den zeta_j + g phi_j). Only S_ja with a >= j is needed.
/// Forces and displacements may have more digits than the stiffness that is kept.
template <class T, class Kept = T>
struct LinkSteps {
  const PackedSym6<Kept>& S;  ///< result of factor_link()
  T den[6], gain[6];

  template <class Springs>
  OSIER_FN LinkSteps(const Springs& l, const PackedSym6<Kept>& kept) : S(kept) {
    const T c[6] = {l.x_compliance.x, l.x_compliance.y, l.x_compliance.z, l.w_compliance.x, l.w_compliance.y, l.w_compliance.z};
    OSIER_UNROLL(6)
    for (int j = 0; j < 6; ++j) den[j] = inverse(T(1) + c[j] * S(j, j)), gain[j] = c[j] * den[j];
  }

  /// phi holds a force and receives its shares. `felt` receives den zeta_j + g phi_j, by which the share of a column
  /// changes its strain at step j.
  OSIER_FN void up(const T zeta[6], T phi[6], T felt[6]) const {
    OSIER_UNROLL(6)
    for (int j = 0; j < 6; ++j) {
      felt[j] = den[j] * zeta[j] + gain[j] * phi[j];
      OSIER_UNROLL(6)
      for (int b = j + 1; b < 6; ++b) phi[b] -= felt[j] * S(b, j);
    }
  }
  /// Carries a force alone through the link, zeta = 0: phi receives its shares, `force` the force on the parent.
  OSIER_FN void pass(T phi[6], T force[6]) const {
    OSIER_UNROLL(6)
    for (int j = 0; j < 6; ++j) {
      const T felt = gain[j] * phi[j];
      OSIER_UNROLL(6)
      for (int b = j + 1; b < 6; ++b) phi[b] -= felt * S(b, j);
    }
    T y[6];
    OSIER_UNROLL(6)
    for (int j = 5; j >= 0; --j) {
      T left = phi[j];
      OSIER_UNROLL(6)
      for (int a = j + 1; a < 6; ++a) left -= S(a, j) * y[a];
      force[j] = den[j] * left;
      y[j] = gain[j] * left;
    }
  }
  /// y holds zeta and receives y; `force` receives the force through the link. No step divides by a compliance or a stiffness,
  /// either may be 0. Where a link is stiff y hardly differs from zeta, so the difference is added to zeta: a factor of nearly 1
  /// would cost its digits.
  OSIER_FN void down(const T phi[6], T y[6], T force[6]) const {
    OSIER_UNROLL(6)
    for (int j = 5; j >= 0; --j) {
      T left = phi[j] - S(j, j) * y[j];
      OSIER_UNROLL(6)
      for (int a = j + 1; a < 6; ++a) left -= S(a, j) * y[a];
      force[j] = den[j] * left;
      y[j] += gain[j] * left;
    }
  }
};

}  // namespace osier::systems
