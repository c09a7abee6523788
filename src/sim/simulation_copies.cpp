// Copies of a simulation, and one that goes on where another stands.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/simulation_impl.hpp"

namespace osier {

bool Simulation::continue_from(const Simulation& other) {
  Impl& s = *impl_;
  other.impl_->catch_up();
  s.is_ahead = s.runner_knows = false;
  const Impl& o = *other.impl_;
  const Model& n = o.model();
  if (!s.is_same_graph(o) || s.let_go.size() != o.let_go.size() || s.acts.size() != o.acts.size()) return false;
  const bool welded = !s.setup->timed_joints.empty() && s.timed_joints.continue_from(o.timed_joints, n, s.mutable_model());
  const Model& m = s.model();
  const bool same_topology = !welded && m.segment_alive == n.segment_alive && m.joint_alive == n.joint_alive;
  if (!same_topology) {
    Model& mine = s.mutable_model();
    mine.segment_alive = n.segment_alive;
    mine.joint_alive = n.joint_alive;
    update_topology(mine);
  }
  s.state = o.state;
  if (s.moduli.changes(s.state.time)) s.moduli.set(s.state.time, s.setup->model, s.mutable_model());
  s.solver->rebind(s.model(), s.state);
  // Time is counted in steps, which may have become longer or shorter.
  if (s.dynamic) {
    s.integrator->declare_memory(s.model(), s.state);
    s.state.step_index = std::lround(o.state.time / s.dynamic->time_step());
  }
  s.state.time = s.dynamic ? static_cast<double>(s.state.step_index) * s.dynamic->time_step() : o.state.time;
  s.let_go = o.let_go, s.acts = o.acts, s.pull = o.pull;
  s.take_over(o);
  if (s.loop && o.loop) s.loop->set_finished(o.loop->finished());
  s.last_good = s.state;
  s.go_home();
  s.contacts.set_step(s.state.time, s.state.time);
  s.touched = o.touched;
  if (s.dynamic) s.prepare_control(s.state.time, 1);
  if (s.wants_control_start) s.control_start = s.control;
  if (s.certifier) {  // from here on
    s.certifier.reset();
    certify();
  }
  return true;
}

/// What was changed at run time. Where the scene itself has changed, what it says now of a constraint counts.
void Simulation::Impl::take_over(const Impl& other) {
  const bool same_scene = setup == other.setup;
  if (same_scene) {
    own_json = other.own_json, own_forces = other.own_forces;
    steps_by_others = other.steps_by_others, steps_divided = other.steps_divided;
    steps_turned = other.steps_turned, steps_damped = other.steps_damped;
    help_waits = other.help_waits, help_in_vain = other.help_in_vain;
    energy_watch = other.energy_watch;
    start_modes = other.start_modes;
    report = other.report;
  }
  wants_reactions = wants_reactions || other.wants_reactions;
  reactions.forget();
  const bool any = std::any_of(other.own_constraints.begin(), other.own_constraints.end(), [](const auto& c) { return !!c; });
  const auto constraints_of = [](const Impl& s) { return Json::parse(s.setup->json).value("constraints", Json::array()); };
  Json mine, theirs;
  if (any && !same_scene) mine = constraints_of(*this), theirs = constraints_of(other);
  for (std::size_t i = 0; i < own_constraints.size(); ++i) {
    own_constraints[i].reset();
    if (other.own_constraints[i] && (same_scene || (i < mine.size() && i < theirs.size() && mine[i] == theirs[i])))
      own_constraints[i] = other.own_constraints[i]->clone();
  }
  drives = other.drives;
  std::erase_if(drives, [&](const Drive& d) { return !own_constraints[d.constraint]; });
  own_carriers.clear();
  for (const auto& [name, carrier] : other.own_carriers) own_carriers[name] = std::make_shared<Carrier>(*carrier);
  for (std::size_t i = 0; i < own_constraints.size(); ++i)
    if (const auto& with = constraint(i).motion.with; with && own_carriers.contains(*with))
      own_constraint(i).motion.carrier = own_carriers[*with];
  const auto &here = contacts.obstacles(), &there = other.contacts.obstacles();
  for (std::size_t i = 0; i < here.size() && i < there.size(); ++i) {
    Motion* const motion = here[i]->motion();
    const Motion* const led = there[i]->motion();
    if (!motion || !led || here[i]->name != there[i]->name) continue;
    if (same_scene) *motion = *led;
    else motion->led = led->led;
    obstacles[i].moves = obstacles[i].moves || motion->led;
  }
}

void Simulation::assign(Simulation&& other) {
  Impl &s = *impl_, &next = *other.impl_;
  next.catch_up();
  if (!s.is_same_graph(next)) refuse_change("", "that simulation has another graph of rods", "use a copy of this one");
  next.move_into(s.state);
  next.velocity_home = s.velocity_home ? next.state.vertex_velocity.data() : nullptr;
  next.shows_contacts = s.shows_contacts, next.shows_sections = s.shows_sections;
  impl_ = std::move(other.impl_);
}

Simulation Simulation::copy() const {
  Impl& s = *impl_;
  Simulation other(s.setup, false);
  Impl& o = *other.impl_;
  Archive read(carried([&](Archive& a) { s.carry(a); }));
  o.carry(read);
  o.wants_reactions = s.wants_reactions, o.shows_contacts = s.shows_contacts, o.shows_sections = s.shows_sections;
  o.control.springs = s.control.springs, o.touched = s.touched;  // of the last step, for whoever looks before the next one
  if (s.certifier) other.certify();                              // from here on
  return other;
}

}  // namespace osier
