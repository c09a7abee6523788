#include "sim/reaction.hpp"

#include <algorithm>
#include <limits>

#include "model/held_axes.hpp"
#include "solvers/direction_terms.hpp"

namespace osier {

void StepBalance::measure(StepPotential& potential, const State& reference, const State& end) {
  Unknowns z{std::vector<Vec3d>(end.vertex_position.size()), end.frame_rotation};
  for (std::size_t v = 0; v < z.u.size(); ++v) z.u[v] = end.vertex_position[v] - reference.vertex_position[v];
  potential.set_torque_point(z.q);
  potential.gradient(z, force, couple);
  scale = potential.force_scale(z);
  rounding = potential.rounding_floor(z, scale);
}

void StepBalance::add(const contact::Record& record) {
  for (const contact::Touch& t : record.touches) {
    scale = std::max(scale, t.normal);
    for (std::size_t j = 0; j < 4; ++j)
      if (t.vertex[j] >= 0) force[t.vertex[j]] -= t.weight[j] * t.push;
  }
}

void Reactions::measure(const StepPotential& potential, const StepBalance& balance, const State& reference, const State& stage,
                        const std::vector<Vec3d>& motor_torque) {
  const Model& m = potential.model();
  const Control& c = potential.control();
  force_ = balance.force;
  couple_ = balance.couple;
  known_ = true;
  Unknowns z{std::vector<Vec3d>(stage.vertex_position.size()), {}};
  springs_.clear();
  if (!potential.springs().empty())
    for (std::size_t v = 0; v < z.u.size(); ++v) z.u[v] = stage.vertex_position[v] - reference.vertex_position[v];
  for (const Index i : potential.springs()) {
    const SpringAtHand s = potential.spring_at(z, i);
    springs_.push_back({c.springs[static_cast<std::size_t>(i)].owner, s.a, vertex_spring::gradient(s.terms, s.d)});
  }
  if (c.has_torque && !motor_torque.empty())
    for (std::size_t f = 0; f < couple_.size(); ++f) couple_[f] += motor_torque[f];
  if (!c.has_rotary_damping) return;
  // A motor's torque-speed line stands among the terms of inertia.
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!(c.frame_damping[s] > 0) || !m.segment_alive[s]) continue;
    const Quatd& q = stage.frame_rotation[s];
    Vec3d motor;
    for (const DirectionTerm& t : potential.directions(s)) motor += t.k * cross(rotate(q, t.a), t.y);
    if (m.segment_inertia[s].any())
      motor -= inertial_couple(m.segment_inertia[s], reference.frame_rotation[s], reference.frame_velocity[s], potential.h(), q);
    couple_[s] += motor;
  }
}

/// With those of springs as they are at the end.
void Reactions::take(const Solver& solver, const Model& m, const Control& c, const State& end) {
  force_.assign(static_cast<std::size_t>(m.vertex_count()), {});
  couple_.assign(static_cast<std::size_t>(m.frame_count()), {});
  springs_.clear();
  solver.tell_reactions(force_, couple_);
  for (const Spring& s : c.springs) {
    constexpr double kInstant = 1e-6;  // in which a damper is asked for its force [s]
    const auto other = [&](const std::vector<Vec3d>& list, const Vec3d& place) { return s.b < 0 ? place : list[s.b]; };
    const Vec3d d = other(end.vertex_position, s.anchor) - end.vertex_position[s.a];
    vertex_spring::Terms<double> terms = elastic_terms(s);
    terms.damping = s.damping / kInstant;
    terms.start = d - kInstant * (other(end.vertex_velocity, s.anchor_velocity) - end.vertex_velocity[s.a]);
    springs_.push_back({s.owner, s.a, vertex_spring::gradient(terms, d)});
  }
  known_ = true;
}

void Reactions::correct_inertia(const StepPotential& potential, const State& reference, const std::vector<Vec3d>& stage_velocity,
                                const State& start, const State& end, double h) {
  const Model& m = potential.model();
  const Control& c = potential.control();
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!c.vertex_fixed[v] || !m.vertex_alive[v]) continue;
    const Vec3d at_stage = (1 / potential.h()) * (stage_velocity[v] - reference.vertex_velocity[v]);
    const Vec3d real = (1 / h) * (end.vertex_velocity[v] - start.vertex_velocity[v]);
    force_[v] += m.vertex_mass[v] * (real - at_stage);
  }
  for (const HeldAxes& held : c.held_axes) {
    const Index v = held.vertex;
    if (!m.vertex_alive[v]) continue;
    const Vec3d at_stage = (1 / potential.h()) * (stage_velocity[v] - reference.vertex_velocity[v]);
    const Vec3d real = (1 / h) * (end.vertex_velocity[v] - start.vertex_velocity[v]);
    force_[v] += m.vertex_mass[v] * along(held, real - at_stage);
  }
}

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
const Wrench kUnknownWrench{{kUnknown, kUnknown, kUnknown}, {kUnknown, kUnknown, kUnknown}};

Vec3d centre_of(const std::vector<Index>& vertices, const State& state) {
  Vec3d centre;
  for (Index v : vertices) centre += (1.0 / static_cast<double>(vertices.size())) * state.vertex_position[v];
  return centre;
}

}  // namespace

Wrench Reactions::of_springs(const void* owner, const std::vector<Index>& vertices, const State& state) const {
  if (!known_) return kUnknownWrench;
  const Vec3d centre = centre_of(vertices, state);
  Wrench sum;
  for (const SpringForce& s : springs_) {
    if (s.owner != owner) continue;
    sum.force += s.force;
    sum.moment += cross(state.vertex_position[s.vertex] - centre, s.force);
  }
  return sum;
}

Wrench Reactions::of(const std::vector<Index>& vertices, const std::vector<Index>& frames, const State& state,
                     const Share& share) const {
  if (!known_) return kUnknownWrench;
  const Vec3d centre = centre_of(vertices, state);
  Wrench sum;
  for (Index v : vertices) {
    const Vec3d force = share(v, force_[v]);
    sum.force += force;
    sum.moment += cross(state.vertex_position[v] - centre, force);
  }
  for (Index f : frames) sum.moment += couple_[f];
  return sum;
}

}  // namespace osier
