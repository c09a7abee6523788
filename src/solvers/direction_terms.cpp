#include "solvers/direction_terms.hpp"

namespace osier {

/// Angular velocity of a free body after h, in its own axes: J (w1 - w) = h (J m) x m with m = (w + w1)/2. The midpoint keeps
/// kinetic energy and the size of angular momentum; the explicit rule J (w1 - w) = h (J w) x w would pump both up without end.
/// A step that turns too far for Newton's method leaves the gyroscopic torque out.
static Vec3d free_spin(const Vec3d& J, const Vec3d& w, double h) {
  if (!(J.x > 0 && J.y > 0 && J.z > 0)) return w;
  Vec3d m = w;
  for (int i = 0; i < 8; ++i) {
    const Vec3d L = times(J, m), left = 2.0 * times(J, m - w) - h * cross(L, m);
    if (norm2(left) <= 1e-28 * norm2(L)) return 2.0 * m - w;
    // rows of d left/d m = 2 J - h ([L]x - [m]x J)
    const Vec3d a{2 * J.x, h * (L.z - m.z * J.y), -h * (L.y - m.y * J.z)};
    const Vec3d b{-h * (L.z - m.z * J.x), 2 * J.y, h * (L.x - m.x * J.z)};
    const Vec3d c{h * (L.y - m.y * J.x), -h * (L.x - m.x * J.y), 2 * J.z};
    const double determinant = dot(a, cross(b, c));
    if (!(determinant > 0)) return w;
    m -= (1 / determinant) * (left.x * cross(b, c) + left.y * cross(c, a) + left.z * cross(a, b));
  }
  return w;
}

/// The turn of a free body within h.
static Quatd free_turn(const PerAxis& inertia, const Quatd& q, const Vec3d& omega, double h) {
  return normalized(q * rotation_exp(h * free_spin(cast<double>(inertia), rotate(conj(q), omega), h)));
}

namespace {

/// f(k, y, a) for the terms of a frame's inertia.
template <class F>
void each_inertial_term(const PerAxis& J, const Quatd& q, const Vec3d& omega, double h, const F& f) {
  const Quatd free = free_turn(J, q, omega, h);
  const double half = 0.5 * (J.d1 + J.d2 + J.d3), k = 1 / (h * h);
  const double point_mass[3] = {half - J.d1, half - J.d2, half - J.d3};
  for (int i = 0; i < 3; ++i) {
    const Vec3d axis{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    if (point_mass[i] > 1e-12 * half) f(k * point_mass[i], rotate(free, axis), axis);
  }
}

}  // namespace

Vec3d inertial_couple(const PerAxis& J, const Quatd& q, const Vec3d& omega, double h, const Quatd& end) {
  Vec3d couple;
  each_inertial_term(J, q, omega, h, [&](double k, const Vec3d& y, const Vec3d& a) { couple += k * cross(rotate(end, a), y); });
  return couple;
}

void direction_terms(const Model& m, const Control& c, const State& start, double h, std::vector<DirectionTerm>& out) {
  out.clear();
  if (!(h > 0)) return;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) continue;
    const PerAxis& J = m.segment_inertia[s];
    const Quatd& q = start.frame_rotation[s];
    const auto add = [&](double k, const Vec3d& y, const Vec3d& a) { out.push_back({s, k, y, a, k * norm(y - rotate(q, a))}); };
    if (J.any()) each_inertial_term(J, q, start.frame_velocity[s], h, add);
    if (c.has_rotary_damping && c.frame_damping[s] > 0) {
      const Vec3d& axis = c.frame_hinge_axis[s];
      const Quatd basis = rotation_between(Vec3d{0, 0, 1}, axis), turn = axis_angle(axis, h * dot(start.frame_velocity[s], axis));
      for (const Vec3d& across : {rotate(basis, Vec3d{1, 0, 0}), rotate(basis, Vec3d{0, 1, 0})})
        add(c.frame_damping[s] / (2 * h), rotate(turn, across), rotate(conj(q), across));
    }
  }
}

Quatd guessed_frame(const Model& m, const Control& c, const State& start, double h, Index s) {
  const Quatd& q = start.frame_rotation[s];
  if (m.is_anchor(s) || !m.segment_alive[s] || !m.segment_inertia[s].any()) return q;
  if (c.frame_control[s] == FrameControl::free) return free_turn(m.segment_inertia[s], q, start.frame_velocity[s], h);
  const Vec3d& axis = c.frame_hinge_axis[s];
  return normalized(axis_angle(axis, h * dot(start.frame_velocity[s], axis)) * q);
}

void update_frame_velocity(const Model& m, const Control& c, const std::vector<Quatd>& start, double h, State& state,
                           const IndexList* segments) {
  if (!m.has_inertia() && !c.has_rotary_damping) return;
  const auto driven = [&](Index s) { return c.has_rotary_damping && c.frame_control[s] == FrameControl::hinged; };
  const IndexList all(m.segment_count());
  const IndexList& list = segments ? *segments : all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Index s = list[i];
    if (m.segment_inertia[s].any() || driven(s))
      state.frame_velocity[s] = (1 / h) * rotation_log(state.frame_rotation[s] * conj(start[s]));
  }
}

}  // namespace osier
