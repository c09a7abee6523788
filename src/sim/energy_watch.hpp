// Whether steps of the midpoint rule make energy out of nothing.
//
// The rule keeps the energy of a linear system. Elasticity of large turns is none, and frames without inertia do not move by the
// rule at all: where a step is too long for the motion, energy can grow without bound. With g the gradient of the potential at
// the stage, the kinetic energy of a step goes down by g.dx + g.dw exactly, so that the step makes
//
//   gain = Phi(end) - Phi(start) - g.dx - g.dw
//
// where loads, which are linear, and constraints, which do work, drop out.
#pragma once

#include "core/archive.hpp"
#include "solvers/step_potential.hpp"

namespace osier {

class EnergyWatch {
 public:
  /// Judges a step from `start` to `end`; `stage` is where its equations hold. True when it may count, because the energy made so
  /// far stays a small share of that at hand. `control` is that of the stage.
  bool allows(const Model& model, const Control& control, const State& start, const State& stage, const State& end);
  void carry(Archive& archive) { archive(made_, energy_); }
  /// Counts a step of implicit Euler, which takes energy out: it may be made again.
  void count_damped(const Model& model, const Control& control, const State& start, const State& end);

 private:
  double gain(const Model& model, const Control& control, const State& start, const State& stage, const State& end);

  StepPotential potential_;
  std::vector<Vec3d> force_, couple_;
  double made_ = 0;    ///< by all steps so far [J]
  double energy_ = 0;  ///< at hand lately, kinetic and elastic [J]
};

}  // namespace osier
