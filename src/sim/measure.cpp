#include "sim/measure.hpp"

#include <algorithm>
#include <cmath>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "math/quat.hpp"
#include "model/edge.hpp"
#include "model/rod_graph.hpp"
#include "solvers/step_potential.hpp"

namespace osier {

Vec3d section_strain(const Model& m, const State& state, Index s) {
  const Vec3d p = edge_over_length(m, state.vertex_position, s);
  return stretch_shear::local_strain(p, state.frame_rotation[s]);
}

double largest_bend(const Model& m, const State& a, const State& b) {
  double most = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const double half_chord = 0.5 * norm(director3(a.frame_rotation[s]) - director3(b.frame_rotation[s]));
    most = std::max(most, 2 * std::asin(std::min(half_chord, 1.0)));
  }
  return most;
}

static Quatd joint_deviation(const Model& m, const State& state, Index j) {
  const auto [a, b] = m.joint_frames[j];
  return bend_twist::deviation(state.frame_rotation[a], state.frame_rotation[b], m.joint_rest_rotation[j]);
}

bool is_corner(const Model& m, Index j) {
  const Quatd& q0 = m.joint_rest_rotation[j];
  const double angle = 2 * std::atan2(norm(imag(q0)), std::abs(q0.w));
  return angle > (m.joint_is_clamp[j] ? 1 : 2) * kCornerAngle;
}

/// -1 for the half-joint of a clamp at a segment's second end: its frames are clamp, segment, against the segment's direction.
static double along_segment(const Model& m, Index j) {
  if (!m.joint_is_clamp[j]) return 1;
  const auto [anchor, s] = m.joint_frames[j];
  return m.segment_vertices[s][1] == m.anchor_vertex[anchor - m.segment_count()] ? -1 : 1;
}

double segment_strain(const Model& m, const State& state, Index s) { return norm(section_strain(m, state, s)); }

Vec3d section_force(const Model& m, const State& state, Index s) {
  if (!m.segment_alive[s]) return {};
  const Vec3d k = cast<double>((1 / m.segment_rest_length[s]) * m.segment_stiffness[s]);
  return stretch_shear::section_force(k, section_strain(m, state, s), state.frame_rotation[s]);
}

Vec3d section_force_material(const Model& m, const State& state, Index s) {
  if (!m.segment_alive[s]) return {};
  return times(cast<double>((1 / m.segment_rest_length[s]) * m.segment_stiffness[s]), section_strain(m, state, s));
}

Vec3d joint_moment(const Model& m, const State& state, Index j) {
  if (!m.joint_alive[j]) return {};
  const auto [a, b] = m.joint_frames[j];
  const Quatd r = conj(state.frame_rotation[a]) * state.frame_rotation[b];
  const Quatd K = bend_twist::stiffness4(cast<double>(m.joint_stiffness[j]));
  return rotate(state.frame_rotation[a], bend_twist::moment(K, r, m.joint_rest_rotation[j]));
}

Quatd joint_axes(const Model& m, const State& state, Index j) {
  const auto [a, b] = m.joint_frames[j];
  const Quatd& qa = state.frame_rotation[a];
  if (!m.joint_is_clamp[j]) return qa * half_rotation(conj(qa) * state.frame_rotation[b]);
  return is_corner(m, j) ? qa * m.joint_rest_rotation[j] : qa;
}

Vec3d joint_moment_material(const Model& m, const State& state, Index j) {
  return along_segment(m, j) * rotate(conj(joint_axes(m, state, j)), joint_moment(m, state, j));
}

Vec3d joint_curvature(const Model& m, const State& state, Index j) {
  if (!m.joint_alive[j]) return {};
  const auto [a, b] = m.joint_frames[j];
  const Quatd qa = m.joint_is_clamp[j] ? joint_axes(m, state, j) : state.frame_rotation[a];
  const Quatd r = conj(qa) * state.frame_rotation[b];
  return along_segment(m, j) * bend_twist::curvature(r, m.joint_length[j]);
}

Vec3d clamp_moment(const Model& m, const State& state, Index vertex) {
  Vec3d moment;
  for (Index anchor = 0; anchor < m.anchor_count; ++anchor) {
    if (m.anchor_vertex[anchor] != vertex) continue;
    for (Index e : m.frame_joints.of(m.segment_count() + anchor)) moment -= joint_moment(m, state, e / 2);
  }
  return moment;
}

BendAndTwist joint_bend_and_twist(const Model& m, const State& state, Index j) {
  const auto [a, b] = m.joint_frames[j];
  const Vec3d turn = rotation_log(normalized(conj(state.frame_rotation[a] * m.joint_rest_rotation[j]) * state.frame_rotation[b]));
  return {std::hypot(turn.x, turn.y), std::abs(turn.z)};
}

double joint_angle(const Model& m, const State& state, Index j) {
  const Quatd r = joint_deviation(m, state, j);
  return 2 * std::atan2(norm(imag(r)), std::abs(r.w));
}

Diagnostics measure_state(const Model& m, const State& state) {
  Diagnostics d;
  d.time = state.time;
  d.step = state.step_index;
  const EnergyTerms e = elastic_energy(m, state.vertex_position, state.frame_rotation);
  d.stretch_shear = e.stretch_shear;
  d.bend_twist = e.bend_twist;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) continue;
    ++d.vertices_alive;
    const Vec3d p = m.vertex_mass[v] * state.vertex_velocity[v];
    d.kinetic += 0.5 * dot(p, state.vertex_velocity[v]);
    d.momentum += p;
    d.angular_momentum += cross(state.vertex_position[v], p);
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    ++d.segments_alive;
    if (m.segment_inertia[s].any()) {
      const Quatd& q = state.frame_rotation[s];
      const Vec3d w = rotate(conj(q), state.frame_velocity[s]), L = times(cast<double>(m.segment_inertia[s]), w);
      d.kinetic += 0.5 * dot(w, L);
      d.angular_momentum += rotate(q, L);
    }
    d.max_stretch = std::max(d.max_stretch, segment_strain(m, state, s));
  }
  for (Index j = 0; j < m.joint_count(); ++j)
    if (m.joint_alive[j]) d.max_bend = std::max(d.max_bend, 2 / m.joint_length[j] * norm(imag(joint_deviation(m, state, j))));
  return d;
}

}  // namespace osier
