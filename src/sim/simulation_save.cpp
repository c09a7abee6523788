// A simulation as bytes, and its fingerprint.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/fields.hpp"
#include "sim/simulation_impl.hpp"

namespace osier {

std::uint64_t Simulation::Impl::scene_digest() const {
  Digest digest;
  add_to(digest, setup->model);
  add_to(digest, setup->initial);
  for (const std::size_t count : {let_go.size(), acts.size(), setup->timed_joints.size()}) digest.add(&count, sizeof count);
  for (const auto& c : setup->spec.constraints) digest.add(std::string_view(c->type()));
  for (const std::size_t count : {contacts.obstacles().size(), static_cast<std::size_t>(contacts.active())})
    digest.add(&count, sizeof count);
  digest.add(std::string_view(setup->spec.solver->name()));
  digest.add(dynamic ? dynamic->time_step() : 0.0);
  return digest.value();
}

static void carry_lead(Archive& a, std::optional<LedMotion>& led) {
  bool is_led = led.has_value();
  a(is_led);
  if (a.reads()) led.reset();
  if (!is_led) return;
  if (a.reads()) led.emplace();
  a(led->rest, led->place.keys, led->place.interpolation, led->turn.keys, led->turn.interpolation);
}

/// Poses, motors, releases and values of forces that were set at run time. When they are read, what was set before is undone.
void Simulation::Impl::carry_changes(Archive& a) {
  std::optional<std::string> text;
  if (own_json) text = own_json->dump(-1, ' ', false, Json::error_handler_t::replace);
  a(text);
  if (a.reads()) own_json = text ? std::optional(Json::parse(*text)) : std::nullopt;
  for (std::size_t i = 0; i < own_forces.size(); ++i) {
    bool is_own = own_forces[i] != nullptr;
    a(is_own);
    if (a.reads()) own_forces[i] = is_own ? read_force(i, json()["forces"][i]) : nullptr;
  }
  for (std::size_t i = 0; i < own_constraints.size(); ++i) {
    bool is_own = own_constraints[i] != nullptr;
    a(is_own);
    if (a.reads()) own_constraints[i].reset();
    if (!is_own) continue;
    carry_lead(a, own_constraint(i).motion.led);
    a(own_constraint(i).release);
  }
  a(drives);
  const auto& shapes = contacts.obstacles();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Motion* const motion = shapes[i]->motion();
    if (!motion) continue;
    carry_lead(a, motion->led);
    obstacles[i].moves = obstacles[i].moves || motion->led;
  }
  if (!a.reads()) return;
  for (const Drive& drive : drives) static_cast<Motor&>(own_constraint(drive.constraint)).drive(drive.time, drive.value);
  own_carriers.clear();
  for (const auto& shape : shapes)
    if (shape->motion() && shape->motion()->led) carry_along(shape->name, *shape->motion());
}

/// The control of the last step is where the next one starts, and what was held then may be let go. Reactions, the record of what
/// touched and the potential are those of the last step, too, but every step makes them again before anybody looks.
void Simulation::Impl::carry(Archive& a) {
  catch_up();
  runner_knows = runner_knows && !a.reads();
  carry_changes(a);
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
    reactions.forget();
    contacts.set_step(state.time, state.time);
  }
  solver->carry(model(), a);
}

std::string Simulation::save() const {
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
