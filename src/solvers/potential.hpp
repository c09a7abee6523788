// The function that every implicit Euler solver minimises over one step, in double and without cleverness:
//
//   Phi(x, q) = sum m/(2 h^2) |x - y|^2 + c/(2 h) |x - x_t|^2            inertia and velocity-linear loads
//             + sum stretch_shear + bend_twist                           elasticity
//             + sum tau/h (the same with the strains of x_t, q_t)        Kelvin-Voigt
//             - sum 2 (M q_k).q                                          torques
//
//   y = x_t + h v_t + h^2 f/m; for statics the first line becomes -f.x and damping is left out.
//
// A torque has no potential in general; -2 (M q_k).q has the right gradient at the point q_k where it was set up (dq = w q/2
// gives -M.w), which is all that a step of any solver needs.
#pragma once

#include <vector>

#include "math/mat3.hpp"
#include "math/quat.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct EnergyTerms {
  double inertia = 0;  ///< or minus the work of the loads, in statics
  double stretch_shear = 0;
  double bend_twist = 0;
  double damping = 0;
  double torque = 0;
  double total() const { return inertia + stretch_shear + bend_twist + damping + torque; }
  /// Sum of magnitudes: rounding errors of the total scale with it.
  double magnitude() const;
};

/// Elastic energies of a state, for diagnostics.
EnergyTerms elastic_energy(const Model& model, const std::vector<Vec3d>& x, const std::vector<Quatd>& q);

class IncrementalPotential {
 public:
  /// Remembers the start of the step. h = 0 means statics.
  void begin(const Model& model, const Control& control, const State& start, double h);
  /// Sets q_k, the point around which torques are linearised.
  void set_torque_point(const std::vector<Quatd>& q);

  EnergyTerms value(const std::vector<Vec3d>& x, const std::vector<Quatd>& q) const;
  /// gx per vertex [N], gw per frame (spatial rotation vector) [N m]; entries of fixed vertices and frames are reactions.
  void gradient(const std::vector<Vec3d>& x, const std::vector<Quatd>& q, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw) const;

  /// Calls sink(node_row, node_col, block) for the blocks of the Hessian, both triangles; nodes are vertices first, then frames.
  template <class Sink>
  void hessian(const std::vector<Vec3d>& x, const std::vector<Quatd>& q, Sink&& sink) const;

  /// Largest force [N] among loads, section forces and moments over length: what a residual is small against.
  double force_scale(const std::vector<Vec3d>& x, const std::vector<Quatd>& q) const;

  /// Largest left-over force or moment/length of free vertices and frames, with where it is.
  struct Residual {
    double value = 0;
    Index vertex = -1, segment = -1;  ///< exactly one is set
  };
  Residual residual(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw) const;

  double inertia_weight(Index v) const { return weight_[v]; }
  Vec3d torque(Index frame, const Quatd& q) const;

 private:
  const Model* model_ = nullptr;
  const Control* control_ = nullptr;
  double h_ = 0;
  std::vector<Vec3d> start_;         ///< x_t
  std::vector<double> weight_;       ///< m/h^2 + c/h
  std::vector<Vec3d> pull_;          ///< f + m v_t/h: gradient of the first line at x_t, negated
  std::vector<Vec3d> strain_prev_;   ///< Gamma of x_t, q_t per segment
  std::vector<Quatd> rotation_prev_; ///< conj(qa) qb of q_t per joint
  std::vector<Quatd> torque_pull_;   ///< 2 M q_k per frame
};

// --- implementation of the template -----------------------------------------------------------------------------------------

template <class Sink>
void add_segment_hessian(double k, double l, const Vec3d& p, const Vec3d& d, Index a, Index b, Index frame, Sink&& sink);
template <class Sink>
void add_joint_hessian(double k, const Quatd& r, Index a, Index b, Sink&& sink);

}  // namespace osier

#include "solvers/potential_hessian.hpp"
