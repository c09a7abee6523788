// One time step by coupled Gauss-Newton iterations, each solved directly: O(n) on chains and trees (tree_factor.hpp), with a
// small dense or conjugate-gradient correction for loops.
//
// Unknowns are the displacements u = x - x_t and the frames q. With p, axis = R rest, k as in general_update.hpp, the strains of
// a node against its parent are
//
//   e_x = x_far - x_near - arm,  arm = +-l axis,      stiffness k/l^2 along the material axes
//   e_w: C e_w = the joint's exact gradient,          stiffness (k + k_viscous)/4 along the axes halfway between the frames
//
// so that the gradient is the exact one and the Hessian is positive semidefinite by construction. What a Gauss-Newton Hessian
// lacks most is tension: l T (I - d d^T) on the frame, T = max(0, tension). T is the link force of the last solve, not the spring
// force at the first guess: a guess that stretches the rod would stiffen it out of all proportion.
#pragma once

#include <memory>

#include "solvers/solver.hpp"

namespace osier::direct {

struct Options {
  int iterations = 0;       ///< fixed number, or 0: by tolerance
  double tolerance = 1e-3;  ///< last correction over the whole motion of the step
  int max_iterations = 50;
};

class DirectSolver final : public Solver {
 public:
  explicit DirectSolver(const Model& model, const Options& options = {});
  ~DirectSolver() override;
  void rebind(const Model& model) override;
  StepReport step(const Model& model, const Control& control, State& state, double h) override;

 private:
  Options options_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace osier::direct
