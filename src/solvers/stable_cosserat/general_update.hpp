// Updates for the energy with a stiffness per axis, for rotational inertia and for motors: what the closed form of
// orientation_update.hpp does not cover. Positions stay exact, one 3x3 solve per vertex. One frame with its neighbours held has
//
//   E(q) = 1/2 G.(k G)                        G = R' p - rest, stretch and shear
//        + sum_joints 1/2 D.(K D)             D = r - phi q0, r = conj(qa) qb
//        + sum 1/2 k_y |y - R a|^2            rotational inertia, motors
//        - 2 (M q_0).q                        torque at the present q_0
//
// which is of fourth degree in q when shears differ. Each update is
//
//   1. a Riemannian Newton step: turn by w = -H^-1 g in material axes, shortened until E does not rise;
//   2. where H is not positive definite or no short step helps: majorise and minimise. Every term that is concave once its
//      largest stiffness is taken out is replaced by its tangent at the present q, which leaves exactly the closed-form problem
//      of math/secular.hpp with
//
//        v eta-part   v = -2 p,  eta = kappa rest + (kappa - k) G                kappa = max k
//        b from a joint, seen from its second frame: qa w, from its first: qb conj(w),
//                     w = (kappa_j - K) r + phi K q0   (elastic and viscous alike)
//        b from a direction: (S + s) q,  S q = -2 k_y y q a,  s = 2 k_y |y||a|
//
//      Its minimiser cannot have a higher energy. With equal stiffnesses it is the paper's update.
//
// Material axes because stretching is many orders stiffer than twisting: there they do not mix, in float either.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/workspace.hpp"

namespace osier::stable_cosserat {

/// Brings C and R rest up to date with a new frame.
template <class T>
OSIER_FN void refresh(GeneralSegment<T>& g, const Quat<T>& q) {
  g.C = rotated_diagonal(rotation_matrix(q), g.k);
  g.axis = rotate(q, g.rest);
}

/// Section force in the world.
template <class T>
OSIER_FN Vec3<T> general_force(const GeneralSegment<T>& g, const Vec3<T>& p) {
  return g.C * (p - g.axis);
}

/// Gradient of the potential at one vertex, and its Hessian.
template <class T>
OSIER_FN Vec3<T> vertex_gradient(const Model& m, const Workspace<T>& w, Index v, Mat3<T>& hessian) {
  hessian = identity3(w.general.weight[v]);
  Vec3<T> g = w.general.weight[v] * w.u[v] - w.vertex[v].rhs;
  for (Index i = m.vertex_segments.start[v], end = m.vertex_segments.start[v + 1]; i < end; ++i) {
    const VertexSide<T>& side = w.vertex_side[i];
    const T inv = w.segment[side.segment].inverse_length;
    const GeneralSegment<T>& s = w.general.segment[side.segment];
    g += (side.sign * inv) * general_force(s, edge_over_length(m, w, side.segment));
    hessian = hessian + (inv * inv) * s.C;
  }
  return g;
}

template <class T>
Vec3<T> general_position(const Model& m, const Workspace<T>& w, Index v) {
  Mat3<T> hessian;
  const Vec3<T> g = vertex_gradient(m, w, v, hessian);
  Vec3<T> step;
  // Sums of positive semidefinite blocks; only a massless vertex that nothing stretches could fail, and it stays.
  return solve_positive(hessian, -g, T(0), step) ? w.u[v] + step : w.u[v];
}

/// An energy and what rounding may have done to it: a step that changes less than that has not raised it.
template <class T>
struct RoundedValue {
  T value = T(0), rounding = T(0);
  OSIER_FN void add(T energy, T forces) {
    value += energy;
    rounding += T(8) * std::numeric_limits<T>::epsilon() * (forces + energy);
  }
};

/// The local problem of one frame; everything but q stays put while it exists.
template <class T>
class FrameProblem {
 public:
  FrameProblem(const Model& m, const Workspace<T>& w, Index s, bool has_torque)
      : m_(m), w_(w), s_(s), p_(edge_over_length(m, w, s)), g_(w.general.segment[s]) {
    if (has_torque) torque_ = torque_pull(w.torque[s], w.torque_material[s], w.q[s]);
  }

  RoundedValue<T> value(const Quat<T>& q) const {
    RoundedValue<T> e;
    const Vec3<T> strain = stretch_shear::strain(p_, q, g_.rest), n = times(g_.k, strain);
    e.add(stretch_shear::value(g_.k, strain), norm(n));
    each_joint([&](const GeneralJoint<T>& j, const Quat<T>& other, bool second) {
      const Quat<T> r = second ? conj(other) * q : conj(q) * other;
      const auto add = [&](const Quat<T>& K, const Quat<T>& rest) {
        const Quat<T> D = bend_twist::difference(K, r, rest);
        e.add(bend_twist::value4(K, D), norm(bend_twist::times(K, D)));
      };
      add(j.K, j.rest);
      if (viscous(j)) add(j.K_viscous, j.previous);
    });
    each_direction([&](const GeneralDirection<T>& d) {
      const Vec3<T> a = rotate(q, d.a);
      e.add(stretch_shear::value(d.k, d.y, a), d.k * norm(d.y - a));
    });
    e.value -= dot(torque_, q);
    e.rounding += std::numeric_limits<T>::epsilon() * norm(torque_);
    return e;
  }

  /// In material axes, at the present frame.
  Vec3<T> derivatives(Mat3<T>& hessian) const {
    const Quat<T>& q = w_.q[s_];
    const Vec3<T> P = rotate(conj(q), p_), n = times(g_.k, stretch_shear::strain(p_, q, g_.rest));
    Vec3<T> g = stretch_shear::gradient_w(n, P);
    const Mat3<T> K{{{g_.k.x, 0, 0}, {0, g_.k.y, 0}, {0, 0, g_.k.z}}};
    hessian = stretch_shear::hessian_ww(K, P, n);
    each_joint([&](const GeneralJoint<T>& j, const Quat<T>& other, bool second) {
      const Quat<T> r = second ? conj(other) * q : conj(q) * other;
      const auto add = [&](const Quat<T>& K4, const Quat<T>& rest) {
        const Quat<T> D = bend_twist::difference(K4, r, rest);
        const Vec3<T> in_a = bend_twist::gradient_material(K4, r, D);
        const Mat3<T> same = bend_twist::hessian_material(K4, r, D);
        if (second) {  // these are the axes of the other frame
          const Mat3<T> R = rotation_matrix(r);
          g += rotate(conj(r), in_a);
          hessian = hessian + transposed(R) * same * R;
        } else {
          g -= in_a;
          hessian = hessian + same;
        }
      };
      add(j.K, j.rest);
      if (viscous(j)) add(j.K_viscous, j.previous);
    });
    each_direction([&](const GeneralDirection<T>& d) {
      const Vec3<T> y = rotate(conj(q), d.y);
      g += stretch_shear::gradient_w(d.k, y, d.a);
      hessian = hessian + stretch_shear::hessian_ww(d.k, y, d.a);
    });
    g -= T(0.5) * imag(conj(q) * torque_);  // torque_ = 2 M q: its Hessian is 0 here
    return g;
  }

  /// The closed-form problem that lies above E and touches it at the present frame.
  OrientationProblem<T> majoriser() const {
    const Quat<T>& q = w_.q[s_];
    OrientationProblem<T> o;
    const auto largest = [](const Vec3<T>& k) { return k.x > k.y ? (k.x > k.z ? k.x : k.z) : (k.y > k.z ? k.y : k.z); };
    const T kappa = largest(g_.k);
    const Vec3<T> strain = stretch_shear::strain(p_, q, g_.rest);
    o.v = T(-2) * p_;
    o.eta = kappa * g_.rest + times(Vec3<T>{kappa - g_.k.x, kappa - g_.k.y, kappa - g_.k.z}, strain);
    o.b = torque_;
    each_joint([&](const GeneralJoint<T>& j, const Quat<T>& other, bool second) {
      const Quat<T> r = second ? conj(other) * q : conj(q) * other;
      const auto add = [&](const Quat<T>& K, const Quat<T>& rest) {
        const T most = largest(imag(K));
        const Quat<T> Kq0 = bend_twist::times(K, rest);
        const Quat<T> pull = most * r - bend_twist::times(K, r) + (dot(Kq0, r) < T(0) ? T(-1) : T(1)) * Kq0;
        o.b += second ? other * pull : other * conj(pull);
      };
      add(j.K, j.rest);
      if (viscous(j)) add(j.K_viscous, j.previous);
    });
    each_direction(
        [&](const GeneralDirection<T>& d) { o.b += (T(-2) * d.k) * (d.y * q * d.a) + (T(2) * d.k * norm(d.y) * norm(d.a)) * q; });
    complete_problem<T, true>(o);
    return o;
  }

 private:
  static bool viscous(const GeneralJoint<T>& j) { return norm2(j.K_viscous) > T(0); }
  template <class F>
  OSIER_FN void each_joint(const F& f) const {
    for (Index i = m_.frame_joints.start[s_], end = m_.frame_joints.start[s_ + 1]; i < end; ++i) {
      const Index e = m_.frame_joints.entry[i];
      f(w_.general.joint[e / 2], w_.q[w_.joint_side[i].other], e % 2 == 1);
    }
  }
  template <class F>
  OSIER_FN void each_direction(const F& f) const {
    for (Index i = w_.general.direction_start[s_]; i < w_.general.direction_start[s_ + 1]; ++i) f(w_.general.direction[i]);
  }

  const Model& m_;
  const Workspace<T>& w_;
  Index s_;
  Vec3<T> p_;
  const GeneralSegment<T>& g_;
  Quat<T> torque_{T(0), T(0), T(0), T(0)};
};

/// The new frame of one free or hinged segment. `hinge` is the world axis of its hinge and c0 its frame at angle 0, or null.
template <class T>
Quat<T> general_orientation(const FrameProblem<T>& problem, const Quat<T>& q, const Vec3<T>* hinge, const Quat<T>& c0) {
  constexpr int kShortenings = 3;
  const RoundedValue<T> before = problem.value(q);
  const auto allowed = [&](const Quat<T>& trial) {
    const RoundedValue<T> e = problem.value(trial);
    return e.value <= before.value + (before.rounding > e.rounding ? before.rounding : e.rounding);
  };
  Mat3<T> hessian;
  Vec3<T> g = problem.derivatives(hessian), w;
  bool newton = false;
  if (hinge) {
    const Vec3<T> axis = rotate(conj(q), *hinge);
    const T curvature = dot(axis, hessian * axis);
    newton = curvature > T(0);
    if (newton) w = (-dot(axis, g) / curvature) * axis;
  } else {
    newton = solve_positive(hessian, -g, T(1e-4), w);
  }
  if (newton) {
    const T length = norm(w);
    if (length > T(1)) w = (T(1) / length) * w;  // a quadratic model reaches no further
    for (int i = 0; i < kShortenings; ++i, w = T(0.25) * w) {
      const Quat<T> trial = normalized(q * rotation_exp(w));
      if (allowed(trial)) return trial;
    }
  }
  const OrientationProblem<T> above = problem.majoriser();
  const Quat<T> trial = hinge ? updated_hinge(above, q, c0, *hinge) : orientation_careful(above, q);
  return allowed(trial) ? trial : q;
}

}  // namespace osier::stable_cosserat
