#include "integration/integrator.hpp"

#include <algorithm>
#include <cmath>

#include "model/held_axes.hpp"
#include "solvers/solver_memory.hpp"

namespace osier {

namespace {

const MemoryDeclaration kVertexRate{"integrator/vertex_position_rate", ElementKind::vertex, 3};
const MemoryDeclaration kVelocityRate{"integrator/vertex_velocity_rate", ElementKind::vertex, 3};
const MemoryDeclaration kFrameRate{"integrator/frame_turn_rate", ElementKind::frame, 3};
const MemoryDeclaration kSpinRate{"integrator/frame_angular_momentum_rate", ElementKind::frame, 3};
/// The length of the step that left the rates behind; 0: there are none.
const MemoryDeclaration kLastStep{"integrator/last_step", ElementKind::whole, 1};

/// Vectors in an array of solver memory.
class Vectors {
 public:
  explicit Vectors(std::span<double> numbers) : numbers_(numbers) {}
  Vec3d get(Index i) const {
    const double* p = numbers_.data() + 3 * static_cast<std::size_t>(i);
    return {p[0], p[1], p[2]};
  }
  void set(Index i, const Vec3d& x) {
    double* p = numbers_.data() + 3 * static_cast<std::size_t>(i);
    p[0] = x.x, p[1] = x.y, p[2] = x.z;
  }

 private:
  std::span<double> numbers_;
};

/// The turn from one frame to another, world axes [rad].
Vec3d turn(const Quatd& from, const Quatd& to) { return rotation_log(to * conj(from)); }
Quatd turned(const Vec3d& turn, const Quatd& q) { return normalized(rotation_exp(turn) * q); }

Vec3d angular_momentum(const PerAxis& J, const Quatd& q, const Vec3d& omega) {
  return rotate(q, times(cast<double>(J), rotate(conj(q), omega)));
}
Vec3d angular_velocity(const PerAxis& J, const Quatd& q, const Vec3d& momentum) {
  const Vec3d L = rotate(conj(q), momentum);
  const auto over = [](double a, double b) { return b > 0 ? a / b : 0; };
  return rotate(q, {over(L.x, J.d1), over(L.y, J.d2), over(L.z, J.d3)});
}

}  // namespace

TimeIntegrator::TimeIntegrator(IntegratorKind kind, double rho)
    : implicit_euler_(kind == IntegratorKind::implicit_euler), one_step_(false), am_(1), af_(1), g_(1) {
  if (implicit_euler_) return;
  if (kind == IntegratorKind::bdf2) rho = 0;
  if (kind == IntegratorKind::midpoint) rho = 1;
  one_step_ = rho == 1;
  am_ = (3 - rho) / (2 * (1 + rho));
  af_ = g_ = 1 / (1 + rho);
}

std::complex<double> TimeIntegrator::rate_of(std::complex<double> z, double h) const {
  if (implicit_euler_) return (1.0 - 1.0 / z) / h;
  const std::complex<double> d = z - 1.0;
  return d * (1.0 + am_ * d) / ((1.0 + g_ * d) * (1.0 + af_ * d)) / h;
}

void TimeIntegrator::declare_memory(const Model& m, State& state) const {
  if (implicit_euler_) return;
  solver_memory(state, m, kLastStep);
  if (one_step_) return;
  for (const MemoryDeclaration& d : {kVertexRate, kVelocityRate, kFrameRate}) solver_memory(state, m, d);
  if (m.has_inertia()) solver_memory(state, m, kSpinRate);
}

void TimeIntegrator::restart(const Model& m, State& state) const {
  if (!implicit_euler_) solver_memory(state, m, kLastStep)[0] = 0;
}

void TimeIntegrator::begin(const Model& m, State& state, double h, bool damped) {
  h_ = h;
  damps_ = false;
  if (!implicit_euler_) {
    const double last = solver_memory(state, m, kLastStep)[0];
    // The rates belong to a place between two steps, which moves with their length.
    damps_ = one_step_ ? last == 0 && state.step_index > 0 : std::abs(last - h) > 1e-9 * h;
    damps_ = damped || damps_ || turns_too_far(m, state, h);
  }
  const bool euler = implicit_euler_ || damps_;
  stage_length_ = euler ? h : g_ * af_ * h / am_;
  stage_share_ = euler ? 1 : af_;
}

TimeIntegrator::FrameState TimeIntegrator::reference_frame(const Model& m, State& memory, const State& start, Index f) const {
  FrameState r{start.frame_rotation[f], start.frame_velocity[f]};
  if (!has_reference()) return r;
  r.q = turned(ahead() * Vectors(solver_memory(memory, m, kFrameRate)).get(f), r.q);
  const PerAxis J = m.is_anchor(f) ? PerAxis{} : m.segment_inertia[f];
  if (!J.any()) return r;
  const Vec3d L = angular_momentum(J, start.frame_rotation[f], r.omega);
  r.omega = angular_velocity(J, r.q, L + ahead() * Vectors(solver_memory(memory, m, kSpinRate)).get(f));
  return r;
}

/// Gyroscopic couples make oscillations grow where a step does not follow the turning; implicit Euler damps them.
bool TimeIntegrator::turns_too_far(const Model& m, const State& state, double h) {
  constexpr double kFarthest = 0.3;  // [rad]
  if (!m.has_inertia()) return false;
  const auto is_fast = [&](const Vec3d& omega) { return norm2(omega) * h * h > kFarthest * kFarthest; };
  return std::any_of(state.frame_velocity.begin(), state.frame_velocity.end(), is_fast);
}

void TimeIntegrator::prepare(const Model& m, State& state, Control& control) const {
  if (implicit_euler_ || damps_) return;
  if (!one_step_) go_to_reference(m, state, control);
  straighten_damping(m, state, control);
}

void TimeIntegrator::go_to_reference(const Model& m, State& state, Control& control) const {
  const Vectors rate(solver_memory(state, m, kVertexRate)), velocity_rate(solver_memory(state, m, kVelocityRate));
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) continue;
    const Vec3d a = velocity_rate.get(v);
    state.vertex_position[v] += ahead() * rate.get(v);
    state.vertex_velocity[v] += ahead() * a;
    state.vertex_velocity_previous[v] = state.vertex_velocity[v] - stage_length_ * a;
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    const FrameState reference = reference_frame(m, state, state, f);
    const Vec3d omega = state.frame_velocity[f];
    state.frame_rotation[f] = reference.q;
    state.frame_velocity[f] = reference.omega;
    if (control.has_rotary_damping && control.frame_damping[f] > 0) {
      const Vec3d& axis = control.frame_hinge_axis[f];
      control.frame_torque[f] += (control.frame_damping[f] * dot(omega - reference.omega, axis)) * axis;
    }
  }
}

/// Damping of stretch sees (strain at the stage - strain at y_ref)/H. The path between is straight, so where a segment turns its
/// rate of strain is off by K/H, K = H^2/2 |v across|^2/(l |edge|), a first-order error: a force puts it right.
void TimeIntegrator::straighten_damping(const Model& m, const State& state, Control& control) const {
  const double h = stage_length_;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double damping = m.segment_stiffness[s].d3 * m.segment_tau[s].d3;
    if (!(damping > 0) || !m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const double l = m.segment_rest_length[s];
    const Vec3d v = state.vertex_velocity[b] - state.vertex_velocity[a];
    const Vec3d edge = state.vertex_position[b] - state.vertex_position[a] + h * v;
    const double length2 = norm2(edge);
    if (!(length2 > 0)) continue;
    const Vec3d across = v - (dot(v, edge) / length2) * edge;
    // tension damping/(l H) K, as a vector along the edge
    const Vec3d tension = (damping * h * norm2(across) / (2 * l * l * length2)) * edge;
    control.vertex_force[a] += tension;
    control.vertex_force[b] -= tension;
  }
  for (const Spring& s : control.springs) {  // the same for dampers along a line
    if (!(s.damping > 0) || !(s.rest_length > 0) || s.along_axis) continue;
    const bool anchored = s.b < 0;
    const Vec3d v = (anchored ? s.anchor_velocity : state.vertex_velocity[s.b]) - state.vertex_velocity[s.a];
    const Vec3d d = anchored ? s.anchor - state.vertex_position[s.a] - h * state.vertex_velocity[s.a]
                             : state.vertex_position[s.b] - state.vertex_position[s.a] + h * v;
    const double length2 = norm2(d);
    if (!(length2 > 0)) continue;
    const Vec3d tension = (s.damping * h * norm2(v - (dot(v, d) / length2) * d) / (2 * length2)) * d;
    control.vertex_force[s.a] += tension;
    if (!anchored) control.vertex_force[s.b] -= tension;
  }
}

void TimeIntegrator::finish(const Model& m, const Control& end, const State& start, State& state) const {
  if (implicit_euler_) return;
  solver_memory(state, m, kLastStep)[0] = h_;
  const double whole = 1 / stage_share_;
  std::span<double> none;
  Vectors rate(one_step_ ? none : solver_memory(state, m, kVertexRate));
  Vectors velocity_rate(one_step_ ? none : solver_memory(state, m, kVelocityRate));
  Vectors frame_rate(one_step_ ? none : solver_memory(state, m, kFrameRate));
  const bool inertia = m.has_inertia();
  Vectors spin_rate(one_step_ || !inertia ? none : solver_memory(state, m, kSpinRate));
  const auto new_rate = [&](Vectors& rates, Index i, const Vec3d& change) {
    if (one_step_) return;
    const Vec3d mean = (1 / h_) * change, r = rates.get(i);
    rates.set(i, damps_ ? mean : r + (1 / g_) * (mean - r));
  };
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) {
      state.vertex_position[v] = start.vertex_position[v];
      state.vertex_velocity[v] = start.vertex_velocity[v];
      continue;
    }
    const Vec3d &x = start.vertex_position[v], &velocity = start.vertex_velocity[v];
    if (end.vertex_fixed[v]) {
      state.vertex_position[v] = end.vertex_target[v];
      state.vertex_velocity[v] = (1 / h_) * (state.vertex_position[v] - x);
    } else {
      state.vertex_position[v] = x + whole * (state.vertex_position[v] - x);
      state.vertex_velocity[v] = velocity + whole * (state.vertex_velocity[v] - velocity);
    }
    if (const HeldAxes* held = held_axes_of(end, v)) {
      state.vertex_position[v] = held_place(*held, state.vertex_position[v]);
      const Vec3d prescribed = along(*held, (1 / h_) * (state.vertex_position[v] - x));
      state.vertex_velocity[v] = across(*held, state.vertex_velocity[v]) + prescribed;
    }
    state.vertex_velocity_previous[v] = velocity;
    new_rate(rate, v, state.vertex_position[v] - x);
    new_rate(velocity_rate, v, state.vertex_velocity[v] - velocity);
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (!m.is_anchor(f) && !m.segment_alive[f]) {
      state.frame_rotation[f] = start.frame_rotation[f];
      continue;
    }
    const Quatd& q = start.frame_rotation[f];
    const Quatd stage = state.frame_rotation[f];
    const Vec3d change = whole * turn(q, stage);
    Quatd& next = state.frame_rotation[f];
    next = turned(change, q);
    if (end.frame_control[f] == FrameControl::fixed) next = end.frame_target[f];
    const bool hinged = end.frame_control[f] == FrameControl::hinged;
    if (hinged) next = nearest_on_hinge(next, end.frame_target[f], end.frame_hinge_axis[f]);
    const FrameState reference = inertia ? reference_frame(m, state, start, f) : FrameState{};
    new_rate(frame_rate, f, turn(q, next));
    if (!inertia || m.is_anchor(f) || !m.segment_inertia[f].any()) continue;
    const PerAxis& J = m.segment_inertia[f];
    const Vec3d L = angular_momentum(J, q, start.frame_velocity[f]);
    Vec3d gain;
    if (damps_) {  // implicit Euler has found it
      gain = angular_momentum(J, next, state.frame_velocity[f]) - L;
    } else if (end.frame_control[f] == FrameControl::fixed) {
      state.frame_velocity[f] = (1 / h_) * turn(q, next);
      gain = angular_momentum(J, next, state.frame_velocity[f]) - L;
    } else {
      // At the stage the couple of inertia balances all others.
      const Vec3d couple = -1.0 * inertial_couple(J, reference.q, reference.omega, stage_length_, stage);
      gain = whole * (angular_momentum(J, reference.q, reference.omega) + stage_length_ * couple - L);
      if (hinged) {
        const Vec3d &axis = end.frame_hinge_axis[f], local = rotate(conj(next), axis);
        const double about_axis = dot(local, times(cast<double>(J), local));
        state.frame_velocity[f] = (dot(L + gain, axis) / about_axis) * axis;
      } else {
        state.frame_velocity[f] = angular_velocity(J, next, L + gain);
      }
    }
    new_rate(spin_rate, f, gain);
  }
}

}  // namespace osier
