// What constraints exert: the share of each in the balance of the last step, inertia and damping included.
//
// At the stage of a step (integration/integrator.hpp) the gradient of the step potential is what is left of the balance of a
// vertex, m a + c v + grad E - f, and of the couples on a frame. It is zero where nothing holds, and what holds exerts it
// elsewhere.
#pragma once

#include <functional>
#include <vector>

#include "contact/record.hpp"
#include "osier/model.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"
#include "solvers/solver.hpp"
#include "solvers/step_potential.hpp"

namespace osier {

/// The left-over of a step's equations, all of them.
struct StepBalance {
  std::vector<Vec3d> force;   ///< per vertex [N]
  std::vector<Vec3d> couple;  ///< per frame [N m]
  double scale = 0;           ///< the largest force at work [N]
  double rounding = 0;        ///< forces that rounding errors alone may leave [N]

  /// At the end of the step that `potential` was begun for, which starts from `reference`.
  void measure(StepPotential& potential, const State& reference, const State& end);
  /// After measure(): what touched in that step.
  void add(const contact::Record& record);
};

class Reactions {
 public:
  /// `motor_torque`: per frame, the part of the control's torque that motors exert; empty: none do.
  void measure(const StepPotential& potential, const StepBalance& balance, const State& reference, const State& stage,
               const std::vector<Vec3d>& motor_torque);
  /// The momentum that held vertices really gain, from `start` to `end` in h, in place of the stage's share.
  void correct_inertia(const StepPotential& potential, const State& reference, const std::vector<Vec3d>& stage_velocity,
                       const State& start, const State& end, double h);
  /// As the solver tells them, for one with its own balance. Motors are none of its business.
  void take(const Solver& solver, const Model& model, const Control& control, const State& end);
  void forget() { known_ = false; }
  bool known() const { return known_; }

  /// On these vertices and frames together, about their centre; NaN while nothing is known.
  /// share(v, f): what the constraint has of the force f that all of them exert on vertex v.
  using Share = std::function<Vec3d(Index, const Vec3d&)>;
  Wrench of(const std::vector<Index>& vertices, const std::vector<Index>& frames, const State& state, const Share& share) const;
  /// By the springs of one owner, on the vertices that they begin at.
  Wrench of_springs(const void* owner, const std::vector<Index>& vertices, const State& state) const;

 private:
  bool known_ = false;
  std::vector<Vec3d> force_, couple_;
  struct SpringForce {
    const void* owner;
    Index vertex;
    Vec3d force;
  };
  std::vector<SpringForce> springs_;
};

}  // namespace osier
