// One time step, or an equilibrium, by coupled Gauss-Newton iterations, each solved directly by the recursion of tree_factor.hpp:
// O(n) on chains and trees, dearer along loops. Where loops make it too dear, by conjugate gradients (block_iteration.hpp).
//
// Unknowns are the displacements u = x - x_t and the frames q. With p = (x_b - x_a)/l, axis = R rest and k of the folded spring
// (energies/stretch_shear.hpp), the strains of a node against its parent are
//
//   e_x = x_far - x_near - arm,  arm = +-l axis,      stiffness k/l^2 along the material axes
//   e_w: C e_w = the joint's exact gradient,          stiffness (k + k_viscous)/4 along the axes halfway between the frames
//
// so that the gradient is the exact one and the Hessian is positive semidefinite by construction. What a Gauss-Newton Hessian
// lacks most is tension: l T (I - d d^T) on the frame, T = max(0, tension). T is the link force of the last solve, not the spring
// force at the first guess: a guess that stretches the rod would stiffen it out of all proportion.
//
// docs/theory/direct.md has the derivations.
#pragma once

#include <memory>

#include "solvers/driver_options.hpp"
#include "solvers/settling.hpp"
#include "solvers/solver.hpp"

namespace osier::systems {
class Engine;
}

namespace osier::direct {

using namespace systems;

class DirectSolver final : public Solver {
 public:
  explicit DirectSolver(const Model& model, const Options& options = {});
  ~DirectSolver() override;
  void rebind(const Model& model, State& state) override;
  StepReport step(const StepInput& input, State& state) override;
  StepReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override;
  /// Working memory in use, and what it will be.
  std::size_t bytes() const;
  static std::size_t bytes(const Model& model, const Control& control, double h, const Options& options);

 private:
  void settle_plan(const Model& model, const Control& control, double h);

  Options options_;
  /// What was held when the plan was made: vertices, then frames with how they are.
  std::vector<std::pair<Index, FrameControl>> held_;
  bool planned_ = false;
  double planned_h_ = 0;
  Loops loops_ = Loops::automatic;
  std::unique_ptr<systems::Engine> engine_;
  std::unique_ptr<Solver> statics_;
};

}  // namespace osier::direct
