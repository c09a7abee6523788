// What is changed while the simulation runs: poses, motors, forces, values of the scene.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/json_reader.hpp"
#include "scene/parse_json.hpp"
#include "sim/simulation_impl.hpp"

namespace osier {

void Simulation::pull(Index vertex, const Vec3d& target, double stiffness) {
  const auto refuse = [](std::string what, std::string remedy) {
    throw InputError({{"pull", std::move(what), std::move(remedy)}});
  };
  if (is_static()) refuse("a static analysis cannot be pulled at", "use dynamics");
  const Model& m = model();
  if (vertex < 0 || vertex >= m.vertex_count())
    refuse(fmt::format("there is no vertex {}", vertex), fmt::format("use 0 to {}", m.vertex_count() - 1));
  if (!std::isfinite(norm2(target)) || !std::isfinite(stiffness) || stiffness < 0)
    refuse("the target or the stiffness is not a finite number", "use finite ones");
  if (impl_->control.vertex_fixed[vertex]) refuse(fmt::format("vertex {} is held by the scene", vertex), "pull another one");
  Pull& p = impl_->pull;
  if (p.vertex != vertex || stiffness > 0) p.stiffness = stiffness > 0 ? stiffness : pull_stiffness(m, vertex);
  p.damping = 2 * std::sqrt(p.stiffness * m.vertex_mass[vertex]);  // critical for the vertex alone
  p.vertex = vertex, p.target = target;
}

void Simulation::stop_pulling() { impl_->pull = {}; }

void Simulation::enable_force(std::size_t index, bool on) { impl_->acts.at(index) = on ? 1 : 0; }

bool Simulation::Impl::was_changed() const {
  const auto given = [](const auto& own) { return own != nullptr; };
  const auto led = [](const auto& o) { return o->motion() && o->motion()->led; };
  const auto& shapes = contacts.obstacles();
  return own_json || std::any_of(own_constraints.begin(), own_constraints.end(), given) ||
         std::any_of(own_forces.begin(), own_forces.end(), given) || std::any_of(shapes.begin(), shapes.end(), led);
}

Attachment& Simulation::Impl::own_constraint(std::size_t i) {
  if (!own_constraints.at(i)) own_constraints[i] = setup->spec.constraints[i]->clone();
  return *own_constraints[i];
}

[[noreturn]] void refuse_change(std::string where, std::string what, std::string remedy) {
  throw InputError({{std::move(where), std::move(what), std::move(remedy)}});
}

/// Steps are counted, so that the end of the next one is known to the last bit.
double Simulation::Impl::end_of_move(double seconds) const {
  const double next = static_cast<double>(state.step_index + 1) * dynamic->time_step();
  return std::max(state.time + seconds, next);
}

void Simulation::Impl::check_lead(const std::string& where, const Pose& pose, double seconds) const {
  if (statics) refuse_change(where, "a static analysis cannot be led at run time", "use dynamics");
  if (!is_finite(pose.center) || !is_finite(pose.turn) || norm(pose.turn) < 1e-9 || !(seconds >= 0) || !std::isfinite(seconds))
    refuse_change(where, "the pose is not finite, its quaternion is zero, or the time is negative",
                  "give a place, a quaternion x, y, z, w and a time of at least 0");
}

/// Of the vertices that a constraint holds, or, where it holds none, of the segments.
Vec3d Simulation::Impl::middle_of(const Attachment& constraint) const {
  std::vector<Index> vertices, frames;
  constraint.list_held(vertices, frames);
  if (vertices.empty())
    for (const Index f : frames)
      for (const Index v : setup->model.segment_vertices[f]) vertices.push_back(v);
  Vec3d sum;
  for (const Index v : vertices) sum += setup->initial.vertex_position[v];
  return vertices.empty() ? sum : (1.0 / static_cast<double>(vertices.size())) * sum;
}

Pose Simulation::constraint_pose(std::size_t index) const {
  const Attachment& c = impl_->constraint(index);
  return c.motion.pose(impl_->middle_of(c), impl_->pseudo_time());
}

void Simulation::lead_constraint(std::size_t index, const Pose& pose, double seconds) {
  Impl& s = *impl_;
  const Attachment& now = s.constraint(index);
  s.check_lead(now.where, pose, seconds);
  std::vector<Index> vertices, frames;
  now.list_held(vertices, frames);
  const std::string name = "`" + now.name + "` ";
  if (!now.moves())
    refuse_change(now.where, fmt::format("{}is a {}, which cannot be led", name, now.type()), "lead a pin or a clamp");
  if (s.let_go[index]) refuse_change(now.where, name + "has let go", "lead another one");
  const Motion& motion = now.motion;
  if (!motion.led && ((motion.orientation.given() && vertices.size() > 1) || (motion.file && !motion.file->is_of_body())))
    refuse_change(now.where, name + "holds more than one vertex, and its `motion` does not move them as one body",
                  "leave `orientation` or the recorded points out of its motion");
  const Pose from = constraint_pose(index);
  if (vertices.empty() && norm(pose.center - from.center) > 1e-9 * (1 + norm(from.center)))
    refuse_change(now.where, name + "holds frames, which have no place", "turn it only, or lead a clamp");
  s.own_constraint(index).motion.lead(s.middle_of(now), s.state.time, from, s.end_of_move(seconds),
                                      {pose.center, normalized(pose.turn)});
}

Pose Simulation::obstacle_pose(std::size_t index) const {
  const Impl& s = *impl_;
  const Vec3d rest = s.setup->spec.obstacles.at(index)->center();
  const Motion* motion = index < s.contacts.obstacles().size() ? s.contacts.obstacles()[index]->motion() : nullptr;
  return motion ? motion->pose(rest, s.state.time) : Pose{rest, {}};
}

void Simulation::lead_obstacle(std::size_t index, const Pose& pose, double seconds) {
  Impl& s = *impl_;
  const ObstacleSpec& spec = *s.setup->spec.obstacles.at(index);
  s.check_lead(spec.where, pose, seconds);
  Motion* const motion = index < s.contacts.obstacles().size() ? s.contacts.obstacles()[index]->motion() : nullptr;
  if (!motion) refuse_change(spec.where, "`" + spec.name + "` has no effect: the scene has no contact", "add \"contact\": {}");
  const Pose from = obstacle_pose(index), to{pose.center, normalized(pose.turn)};
  if (!s.contacts.obstacles()[index]->may_tilt() && norm(rotation_log(normalized(to.turn * conj(from.turn)))) > 1e-9)
    refuse_change(spec.where, "`" + spec.name + "` has no end: far away a turn would move it without bound", "shift it only");
  motion->lead(spec.center(), s.state.time, from, s.end_of_move(seconds), to);
  s.obstacles[index].moves = true;
  s.carry_along(spec.name, *motion);
}

/// Constraints that go with an obstacle go as it is led.
void Simulation::Impl::carry_along(const std::string& obstacle, const Motion& motion) {
  for (std::size_t i = 0; i < own_constraints.size(); ++i) {
    if (constraint(i).motion.with != obstacle) continue;
    auto& carrier = own_carriers[obstacle];
    if (!carrier) carrier = std::make_shared<Carrier>(*constraint(i).motion.carrier);
    carrier->motion = motion;
    own_constraint(i).motion.carrier = carrier;
  }
}

void Simulation::drive_motor(std::size_t index, double value) {
  Impl& s = *impl_;
  const Attachment& now = s.constraint(index);
  if (s.statics) refuse_change(now.where, "a static analysis cannot be led at run time", "use dynamics");
  if (!std::isfinite(value)) refuse_change(now.where, "the speed or torque is not a finite number", "use a finite one");
  if (!dynamic_cast<const Motor*>(&now))
    refuse_change(now.where, fmt::format("`{}` is a {}", now.name, now.type()), "drive a motor");
  if (s.let_go[index]) refuse_change(now.where, "`" + now.name + "` has let go", "drive another one");
  auto& motor = static_cast<Motor&>(s.own_constraint(index));
  // The angle of a motor with a speed is that of all speeds before; of torques only the last one counts.
  if (!motor.speed.given()) std::erase_if(s.drives, [&](const Impl::Drive& d) { return d.constraint == index; });
  s.drives.push_back({index, s.state.time, value});
  motor.drive(s.state.time, value);
}

void Simulation::release_constraint(std::size_t index) {
  Impl& s = *impl_;
  if (s.path)
    refuse_change(s.constraint(index).where, "constraints cannot let go along a path by arc length", "use load control");
  s.own_constraint(index).release = s.pseudo_time();
}

/// Reads one force again, from what it was with one value changed.
void Simulation::Impl::set_force(std::size_t index, const std::string& pointer, const std::string& value) {
  Json force_json = json()["forces"][index];
  Problems problems;
  apply_override(force_json, pointer + "=" + value, problems);
  problems.throw_if_any();
  own_forces[index] = read_force(index, force_json);
  json()["forces"][index] = std::move(force_json);
}

std::shared_ptr<const Force> Simulation::Impl::read_force(std::size_t index, const Json& from) {
  Problems problems;
  std::unique_ptr<Force> read;
  JsonReader(json(), "", problems).read(from, fmt::format("/forces/{}", index), read, {});
  problems.throw_if_any();
  read->bind(setup->names(), problems);
  read->check(setup->model, problems);
  problems.throw_if_any();
  return read;
}

void Simulation::set(const std::string& pointer, const std::string& value) {
  Impl& s = *impl_;
  if (std::istringstream parts(pointer); pointer.starts_with("/forces/")) {
    std::string list, number, field;
    std::getline(parts, list, '/'), std::getline(parts, list, '/'), std::getline(parts, number, '/');
    std::getline(parts, field);
    const bool counts = !number.empty() && number.size() < 9 && number.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t index = counts ? std::stoul(number) : s.acts.size();
    if (index < s.acts.size() && !field.empty() && field != "type") return s.set_force(index, "/" + field, value);
  }
  Json changed = s.json();
  Problems problems;
  apply_override(changed, pointer + "=" + value, problems);
  problems.throw_if_any();
  const Scene now(s.setup), scene = Scene::parse(changed.dump(), s.setup->name, s.setup->folder);
  if (!begin_alike(scene, now))
    refuse_change(pointer, "makes rods of another shape or size", "make a new Simulation of the changed scene");
  Simulation next(scene.setup_, false);
  if (!next.continue_from(*this))
    refuse_change(pointer, "makes another graph of rods, constraints or forces", "make a new Simulation of the changed scene");
  assign(std::move(next));
}

std::string Simulation::scene_json() const {
  return impl_->own_json ? impl_->own_json->dump(2, ' ', false, Json::error_handler_t::replace) : impl_->setup->json;
}

}  // namespace osier
