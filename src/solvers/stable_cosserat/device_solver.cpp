#include "solvers/stable_cosserat/device_solver.hpp"

#include <cmath>

#include "math/quat.hpp"
#include "solvers/solver_memory.hpp"
#include "solvers/stable_cosserat/device_sweep.hpp"

namespace osier::stable_cosserat {

namespace {

/// The first number that is not finite.
void locate_trouble(const Model& m, const State& state, StepReport& report) {
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (!std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v]))) {
      report.worst_vertex = v;
      return;
    }
  for (Index s = 0; s < m.segment_count(); ++s)
    if (!std::isfinite(norm2(state.frame_rotation[s]))) {
      report.worst_segment = s;
      return;
    }
}

class OnDevice final : public Solver, public ScriptRunner {
 public:
  OnDevice(const Settings& settings, const Model& model) : settings_(settings) { bind(model); }

  void rebind(const Model& m, State& state) override {
    bind(m);
    gamma_of(state, m);
  }
  void declare_memory(const Model& m, State& state) const override { gamma_of(state, m); }

  /// The state goes there and comes back: for steps that need the host in between.
  StepReport step(const StepInput& input, State& state) override {
    const std::span<double> gamma = gamma_of(state, input.model);
    sweep_->put(state, gamma);
    sweep_->put(input.end);
    sweep_->step(input.h);
    StepReport report{.iterations = settings_.iteration_count};
    report.non_finite = !sweep_->get(state, gamma);
    if (report.non_finite) locate_trouble(input.model, state, report);
    return report;
  }

  /// The gammas of Algorithm 1 are the host's.
  ScriptRunner* runner() override { return settings_.lambda == Lambda::exact ? nullptr : this; }
  void put(const State& state) override { sweep_->put(state, {}); }
  StepReport run(const StepScript& script) override {
    StepReport report{.iterations = settings_.iteration_count * script.steps()};
    report.non_finite = !sweep_->run(script);
    return report;
  }
  void get(State& state) const override { sweep_->get(state, {}); }

 private:
  void bind(const Model& m) {
    const DeviceSweepOptions options{.order = settings_.order,
                                     .lambda = settings_.lambda,
                                     .iterations = settings_.iteration_count,
                                     .in_float = settings_.execution.in_float()};
#if defined(OSIER_HAS_CUDA)
    if (settings_.execution.device == Device::cuda) {
      sweep_ = sweep_of_cuda(m, options);
      return;
    }
#endif
    sweep_ = sweep_of_twin(m, options);
  }
  /// lambda = |v||eta| + gamma |b| carried by the paper's Algorithm 1, per segment; empty for other ways to find lambda.
  std::span<double> gamma_of(State& state, const Model& m) const {
    if (settings_.lambda != Lambda::exact) return {};
    return solver_memory(state, m, {.name = "stable_cosserat/gamma", .kind = ElementKind::segment, .initial = 1});
  }

  Settings settings_;
  std::unique_ptr<DeviceSweep> sweep_;
};

}  // namespace

std::unique_ptr<Solver> make_on_device(const Settings& settings, const Model& model) {
  return std::make_unique<OnDevice>(settings, model);
}

}  // namespace osier::stable_cosserat
