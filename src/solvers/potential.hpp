// The function that every implicit Euler solver minimises over one step, in double and without cleverness:
//
//   Phi(x, q) = sum m/(2 h^2) |x - y|^2 + c/(2 h) |x - x_t|^2            inertia and velocity-linear loads
//             + sum k/2 |y_a - R a|^2                                    rotational inertia and motors (direction_terms.hpp)
//             + sum stretch_shear + bend_twist                           elasticity
//             + sum tau/h (the same with the strains of x_t, q_t)        Kelvin-Voigt
//             - sum M.log(q conj(q_k))                                   torques
//
//   y = x_t + h v_t + h^2 f/m; for statics the first line becomes -f.x and damping is left out.
//
// A torque has no potential in general; -M.log(q conj(q_k)) has the right gradient at the point q_k where it was set up and is
// the work done along a turn about a fixed axis, which is all that a line search needs.
//
// The unknowns are displacements u = x - x_t: edges are formed as (x_b - x_a)_t + u_b - u_a, so that rounding scales with the
// motion and not with world coordinates. With stiff stretching that is the difference between 1e-5 and 1e-12.
#pragma once

#include <vector>

#include "math/mat3.hpp"
#include "math/quat.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/direction_terms.hpp"

namespace osier {

struct EnergyTerms {
  double inertia = 0;  ///< or minus the work of the loads, in statics
  double stretch_shear = 0;
  double bend_twist = 0;
  double damping = 0;
  double torque = 0;
  double rounding = 0;  ///< no energy: sum of k |y - R a| over directions, which rounding of k |y - R a|^2 goes with
  double total() const { return inertia + stretch_shear + bend_twist + damping + torque; }
  /// Sum of magnitudes: rounding errors of the total scale with it.
  double magnitude() const;
};

/// Elastic energies of a state, for diagnostics.
EnergyTerms elastic_energy(const Model& model, const std::vector<Vec3d>& x, const std::vector<Quatd>& q);

struct SegmentHessian;
struct JointHessian;

class IncrementalPotential {
 public:
  /// Remembers the start of the step. h = 0 means statics.
  void begin(const Model& model, const Control& control, const State& start, double h);
  /// Sets q_k, the point around which torques are linearised.
  void set_torque_point(const std::vector<Quatd>& q);

  EnergyTerms value(const std::vector<Vec3d>& u, const std::vector<Quatd>& q) const;
  /// gx per vertex [N], gw per frame (spatial rotation vector) [N m]; entries of fixed vertices and frames are reactions.
  void gradient(const std::vector<Vec3d>& u, const std::vector<Quatd>& q, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw) const;

  /// Calls sink(node_row, node_col, block) for the blocks of the Hessian, both triangles; nodes are vertices first, then frames.
  template <class Sink>
  void hessian(const std::vector<Vec3d>& u, const std::vector<Quatd>& q, Sink&& sink) const;
  /// What it is made of, damping included.
  SegmentHessian segment_hessian(const std::vector<Vec3d>& u, const std::vector<Quatd>& q, Index segment) const;
  JointHessian joint_hessian(const std::vector<Quatd>& q, Index joint) const;

  /// Largest force [N] among loads, section forces and moments over length: what a residual is small against.
  double force_scale(const std::vector<Vec3d>& u, const std::vector<Quatd>& q) const;

  /// Largest left-over force or moment/length of free vertices and frames, with where it is.
  struct Residual {
    double value = 0;
    Index vertex = -1, segment = -1;  ///< exactly one is set
  };
  Residual residual(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw) const;

  /// What rounding alone leaves of forces and couples at displacements u: no residual can be pushed below it.
  double rounding_floor(const std::vector<Vec3d>& u, double force_scale) const;

  bool is_static() const { return h_ == 0; }
  double inertia_weight(Index v) const { return weight_[v]; }
  const std::vector<DirectionTerm>& directions() const { return directions_; }
  Vec3d torque(Index frame, const Quatd& q) const;
  /// (x_b - x_a)/l at displacements u.
  Vec3d edge_over_length(const std::vector<Vec3d>& u, Index segment) const;
  /// Weights of a segment in the quadratic form of positions alone, in its material axes: (1 + alpha) k/l^2.
  PerAxis position_stiffness(Index segment) const;

 private:
  const Model* model_ = nullptr;
  const Control* control_ = nullptr;
  double h_ = 0;
  std::vector<Vec3d> edge_start_;     ///< (x_b - x_a)/l of x_t
  std::vector<double> weight_;        ///< m/h^2 + c/h
  std::vector<Vec3d> pull_;           ///< f + m v_t/h: gradient of the first line at x_t, negated
  std::vector<Vec3d> strain_prev_;    ///< Gamma of x_t, q_t per segment
  std::vector<Quatd> rotation_prev_;  ///< conj(qa) qb of q_t per joint
  Quatd viscous_stiffness(Index joint) const;
  std::vector<DirectionTerm> directions_;  ///< rotational inertia, motors
  std::vector<Quatd> torque_point_;        ///< q_k
  std::vector<Vec3d> torque_;              ///< M at q_k
};

}  // namespace osier

#include "solvers/potential_hessian.hpp"
