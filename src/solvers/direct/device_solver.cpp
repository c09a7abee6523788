#include "solvers/direct/device_solver.hpp"

#include <algorithm>
#include <cmath>

#include "forces/wind_kernels.hpp"
#include "solvers/direct/device_step.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "solvers/direct/hanging_strands.hpp"

namespace osier::direct {

namespace {

/// A script's control of one step; `start`: where that begins, for the wind.
Control control_of(const Model& m, const StepScript& script, int step, const State& start) {
  Control c;
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  const FieldLoads& loads = script.loads[static_cast<std::size_t>(step)];
  c.vertex_fixed.assign(nv, 0), c.vertex_target.resize(nv);
  c.frame_control.assign(nf, FrameControl::free), c.frame_target.resize(nf), c.frame_hinge_axis.resize(nf);
  c.frame_torque.resize(nf), c.frame_torque_material.resize(nf), c.frame_damping.resize(nf);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    double length = 0;
    for (const Index e : m.vertex_segments.of(v)) length += 0.5 * m.segment_rest_length[e / 2];
    c.vertex_force.push_back(loads.force(m.vertex_mass[v]));
    c.vertex_damping.push_back(loads.damping(m.vertex_mass[v], length));
  }
  const WindKernel wind = wind_kernel(Simd::off);
  for (Index w = 0; w < script.winds_per_step(); ++w)
    wind({.moment = script.winds[static_cast<std::size_t>(step * script.winds_per_step() + w)],
          .radius = m.vertex_radius.data(),
          .position = start.vertex_position.data(),
          .velocity = start.vertex_velocity.data(),
          .mass = m.vertex_mass.data(),
          .rest_length = m.segment_rest_length.data(),
          .segment_start = m.vertex_segments.start.data(),
          .segment = m.vertex_segments.entry.data(),
          .segment_vertices = reinterpret_cast<const Index*>(m.segment_vertices.data()),
          .force = c.vertex_force.data(),
          .damping = c.vertex_damping.data()},
         0, m.vertex_count());
  const Mover* movers = script.movers.data() + static_cast<std::ptrdiff_t>(step) * script.holds->movers;
  for (const HeldVertex& h : script.holds->vertices)
    c.vertex_fixed[h.vertex] = 1, c.vertex_target[h.vertex] = movers[h.mover].place(h.place);
  for (const HeldFrame& h : script.holds->frames)
    c.frame_control[h.frame] = FrameControl::fixed, c.frame_target[h.frame] = movers[h.mover].frame(h.rotation);
  return c;
}

class OnDevice final : public Solver, public ScriptRunner {
 public:
  OnDevice(const Model& model, const systems::Options& options, Device device) : options_(options), device_(device) {
    bind(model);
  }

  void rebind(const Model& m, State&) override { bind(m); }

  StepReport step(const StepInput& input, State& state) override {
    suit(input.end);
    step_->put(state);
    const DeviceStepReport taken = step_->step(input.end, input.h);
    before_ = state;
    step_->get(state);
    StepReport report = report_of(taken);
    if (!taken.rose.empty()) rescue(taken, input, state, report);
    return report;
  }

  void carry(const Model&, Archive& archive) override {
    bool in_pieces = in_pieces_;
    archive(in_pieces);
    if (in_pieces != in_pieces_) make_step(in_pieces);
    step_->carry(archive);
  }

  ScriptRunner* runner() override { return this; }
  void put(const State& state, const Contacts&) override { step_->put(state); }
  void get(State& state) const override { step_->get(state); }
  StepReport run(const StepScript& script) override {
    if (script.holds != checked_) {
      fit(before_);
      step_->get(before_);
      if (suit(control_of(*model_, script, 0, before_))) step_->put(before_);
      checked_ = script.holds;
    }
    StepReport all;
    step_->begin(script);
    for (int n = 0; n < script.steps(); ++n) {
      const DeviceStepReport taken = step_->step(n);
      StepReport report = report_of(taken);
      if (!taken.rose.empty()) {
        fit(before_);
        step_->get(before_);
        // Strands that rose are as they were, but velocities have been swapped.
        for (const auto& [first, end] : taken.rose)
          for (Index v = model_->segment_vertices[first][0]; v <= model_->segment_vertices[end - 1][1]; ++v)
            std::swap(before_.vertex_velocity[v], before_.vertex_velocity_previous[v]);
        State state = before_;
        const Control control = control_of(*model_, script, n, before_);
        rescue(taken, constant_input(*model_, control, script.h), state, report);
        step_->put(state);
      }
      all.iterations += report.iterations;
      all.not_converged = all.not_converged || report.not_converged;
      all.non_finite = all.non_finite || report.non_finite;
      if (all.non_finite) break;
    }
    return all;
  }

 private:
  void bind(const Model& m) {
    model_ = &m;
    checked_ = nullptr;
    make_step(!are_hanging(m));
  }
  void make_step(bool in_pieces) {
    const Model& m = *model_;
    in_pieces_ = in_pieces;
    const DeviceStepOptions options{.iterations = options_.iterations,
                                    .max_iterations = options_.max_iterations,
                                    .tolerance = options_.tolerance,
                                    .in_float = options_.precision == Precision::single_precision,
                                    .in_pieces = in_pieces};
#if defined(OSIER_HAS_CUDA)
    if (device_ == Device::cuda) {
      step_ = direct_of_cuda(m, options);
      return;
    }
#endif
    step_ = direct_of_twin(m, options);
  }
  void fit(State& state) const {
    const auto nv = static_cast<std::size_t>(model_->vertex_count()), nf = static_cast<std::size_t>(model_->frame_count());
    state.vertex_position.resize(nv), state.vertex_velocity.resize(nv), state.vertex_velocity_previous.resize(nv);
    state.frame_rotation.resize(nf), state.frame_velocity.resize(nf);
  }
  /// Strands that are held elsewhere than at their beginnings are cut into pieces from then on. Returns whether that begins now.
  bool suit(const Control& c) {
    if (in_pieces_ || held_otherwise(*model_, c).empty()) return false;
    make_step(true);
    return true;
  }
  static StepReport report_of(const DeviceStepReport& taken) {
    return {.not_converged = taken.unsettled, .iterations = taken.iterations};
  }

  /// Does the step of strands whose energy rose again, on the host with a line search. `state` has the others' new places, and
  /// before_ where these begin.
  void rescue(const DeviceStepReport& taken, const StepInput& input, State& state, StepReport& report) {
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(model_->segment_count()), 0);
    for (const auto& [first, end] : taken.rose) {
      std::fill(wanted.begin() + first, wanted.begin() + end, std::uint8_t{1});
      for (Index v = model_->segment_vertices[first][0]; v <= model_->segment_vertices[end - 1][1]; ++v) {
        state.vertex_velocity[v] = before_.vertex_velocity[v];
        state.vertex_velocity_previous[v] = before_.vertex_velocity_previous[v];
      }
    }
    if (!rescue_) rescue_ = std::make_unique<DirectSolver>(Subset{}, options_);
    rescue_->set_subset(subset_of(*model_, std::move(wanted)));
    StepReport again = rescue_->solve(input, state);
    rescue_->store(state, again);  // new velocities stand in the place of those before
    hold_anchors(*model_, input.end, state);
    for (const auto& [first, end] : taken.rose)
      for (Index v = model_->segment_vertices[first][0]; v <= model_->segment_vertices[end - 1][1]; ++v)
        std::swap(state.vertex_velocity[v], state.vertex_velocity_previous[v]);
    report.iterations = std::max(report.iterations, again.iterations);
    report.not_converged = report.not_converged || again.not_converged;
    report.non_finite = again.non_finite;
    report.worst_vertex = again.worst_vertex, report.worst_segment = again.worst_segment;
  }

  systems::Options options_;
  Device device_;
  bool in_pieces_ = false;
  const Model* model_ = nullptr;
  std::unique_ptr<DeviceStep> step_;
  std::unique_ptr<DirectSolver> rescue_;
  std::shared_ptr<const ScriptHolds> checked_;
  State before_;
};

}  // namespace

std::unique_ptr<Solver> make_on_device(const Model& model, const systems::Options& options, Device device) {
  return std::make_unique<OnDevice>(model, options, device);
}

}  // namespace osier::direct
