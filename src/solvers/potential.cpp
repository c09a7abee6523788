#include "solvers/potential.hpp"

#include <algorithm>
#include <cmath>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "model/edge.hpp"

namespace osier {

double EnergyTerms::magnitude() const {
  return std::abs(inertia) + stretch_shear + bend_twist + damping + std::abs(torque) + rounding;
}

static const Vec3d kAxis3{0, 0, 1};

template <class Edge>
static EnergyTerms elastic_terms(const Model& m, const std::vector<Quatd>& q, const Edge& edge) {
  EnergyTerms e;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s])
      e.stretch_shear += stretch_shear::value(cast<double>(m.segment_stiffness[s]), stretch_shear::strain(edge(s), q[s], kAxis3));
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Quatd K = bend_twist::stiffness4(cast<double>(m.joint_stiffness[j]));
    e.bend_twist += bend_twist::value4(K, bend_twist::difference(K, conj(q[a]) * q[b], m.joint_rest_rotation[j]));
  }
  return e;
}

EnergyTerms elastic_energy(const Model& m, const std::vector<Vec3d>& x, const std::vector<Quatd>& q) {
  return elastic_terms(m, q, [&](Index s) { return osier::edge_over_length(m, x, s); });
}

Vec3d IncrementalPotential::edge_over_length(const std::vector<Vec3d>& u, Index s) const {
  return edge_start_[s] + osier::edge_over_length(*model_, u, s);
}

PerAxis IncrementalPotential::position_stiffness(Index s) const {
  const double l = model_->segment_rest_length[s];
  if (!model_->segment_alive[s]) return {};
  const PerAxis elastic = (1 / (l * l)) * model_->segment_stiffness[s];
  return h_ > 0 ? elastic + (1 / h_) * (elastic * model_->segment_tau[s]) : elastic;
}

Quatd IncrementalPotential::viscous_stiffness(Index j) const {
  return (1 / h_) * bend_twist::viscous4(cast<double>(model_->joint_stiffness[j]), cast<double>(model_->joint_tau[j]));
}

void IncrementalPotential::begin(const Model& m, const Control& control, const State& start, double h) {
  model_ = &m;
  control_ = &control;
  h_ = h;
  weight_.resize(m.vertex_count());
  pull_.resize(m.vertex_count());
  for (Index v = 0; v < m.vertex_count(); ++v) {
    weight_[v] = h > 0 ? m.vertex_mass[v] / (h * h) + control.vertex_damping[v] / h : 0;
    pull_[v] = control.vertex_force[v];
    if (h > 0) pull_[v] += (m.vertex_mass[v] / h) * start.vertex_velocity[v];
  }
  strain_prev_.resize(m.segment_count());
  edge_start_.resize(m.segment_count());
  for (Index s = 0; s < m.segment_count(); ++s) {
    edge_start_[s] = osier::edge_over_length(m, start.vertex_position, s);
    strain_prev_[s] = stretch_shear::local_strain(edge_start_[s], start.frame_rotation[s]);
  }
  rotation_prev_.resize(m.joint_count());
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    rotation_prev_[j] = conj(start.frame_rotation[a]) * start.frame_rotation[b];
  }
  direction_terms(m, control, start, h, directions_);
  set_torque_point(start.frame_rotation);
}

Vec3d IncrementalPotential::torque(Index frame, const Quatd& q) const {
  if (!control_->has_torque) return {};
  return control_->frame_torque[frame] + rotate(q, control_->frame_torque_material[frame]);
}

void IncrementalPotential::set_torque_point(const std::vector<Quatd>& q) {
  if (!control_->has_torque) return;
  torque_point_ = q;
  torque_.resize(q.size());
  for (Index f = 0; f < model_->frame_count(); ++f) torque_[f] = torque(f, q[f]);
}

EnergyTerms IncrementalPotential::value(const std::vector<Vec3d>& u, const std::vector<Quatd>& q) const {
  const Model& m = *model_;
  EnergyTerms e = elastic_terms(m, q, [&](Index s) { return edge_over_length(u, s); });
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (control_->vertex_fixed[v] || !m.vertex_alive[v]) continue;
    e.inertia += 0.5 * weight_[v] * norm2(u[v]) - dot(pull_[v], u[v]);
  }
  for (const DirectionTerm& t : directions_) {
    const Vec3d a = rotate(q[t.frame], t.a);
    e.inertia += stretch_shear::value(t.k, t.y, a);
    e.rounding += t.k * norm(t.y - a);
  }
  if (h_ > 0) {
    for (Index s = 0; s < m.segment_count(); ++s) {
      if (!m.segment_alive[s] || !m.segment_tau[s].any()) continue;
      const Vec3d k = cast<double>((1 / h_) * (m.segment_stiffness[s] * m.segment_tau[s]));
      e.damping += stretch_shear::value(k, stretch_shear::strain(edge_over_length(u, s), q[s], kAxis3 + strain_prev_[s]));
    }
    for (Index j = 0; j < m.joint_count(); ++j) {
      if (!m.joint_alive[j] || !m.joint_tau[j].any()) continue;
      const auto [a, b] = m.joint_frames[j];
      const Quatd K = viscous_stiffness(j);
      e.damping += bend_twist::value4(K, bend_twist::difference(K, conj(q[a]) * q[b], rotation_prev_[j]));
    }
  }
  if (control_->has_torque)
    for (Index f = 0; f < m.frame_count(); ++f) e.torque -= dot(torque_[f], rotation_log(q[f] * conj(torque_point_[f])));
  return e;
}

void IncrementalPotential::gradient(const std::vector<Vec3d>& u, const std::vector<Quatd>& q, std::vector<Vec3d>& gx,
                                    std::vector<Vec3d>& gw) const {
  const Model& m = *model_;
  gx.assign(m.vertex_count(), {});
  gw.assign(m.frame_count(), {});
  for (Index v = 0; v < m.vertex_count(); ++v) gx[v] = weight_[v] * u[v] - pull_[v];
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const Index a = m.segment_vertices[s][0], b = m.segment_vertices[s][1];
    const double l = m.segment_rest_length[s];
    const Vec3d p = edge_over_length(u, s);
    const auto add = [&](const PerAxis& k, const Vec3d& rest) {
      const Vec3d n = stretch_shear::section_force(cast<double>(k), stretch_shear::strain(p, q[s], rest), q[s]);
      gx[b] += (1 / l) * n;
      gx[a] -= (1 / l) * n;
      gw[s] += stretch_shear::gradient_w(n, p);
    };
    add(m.segment_stiffness[s], kAxis3);
    if (h_ > 0 && m.segment_tau[s].any()) add((1 / h_) * (m.segment_stiffness[s] * m.segment_tau[s]), kAxis3 + strain_prev_[s]);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const Index a = m.joint_frames[j][0], b = m.joint_frames[j][1];
    const Quatd r = conj(q[a]) * q[b];
    const auto add = [&](const Quatd& K, const Quatd& rest) {
      const Vec3d g = rotate(q[a], bend_twist::moment(K, r, rest));
      gw[b] += g;
      gw[a] -= g;
    };
    add(bend_twist::stiffness4(cast<double>(m.joint_stiffness[j])), m.joint_rest_rotation[j]);
    if (h_ > 0 && m.joint_tau[j].any()) add(viscous_stiffness(j), rotation_prev_[j]);
  }
  for (const DirectionTerm& t : directions_) gw[t.frame] += stretch_shear::gradient_w(t.k, t.y, rotate(q[t.frame], t.a));
  if (control_->has_torque)
    for (Index f = 0; f < m.frame_count(); ++f) gw[f] -= torque(f, q[f]);
}

double IncrementalPotential::force_scale(const std::vector<Vec3d>& u, const std::vector<Quatd>& q) const {
  const Model& m = *model_;
  double scale = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (control_->vertex_fixed[v] || !m.vertex_alive[v]) continue;
    scale = std::max({scale, norm(control_->vertex_force[v]), weight_[v] * norm(u[v]), norm(pull_[v])});
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const double l = m.segment_rest_length[s];
    const Vec3d k = cast<double>(m.segment_stiffness[s]);
    scale = std::max(scale, norm(times(k, stretch_shear::strain(edge_over_length(u, s), q[s], kAxis3))) / l);
    if (control_->has_torque) scale = std::max(scale, norm(torque(s, q[s])) / l);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Quatd r = conj(q[a]) * q[b], K = bend_twist::stiffness4(cast<double>(m.joint_stiffness[j]));
    const Vec3d g = bend_twist::moment(K, r, m.joint_rest_rotation[j]);
    scale = std::max(scale, norm(g) / m.joint_length[j]);
  }
  for (const DirectionTerm& t : directions_) scale = std::max(scale, t.pull / m.segment_rest_length[t.frame]);
  return scale;
}

IncrementalPotential::Residual IncrementalPotential::residual(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw) const {
  const Model& m = *model_;
  Residual r;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (control_->vertex_fixed[v] || !m.vertex_alive[v]) continue;
    const double size = norm(gx[v]);
    if (!(size <= r.value)) r = {.value = size, .vertex = v, .segment = -1};
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || control_->frame_control[s] == FrameControl::fixed) continue;
    const bool hinged = control_->frame_control[s] == FrameControl::hinged;
    const double moment = hinged ? std::abs(dot(gw[s], control_->frame_hinge_axis[s])) : norm(gw[s]);
    const double size = moment / m.segment_rest_length[s];
    if (!(size <= r.value)) r = {.value = size, .vertex = -1, .segment = s};
  }
  return r;
}

}  // namespace osier
