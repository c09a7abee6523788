#include "forces/loads.hpp"

#include <fmt/format.h>

namespace osier {

void Gravity::apply_field(const LoadContext& c, Index begin, Index end, Control& control) const {
  const Vec3d g = c.ramp * acceleration.at(c.time);
  for (Index v = begin; v < end; ++v) control.vertex_force[v] += c.model.vertex_mass[v] * g;
}

bool Gravity::tell(double time, StepLoads& loads) const {
  loads.field.acceleration += acceleration.at(time);
  return true;
}

double Gravity::potential(const LoadContext& c) const {
  const Vec3d g = c.ramp * acceleration.at(c.time);
  double energy = 0;
  for (Index v = 0; v < c.model.vertex_count(); ++v)
    if (c.model.vertex_alive[v]) energy -= c.model.vertex_mass[v] * dot(g, c.state.vertex_position[v]);
  return energy;
}

void Drag::apply_field(const LoadContext& c, Index begin, Index end, Control& control) const {
  const double per_mass = rate.at(c.time), along = per_length.at(c.time);
  for (Index v = begin; v < end; ++v) {
    control.vertex_damping[v] += per_mass * c.model.vertex_mass[v];
    if (along > 0)
      for (Index e : c.model.vertex_segments.of(v)) control.vertex_damping[v] += 0.5 * along * c.model.segment_rest_length[e / 2];
  }
}

bool Drag::tell(double time, StepLoads& loads) const {
  loads.field.damping_per_mass += rate.at(time);
  loads.field.damping_per_length += per_length.at(time);
  return true;
}

void DeadForce::apply(const LoadContext& c, Control& control) const {
  const Vec3d f = c.ramp * force.at(c.time);
  for (Index v : list_) control.vertex_force[v] += f;
}

double DeadForce::potential(const LoadContext& c) const {
  const Vec3d f = c.ramp * force.at(c.time);
  double energy = 0;
  for (Index v : list_)
    if (c.model.vertex_alive[v]) energy -= dot(f, c.state.vertex_position[v]);
  return energy;
}

void Torque::apply(const LoadContext& c, Control& control) const {
  const Vec3d m = c.ramp * torque.at(c.time);
  control.has_torque = true;
  auto& target = axes == TorqueAxes::world ? control.frame_torque : control.frame_torque_material;
  for (Index s : list_) target[s] += m;
}

std::string Gravity::amount(double time, double ramp) const {
  return fmt::format("{:.8g} m/s^2", ramp * norm(acceleration.at(time)));
}

std::string DeadForce::amount(double time, double ramp) const { return fmt::format("{:.8g} N", ramp * norm(force.at(time))); }

std::string Torque::amount(double time, double ramp) const { return fmt::format("{:.8g} N m", ramp * norm(torque.at(time))); }

}  // namespace osier
