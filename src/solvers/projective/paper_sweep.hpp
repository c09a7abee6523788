// The sweep as printed (`"variant": "paper"`), for the record: projections onto the constraints of sections 6.1 and 6.2, their
// printed weights, and turns by the printed A = I8, whose system is diagonal (equations 13 to 23).
//
//   SE   p_x = d3, p_u = delta u   delta takes d3 to the direction of the edge; weight EA l            [Eq. 20]
//   BT   u_n = mid, u_(n+1) = mid q0   mid = normalised mean of u_n and u_(n+1) conj(q0)                 [Eq. 21]
//        weight 4 G J3/l                                                                                 [Eq. 23]
//   u    normalise((M s + w_SE p_u + sum w_BT targets)/(M + w_SE + n w_BT)),   M = diag(0, J)/h^2        [Eq. 13]
//
// What is left open or misprinted is read as in docs/theory/projective.md, which lists it. The fixed point is that of a rod with
// bending and twisting stiffness 2 G J3: the weight of Eq. 23 belongs to A = (-I4, I4), and counts double for A = I8.
#pragma once

#include "solvers/projective/sweep.hpp"

namespace osier::projective {

template <class P>
class PaperSweep {
 public:
  using T = ScalarOf<P>;
  explicit PaperSweep(RodSweep<P>& sweep) : sweep_(sweep), v_(sweep.view()) {}

  void sweep(bool jacobi) {
    if (jacobi) project();
    sweep_.move();
    if (!jacobi) project();
    Quat<P>* q = of<Quat<P>>(v_.rotation);
    const Quat<P>* target = of<Quat<P>>(v_.target);
    for (Index s = 0; s < v_.segments; ++s) {
      const P size2 = norm2(target[s]);
      const MaskOf<P> moves = of<P>(v_.frame_free)[s] * size2 > P(0);
      q[s] = select(moves, inverse_sqrt(select(moves, size2, P(1))) * target[s], q[s]);
    }
  }

 private:
  template <class A>
  static A* of(T* a) {
    return RodSweep<P>::template of<A>(a);
  }
  template <class A>
  static const A* of(const T* a) {
    return RodSweep<P>::template of<A>(a);
  }
  void project();

  RodSweep<P>& sweep_;
  const RodView<T>& v_;
};

/// The rotation that takes unit a to the direction of t, times q. Where t is nearly zero q stays; where t is opposite to a it
/// turns about d1.
template <class P>
OSIER_FN Quat<P> towards(const Vec3<P>& a, const Vec3<P>& t, const Quat<P>& q) {
  using T = ScalarOf<P>;
  const P length2 = norm2(t);
  const MaskOf<P> long_enough = length2 > P(T(1e-12));
  const Vec3<P> unit = inverse_sqrt(select(long_enough, length2, P(1))) * t;
  const P c = P(1) + dot(a, unit);
  const Vec3<P> axis = cross(a, unit);
  const Quat<P> turn{axis.x, axis.y, axis.z, c};
  const MaskOf<P> opposite = norm2(turn) < P(T(1e-12));
  const Quat<P> half = q * Quat<P>{P(1), P(0), P(0), P(0)};
  const Quat<P> turned = inverse_sqrt(select(opposite, P(1), norm2(turn))) * (turn * q);
  return select(long_enough, select(opposite, half, turned), q);
}

/// M s + w_SE p_u + sum w_BT targets, over the diagonal, into `target`.
template <class P>
void PaperSweep<P>::project() {
  const Quat<P>*q = of<Quat<P>>(v_.rotation), *predicted = of<Quat<P>>(v_.predicted);
  Quat<P>* sum = of<Quat<P>>(v_.target);
  Vec3<P>* weight = of<Vec3<P>>(v_.gw);  // of x, y and z; that of the real part is without inertia
  P* real = of<P>(v_.turn_scale);
  const Vec3<P>* u = of<Vec3<P>>(v_.u);
  const P rate2 = P(T(1) / (v_.h * v_.h));
  for (Index s = 0; s < v_.segments; ++s) {
    const auto [a, b] = v_.segment_vertices[s];
    const Vec3<P> t = of<Vec3<P>>(v_.edge)[s] + of<P>(v_.inverse_length)[s] * (u[b] - u[a]);
    const P w = of<Vec3<P>>(v_.stiffness)[s].z;
    const Vec3<P> inertia = rate2 * of<Vec3<P>>(v_.inertia)[s];
    const Quat<P> from = predicted[s];
    sum[s] = w * towards(director3(q[s]), t, q[s]) + Quat<P>{inertia.x * from.x, inertia.y * from.y, inertia.z * from.z, P(0)};
    weight[s] = Vec3<P>{w, w, w} + inertia;
    real[s] = w;
  }
  for (Index j = 0; j < v_.joints; ++j) {
    const auto [a, b] = v_.joint_frames[j];
    const P w = of<Quat<P>>(v_.bend)[j].z;
    const Quat<P> rest = of<Quat<P>>(v_.bend_rest)[j], seen = q[b] * conj(rest);
    const P sign = bend_twist::pole(dot(q[a], seen));
    const Quat<P> both = q[a] + sign * seen;
    const Quat<P> mid = inverse_sqrt(norm2(both)) * both;
    const auto add = [&](Index s, const Quat<P>& target) {
      if (s >= v_.segments) return;
      sum[s] += w * target;
      weight[s] += Vec3<P>{w, w, w};
      real[s] += w;
    };
    add(a, mid);
    add(b, sign * (mid * rest));
  }
  for (Index s = 0; s < v_.segments; ++s)
    sum[s] = {sum[s].x / weight[s].x, sum[s].y / weight[s].y, sum[s].z / weight[s].z, sum[s].w / real[s]};
}

}  // namespace osier::projective
