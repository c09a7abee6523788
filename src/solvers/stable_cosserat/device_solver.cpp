#include "solvers/stable_cosserat/device_solver.hpp"

#include <cmath>

#include "contact/contact_step.hpp"
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
    contact_.forget();
    bind(m);
    gamma_of(state, m);
  }
  void declare_memory(const Model& m, State& state) const override { gamma_of(state, m); }

  /// The state goes there and comes back: for steps that need the host in between.
  StepReport step(const StepInput& input, State& state) override {
    const std::span<double> gamma = gamma_of(state, input.model);
    const bool touches = input.contacts.active();
    if (touches) begin_watching(input, state);
    sweep_->put(state, gamma);
    sweep_->put(input.contacts, state);
    sweep_->put(input.end);
    sweep_->step(input.h);
    StepReport report{.iterations = settings_.iteration_count};
    report.non_finite = !sweep_->get(state, gamma);
    report.held_back = sweep_->was_late();
    if (touches) end_watching(input);
    if (report.non_finite) locate_trouble(input.model, state, report);
    return report;
  }

  /// The gammas of Algorithm 1 are the host's.
  ScriptRunner* runner() override { return settings_.lambda == Lambda::exact ? nullptr : this; }
  bool lets_rods_touch() const override { return true; }
  void put(const State& state, const Contacts& contacts) override {
    sweep_->put(state, {});
    sweep_->put(contacts, state);
  }
  StepReport run(const StepScript& script) override {
    StepReport report{.iterations = settings_.iteration_count * script.steps()};
    report.non_finite = !sweep_->run(script);
    report.held_back = sweep_->was_late();
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

  /// A certificate follows every motion, and compares its accounts with the host's own contact at the places that the device has
  /// found.
  void begin_watching(const StepInput& input, const State& state) {
    contact::MotionObserver* observer = input.contacts.observer();
    sweep_->on_begin = nullptr, sweep_->on_motion = nullptr;
    if (observer == nullptr) return;
    before_ = state;
    sweep_->on_begin = [observer] { observer->begin_path(); };
    sweep_->on_motion = [observer, share = std::vector<double>(input.contacts.obstacles().size(), 1)](
                            const std::vector<Vec3d>& u) { observer->move(u, share); };
  }
  void end_watching(const StepInput& input) {
    if (input.record) sweep_->tell(*input.record);
    contact::MotionObserver* observer = input.contacts.observer();
    if (observer == nullptr) return;
    const std::vector<Vec3d> u = sweep_->displacements();
    contact_.begin(input.contacts, input.model, input.end, before_, input.h);
    contact_.reach(u);
    contact_.linearise(u);
    observer->end_path(contact_, u);
  }

  Settings settings_;
  std::unique_ptr<DeviceSweep> sweep_;
  State before_;
  contact::ContactStep contact_;
};

}  // namespace

std::unique_ptr<Solver> make_on_device(const Settings& settings, const Model& model) {
  return std::make_unique<OnDevice>(settings, model);
}

}  // namespace osier::stable_cosserat
