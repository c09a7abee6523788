// A solver as somebody else might add it: one folder, one registry line. Vertices fly by the loads at the start of the step, and
// nothing is elastic. It counts its steps in solver memory.
#pragma once

#include "math/vec3.hpp"
#include "solvers/solver.hpp"
#include "solvers/solver_memory.hpp"

namespace osier::free_flight {

class FreeFlight final : public Solver {
 public:
  explicit FreeFlight(double brake) : brake_(brake) {}

  StepReport step(const StepInput& input, State& state) override {
    const Model& m = input.model;
    for (Index v = 0; v < m.vertex_count(); ++v) {
      if (input.end.vertex_fixed[v]) {
        state.vertex_position[v] = input.end.vertex_target[v];
        continue;
      }
      state.vertex_velocity[v] += (input.h / m.vertex_mass[v]) * input.start.vertex_force[v];
      state.vertex_velocity[v] = (1 - brake_) * state.vertex_velocity[v];
      state.vertex_position[v] += input.h * state.vertex_velocity[v];
    }
    steps(m, state) += 1;
    StepReport report;
    report.iterations = 1;
    return report;
  }
  void rebind(const Model&, State&) override {}
  void declare_memory(const Model& m, State& state) const override { steps(m, state); }

 private:
  static double& steps(const Model& m, State& state) {
    return solver_memory(state, m, {.name = "free_flight/steps", .kind = ElementKind::whole})[0];
  }
  double brake_;
};

class Settings final : public SolverSettings {
 public:
  double brake = 0;

  static const char* kind() { return "free_flight"; }
  static const char* help() { return "Vertices that fly freely: a solver for tests."; }
  template <class F>
  void fields(F& f) {
    f("brake", brake, "Share of the velocity that a step takes away", {.min = 0, .max = 1});
  }

  std::unique_ptr<Solver> make(const Model&) const override { return std::make_unique<FreeFlight>(brake); }
  const char* name() const override { return "free_flight"; }
  Traits traits() const override {
    return {.hinges = false,
            .rotational_inertia = false,
            .torques = false,
            .rotary_damping = false,
            .integrators = false,
            .control_at_start = true};
  }
};

}  // namespace osier::free_flight
