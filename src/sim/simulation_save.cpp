// A simulation as bytes, and its fingerprint.
#include <algorithm>

#include "core/fields.hpp"
#include "sim/simulation_impl.hpp"

namespace osier {

std::uint64_t Simulation::Impl::scene_digest() const {
  Digest digest;
  add_to(digest, setup->model);
  add_to(digest, setup->initial);
  for (const std::size_t count : {let_go.size(), acts.size(), setup->timed_joints.size()}) digest.add(&count, sizeof count);
  digest.add(std::string_view(setup->spec.solver->name()));
  digest.add(dynamic ? dynamic->time_step() : 0.0);
  return digest.value();
}

/// The control of the last step is where the next one starts, and what was held then may be let go. Reactions, the record of what
/// touched and the potential are those of the last step, too, but every step makes them again before anybody looks.
void Simulation::Impl::carry(Archive& a) {
  catch_up();
  runner_knows = runner_knows && !a.reads();
  bool is_changed = changed.has_value();
  a(is_changed);
  if (is_changed) {
    carry_model(a, mutable_model());
    if (a.reads()) update_topology(mutable_model());
  } else if (a.reads()) {
    changed.reset();
  }
  a(timed_joints, moduli);
  carry_state(a, state);
  for (Control* c : {&control, &control_start})
    a(c->vertex_force, c->vertex_damping, c->vertex_fixed, c->vertex_target, c->frame_control, c->frame_target,
      c->frame_hinge_axis, c->has_torque, c->frame_torque, c->frame_torque_material, c->has_rotary_damping, c->frame_damping,
      c->held_axes);
  a(let_go, acts, pull, report, start_modes, energy_watch);
  a(steps_by_others, steps_divided, steps_turned, steps_damped, help_waits, help_in_vain);
  if (loop) a(*loop);
  if (path) a(*path);
  if (a.reads()) {
    solver = setup->spec.solver->make(model());
    solver->declare_memory(model(), state);
    last_good = state;
    touched = {};
    contacts.set_step(state.time, state.time);
  }
  solver->carry(model(), a);
}

bool Simulation::Impl::was_changed() const {
  const auto given = [](const auto& own) { return own != nullptr; };
  const auto led = [](const auto& o) { return o->motion() && o->motion()->led; };
  const auto& shapes = contacts.obstacles();
  return own_json || std::any_of(own_constraints.begin(), own_constraints.end(), given) ||
         std::any_of(own_forces.begin(), own_forces.end(), given) || std::any_of(shapes.begin(), shapes.end(), led);
}

std::string Simulation::save() const {
  if (impl_->was_changed())
    throw RunError(
        "a simulation whose poses, motors or values were set at run time cannot be saved: what was set would be lost; copy() "
        "keeps it");
  if (impl_->certifier)
    throw RunError("a certified simulation cannot be saved: its accounts are those of a whole run; leave --certify out");
  std::uint64_t scene = impl_->scene_digest();
  return carried([&](Archive& a) {
    a(scene);
    impl_->carry(a);
  });
}

void Simulation::restore(const std::string& saved) {
  Archive archive(saved);
  std::uint64_t scene = 0;
  archive(scene);
  if (scene != impl_->scene_digest())
    throw InputError(
        {{"saved state", "is that of another scene: rods, initial pose, constraints, forces, solver or time step differ",
          "restore it into a simulation of the scene that it was saved from"}});
  impl_->carry(archive);
  if (!archive.at_end()) throw RunError("the saved state is damaged: it is too long");
}

std::uint64_t Simulation::state_hash() const {
  impl_->catch_up();
  Digest digest;
  add_to(digest, impl_->state);
  if (impl_->changed) add_to(digest, *impl_->changed);
  digest.add(impl_->let_go);
  return digest.value();
}

}  // namespace osier
