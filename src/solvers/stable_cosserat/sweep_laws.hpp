// The two laws of the sweeps in lanes: their segments and joints, and their updates of a vertex and of a frame.
//
//   ClosedFormLaw   one stiffness for stretch and shear and one for bend and twist: the updates of the paper
//                   (position_update.hpp, orientation_update.hpp)
//   AxesLaw         a stiffness for every axis: a 3x3 solve for a vertex, a Newton step for a frame (frame_problem.hpp)
//
// All numbers are in registers; chain_sweep.hpp and graph_sweep.hpp load and store them. A law has
//
//   Spring    a segment as its vertices meet it: its force on the second one at u = 0, and its stiffness
//   Joint     a joint as its second frame meets it, damping folded in (kelvin_voigt.hpp); reversed() is for the first
//   Segment   a segment as its own frame meets it
//   Vertex    the update of a vertex: add() all springs, then updated()
//   Frame     the update of a frame: add_joint() all joints, then updated()
#pragma once

#include "energies/stretch_shear.hpp"
#include "math/lane_access.hpp"
#include "math/sym3.hpp"
#include "solvers/stable_cosserat/frame_problem.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

/// The first value of a sum: the zero -0, for which x + 0 = x holds for every x, so that compilers leave the addition out.
template <class P>
OSIER_FN P empty_sum() {
  return P(ScalarOf<P>(-0.0));
}

template <class P>
struct ClosedFormSegment {
  Vec3<P> v, eta;  ///< v of SCR Eq. 15 and eta of VSCR Eq. 20
};
template <class P>
OSIER_FN ClosedFormSegment<ScalarOf<P>> lane_of(const ClosedFormSegment<P>& s, int k) {
  return {lane_of(s.v, k), lane_of(s.eta, k)};
}

template <class P>
struct ClosedFormLaw {
  static constexpr bool kClosedForm = true;
  using Segment = ClosedFormSegment<P>;

  struct Spring {
    Vec3<P> force;
    P stiffness;  ///< c of position_update.hpp
  };
  struct Joint {
    Quat<P> target;
    OSIER_FN Joint reversed() const { return {conj(target)}; }
  };
  /// `edge` is x_b - x_a at u = 0; (1 + alpha) k/l p0 = c (x_b - x_a).
  template <bool kDamped>
  OSIER_FN static void put_spring(P k_over_length, P c, const Vec3<P>& edge, const Vec3<P>& eta, const Quat<P>& q,
                                  Spring& spring) {
    spring.force = edge_force(c, P(1), edge) + image_force(k_over_length, axis_image_of<P, kDamped>(q, eta));
    spring.stiffness = c;
  }

  /// `inverse_hessian` and u are arguments of updated() only, so that they need no registers before.
  class Vertex {
   public:
    OSIER_FN Vertex(const Vec3<P>&, P, const Vec3<P>& rhs) : sum_(rhs) {}
    OSIER_FN void add(const Spring& s, P sign, const Vec3<P>& other) { add_segment(sum_, sign, s.force, s.stiffness, other); }
    OSIER_FN Vec3<P> updated(P inverse_hessian) const { return inverse_hessian * sum_; }

   private:
    Vec3<P> sum_;
  };

  template <bool kDamped, Lambda kLambda>
  class Frame {
   public:
    OSIER_FN Frame(const Quat<P>&, const Segment& s) {
      o_.v = s.v;
      o_.eta = s.eta;
      const P empty = empty_sum<P>();
      o_.b = {empty, empty, empty, empty};
    }
    /// The size of `weighted_rest` times the cosine that tells which pole is nearer.
    OSIER_FN P add_joint(const Quat<P>& q, const Quat<P>& other, const Joint& j, Quat<P>& weighted_rest) {
      P c;
      o_.b += joint_share(other, j.target, q, c);
      weighted_rest = j.target;
      return c;
    }
    OSIER_FN void add_torque(const Quat<P>&, const Quat<P>& torque) { o_.b += torque; }
    OSIER_FN bool has_couples() const { return any(norm2(o_.b) > P(0)); }
    /// `refused`: lanes that need safeguarded_frame_of() instead.
    OSIER_FN Quat<P> updated(const Quat<P>&, P& gamma, MaskOf<P>& refused) {
      complete_problem<P, kDamped>(o_);
      return solve_orientation<P, kLambda>(o_, gamma, refused);
    }
    /// The update without couples: the frame points along the edge.
    OSIER_FN Quat<P> aligned(const Quat<P>& q, MaskOf<P>& refused) {
      o_.s = problem_scale<P, kDamped>(o_);
      return orientation_aligned(o_, q, refused);
    }

   private:
    OrientationProblem<P> o_;
  };
};

template <class P>
struct AxesSegment {
  Vec3<P> p, k, rest;  ///< of frame_problem.hpp: the edge [m], stiffness [N/m] and rest vector [m]
};
template <class P>
OSIER_FN AxesSegment<ScalarOf<P>> lane_of(const AxesSegment<P>& s, int k) {
  return {lane_of(s.p, k), lane_of(s.k, k), lane_of(s.rest, k)};
}

template <class P>
struct AxesLaw {
  static constexpr bool kClosedForm = false;
  using Segment = AxesSegment<P>;

  struct Spring {
    Sym3<P> stiffness;  ///< C = R k R' [N/m]
    Vec3<P> force;      ///< C (R rest - (x_b - x_a))
  };
  struct Joint {
    Quat<P> K, rest;
    OSIER_FN Joint reversed() const { return {K, conj(rest)}; }
  };
  /// Writes the spring into its place, which may be in memory, so that the stiffness leaves the registers before the force needs
  /// them.
  OSIER_FN static void put_spring(const Quat<P>& q, const Vec3<P>& k, const Vec3<P>& rest, const Vec3<P>& edge, Spring& spring) {
    spring.stiffness = packed(rotated_diagonal(rotation_matrix(q), k));
    spring.force = spring.stiffness * (rotate(q, rest) - edge);
  }

  class Vertex {
   public:
    OSIER_FN Vertex(const Vec3<P>& u, P weight, const Vec3<P>& rhs) : u_(u), gradient_(weight * u - rhs) {
      const P empty = empty_sum<P>();
      stiffness_ = {empty, empty, empty, empty, empty, empty};
    }
    OSIER_FN void add(const Spring& s, P sign, const Vec3<P>& other) {
      gradient_ += s.stiffness * (u_ - other) - sign * s.force;
      stiffness_ = stiffness_ + s.stiffness;
    }
    OSIER_FN Vec3<P> updated(P weight) const { return after_block_step(u_, gradient_, identity3(weight) + full(stiffness_)); }

   private:
    Vec3<P> u_, gradient_;
    Sym3<P> stiffness_;
  };

  /// This law has one way to find lambda: the minimum.
  template <bool kDamped, Lambda>
  class Frame {
   public:
    OSIER_FN Frame(const Quat<P>& q, const Segment& s) : problem_(q, s.p, s.k, s.rest) {}
    OSIER_FN P add_joint(const Quat<P>& q, const Quat<P>& other, const Joint& j, Quat<P>& weighted_rest) {
      P c;
      problem_.add_joint(q, {other, j.K, j.rest}, weighted_rest, c);
      return c;
    }
    OSIER_FN void add_torque(const Quat<P>& q, const Quat<P>& torque) { problem_.add_torque(q, torque); }
    OSIER_FN Quat<P> updated(const Quat<P>& q, P&, MaskOf<P>& refused) { return newton_frame(problem_, q, refused); }

   private:
    FrameProblem<P> problem_;
  };
};

}  // namespace osier::stable_cosserat
