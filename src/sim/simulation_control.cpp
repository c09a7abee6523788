// What acts and holds in a step of the simulation, what lets go, and what breaks.
#include <algorithm>
#include <cmath>

#include "core/fields.hpp"
#include "model/held_axes.hpp"
#include "sim/simulation_impl.hpp"

namespace osier {

void Simulation::Impl::fit(Control& c) const {
  const auto nv = static_cast<std::size_t>(model().vertex_count()), nf = static_cast<std::size_t>(model().frame_count());
  c.vertex_force.resize(nv), c.vertex_damping.resize(nv), c.vertex_fixed.resize(nv);
  c.vertex_target.resize(nv);
  c.frame_control.resize(nf), c.frame_target.resize(nf), c.frame_hinge_axis.resize(nf);
  if (c.has_torque || c.frame_torque.size() != nf) {
    c.frame_torque.assign(nf, {});
    c.frame_torque_material.assign(nf, {});
  }
  if (c.has_rotary_damping || c.frame_damping.size() != nf) c.frame_damping.assign(nf, 0);
  c.has_torque = c.has_rotary_damping = false;
  c.held_axes.clear();
  c.springs.clear();
}

/// What constraints hold or drive at time t.
void Simulation::Impl::hold(double t, Control& c) const {
  for (const bool yields : {false, true})
    for (std::size_t i = 0; i < let_go.size(); ++i)
      if (const Attachment& a = constraint(i); !let_go[i] && a.yields() == yields) a.apply(t, state, executor, c);
  settle_held_axes(c);
}

/// Loads and targets at time t.
void Simulation::Impl::prepare_control(double t, double ramp) {
  const auto nv = static_cast<std::size_t>(model().vertex_count()), nf = static_cast<std::size_t>(model().frame_count());
  fit(control);
  const LoadContext context{model(), state, t, ramp, setup->spec.execution.simd};
  if (nv > 0)
    executor.for_each_range(nv, [&](std::size_t begin, std::size_t end) {
      const auto clear = [&](auto& list, std::size_t from, std::size_t to, const auto& value) {
        std::fill(list.begin() + static_cast<std::ptrdiff_t>(from), list.begin() + static_cast<std::ptrdiff_t>(to), value);
      };
      clear(control.frame_control, nf * begin / nv, nf * end / nv, FrameControl::free);
      for (std::size_t next = begin; begin < end; begin = next) {  // all loads on some vertices while those are in the cache
        next = std::min(begin + kVerticesInCache, end);
        clear(control.vertex_force, begin, next, Vec3d{}), clear(control.vertex_damping, begin, next, 0.0);
        clear(control.vertex_fixed, begin, next, std::uint8_t{0});
        for (std::size_t i = 0; i < acts.size(); ++i)
          if (acts[i]) force(i).apply_field(context, static_cast<Index>(begin), static_cast<Index>(next), control);
      }
    });
  for (std::size_t i = 0; i < acts.size(); ++i)
    if (acts[i]) force(i).apply(context, control);
  if (wants_reactions) motor_torque = control.frame_torque;
  hold(t, control);
  timed_joints.pass_on(control);
  if (wants_reactions)
    for (std::size_t f = 0; f < motor_torque.size(); ++f) motor_torque[f] = control.frame_torque[f] - motor_torque[f];
}

/// To where the step at hand began.
void Simulation::Impl::roll_back() {
  state = last_good;
  if (wants_control_start) std::swap(control, control_start);
}

/// The control at the end of the last step becomes that at the start of the next one, which ends at time t.
void Simulation::Impl::prepare_step(double t, double ramp) {
  if (wants_control_start) std::swap(control, control_start);
  prepare_control(t, ramp);
}

void Simulation::Impl::keep_state() {
  if (last_good.memory.size() != state.memory.size()) last_good.memory = state.memory;
  const auto fit = [](const auto& from, auto& to) { to.resize(from.size()); };
  each_array(fit);
  last_good.time = state.time, last_good.step_index = state.step_index;
  share_out(state.vertex_position.size(), [&](const auto& part) {
    each_array([&](const auto& from, auto& to) {
      const auto [begin, end] = part(from.size());
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
    });
  });
}

/// Constraints whose time has come by the start of the step at hand.
bool Simulation::Impl::release(double t) {
  bool topology = false, any = false;
  for (std::size_t i = 0; i < let_go.size(); ++i) {
    if (let_go[i] || !constraint(i).release || t < *constraint(i).release * (1 - 1e-12)) continue;
    let_go[i] = 1;
    any = true;
    if (integrator) integrator->restart(model(), state);
    topology = constraint(i).clone()->let_go(mutable_model()) || topology;  // a copy, or it would count as changed by hand
  }
  for (const std::size_t i : timed_joints.due(state)) {
    timed_joints.toggle(i, control, mutable_model(), state);
    if (integrator) integrator->restart(model(), state);
    topology = any = true;
  }
  if (!topology) return any;
  update_topology(mutable_model());
  solver->rebind(model(), state);
  return any;
}

/// How far the constraint that turns most turns what it holds [rad].
double Simulation::Impl::turn_between(double from, double to) const {
  double most = 0;
  for (std::size_t i = 0; i < let_go.size(); ++i)
    if (!let_go[i]) most = std::max(most, constraint(i).turn_between(from, to));
  return most;
}

/// After every step, so that the frame rate has no say in what breaks.
bool Simulation::Impl::break_segments() {
  if (!breakable && !joints_break) return false;
  bool broken = false;
  for (Index j = 0; j < model().joint_count() && joints_break; ++j) {
    if (!model().joint_alive[j]) continue;
    const BendAndTwist now = joint_bend_and_twist(model(), state, j);
    if (!(now.bend >= model().joint_bend_limit[j]) && !(now.twist >= model().joint_twist_limit[j])) continue;
    mutable_model().joint_alive[j] = 0;
    broken = true;
  }
  for (Index s = 0; s < model().segment_count() && breakable; ++s) {
    if (!model().segment_alive[s] || !(segment_strain(model(), state, s) >= model().segment_strain_limit[s])) continue;
    mutable_model().segment_alive[s] = 0;
    broken = true;
  }
  if (!broken) return false;
  update_topology(mutable_model());
  solver->rebind(model(), state);
  if (integrator) integrator->restart(model(), state);
  return true;
}

/// A vertex whose segments have all broken is no part of any rod, but it still follows what leads it.
void Simulation::Impl::lead_loose(const Control& c, double h) {
  if (!breakable) return;
  for (Index v = 0; v < model().vertex_count(); ++v) {
    if (model().vertex_alive[v] || !c.vertex_fixed[v]) continue;
    state.vertex_position[v] = c.vertex_target[v];
    if (h > 0) state.vertex_velocity[v] = (1 / h) * (c.vertex_target[v] - last_good.vertex_position[v]);
  }
  for (const HeldAxes& held : c.held_axes) {
    const Index v = held.vertex;
    if (model().vertex_alive[v]) continue;
    state.vertex_position[v] = held_place(held, last_good.vertex_position[v]);
    if (h > 0) state.vertex_velocity[v] = (1 / h) * (state.vertex_position[v] - last_good.vertex_position[v]);
  }
}

}  // namespace osier
