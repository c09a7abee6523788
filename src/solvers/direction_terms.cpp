#include "solvers/direction_terms.hpp"

namespace osier {

/// Where a free body turns within h: omega changes by the gyroscopic torque, J omega' = (J omega) x omega in its own axes.
static Quatd free_turn(const PerAxis& inertia, const Quatd& q, const Vec3d& omega, double h) {
  const Vec3d w = rotate(conj(q), omega), J{inertia.d1, inertia.d2, inertia.d3};
  const Vec3d torque = cross(times(J, w), w);
  const Vec3d change{J.x > 0 ? torque.x / J.x : 0, J.y > 0 ? torque.y / J.y : 0, J.z > 0 ? torque.z / J.z : 0};
  return normalized(q * rotation_exp(h * (w + h * change)));
}

void direction_terms(const Model& m, const Control& c, const State& start, double h, std::vector<DirectionTerm>& out) {
  out.clear();
  if (!(h > 0)) return;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) continue;
    const PerAxis& J = m.segment_inertia[s];
    if (J.any()) {
      const Quatd free = free_turn(J, start.frame_rotation[s], start.frame_velocity[s], h);
      const double half = 0.5 * (J.d1 + J.d2 + J.d3), k = 1 / (h * h);
      const double point_mass[3] = {half - J.d1, half - J.d2, half - J.d3};
      for (int i = 0; i < 3; ++i) {
        const Vec3d axis{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
        if (point_mass[i] > 1e-12 * half) out.push_back({s, k * point_mass[i], rotate(free, axis), axis});
      }
    }
    if (c.has_rotary_damping && c.frame_damping[s] > 0) {
      const Quatd& q = start.frame_rotation[s];
      const Vec3d& axis = c.frame_hinge_axis[s];
      const Quatd basis = rotation_between(Vec3d{0, 0, 1}, axis), turn = axis_angle(axis, h * dot(start.frame_velocity[s], axis));
      for (const Vec3d& across : {rotate(basis, Vec3d{1, 0, 0}), rotate(basis, Vec3d{0, 1, 0})})
        out.push_back({s, c.frame_damping[s] / (2 * h), rotate(turn, across), rotate(conj(q), across)});
    }
  }
}

void update_frame_velocity(const Model& m, const Control& c, const std::vector<Quatd>& start, double h, State& state) {
  const auto driven = [&](Index s) { return c.has_rotary_damping && c.frame_control[s] == FrameControl::hinged; };
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_inertia[s].any() || driven(s))
      state.frame_velocity[s] = (1 / h) * rotation_log(state.frame_rotation[s] * conj(start[s]));
}

}  // namespace osier
