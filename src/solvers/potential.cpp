#include "solvers/potential.hpp"

#include <algorithm>
#include <cmath>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"

namespace osier {

double EnergyTerms::magnitude() const { return std::abs(inertia) + stretch_shear + bend_twist + damping + std::abs(torque); }

static Vec3d absolute_edge(const Model& m, const std::vector<Vec3d>& x, Index s) {
  const auto [a, b] = m.segment_vertices[s];
  return (1 / m.segment_rest_length[s]) * (x[b] - x[a]);
}

template <class Edge>
static EnergyTerms elastic_terms(const Model& m, const std::vector<Quatd>& q, const Edge& edge) {
  EnergyTerms e;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) e.stretch_shear += stretch_shear::value(m.segment_stretch_stiffness[s], edge(s), director3(q[s]));
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    e.bend_twist += bend_twist::value(m.joint_stiffness[j], bend_twist::deviation(q[a], q[b], m.joint_rest_rotation[j]));
  }
  return e;
}

EnergyTerms elastic_energy(const Model& m, const std::vector<Vec3d>& x, const std::vector<Quatd>& q) {
  return elastic_terms(m, q, [&](Index s) { return absolute_edge(m, x, s); });
}

Vec3d IncrementalPotential::edge_over_length(const std::vector<Vec3d>& u, Index s) const {
  const auto [a, b] = model_->segment_vertices[s];
  return edge_start_[s] + (1 / model_->segment_rest_length[s]) * (u[b] - u[a]);
}

double IncrementalPotential::position_stiffness(Index s) const {
  const double l = model_->segment_rest_length[s];
  const double alpha = h_ > 0 ? model_->segment_tau_stretch[s] / h_ : 0;
  return model_->segment_alive[s] ? (1 + alpha) * model_->segment_stretch_stiffness[s] / (l * l) : 0;
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
    edge_start_[s] = absolute_edge(m, start.vertex_position, s);
    strain_prev_[s] = stretch_shear::local_strain(edge_start_[s], start.frame_rotation[s]);
  }
  rotation_prev_.resize(m.joint_count());
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    rotation_prev_[j] = conj(start.frame_rotation[a]) * start.frame_rotation[b];
  }
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
  if (h_ > 0) {
    for (Index s = 0; s < m.segment_count(); ++s) {
      if (!m.segment_alive[s] || m.segment_tau_stretch[s] <= 0) continue;
      const Vec3d r = Vec3d{0, 0, 1} + strain_prev_[s];
      const double k = m.segment_stretch_stiffness[s] * m.segment_tau_stretch[s] / h_;
      e.damping += stretch_shear::value(k, edge_over_length(u, s), rotate(q[s], r));
    }
    for (Index j = 0; j < m.joint_count(); ++j) {
      if (!m.joint_alive[j] || m.joint_tau_bend[j] <= 0) continue;
      const auto [a, b] = m.joint_frames[j];
      const double k = m.joint_stiffness[j] * m.joint_tau_bend[j] / h_;
      e.damping += bend_twist::value(k, bend_twist::deviation(q[a], q[b], rotation_prev_[j]));
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
    const double l = m.segment_rest_length[s], k = m.segment_stretch_stiffness[s];
    const Vec3d p = edge_over_length(u, s);
    const auto add = [&](double stiffness, const Vec3d& d) {
      const Vec3d g = (1 / l) * stretch_shear::gradient_p(stiffness, 1.0, p, d);
      gx[b] += g;
      gx[a] -= g;
      gw[s] += stretch_shear::gradient_w(stiffness, p, d);
    };
    add(k, director3(q[s]));
    if (h_ > 0 && m.segment_tau_stretch[s] > 0)
      add(k * m.segment_tau_stretch[s] / h_, rotate(q[s], Vec3d{0, 0, 1} + strain_prev_[s]));
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const Index a = m.joint_frames[j][0], b = m.joint_frames[j][1];
    const auto add = [&](double stiffness, const Quatd& rest) {
      const Vec3d g = bend_twist::gradient_wb(stiffness, bend_twist::deviation(q[a], q[b], rest));
      gw[b] += g;
      gw[a] -= g;
    };
    add(m.joint_stiffness[j], m.joint_rest_rotation[j]);
    if (h_ > 0 && m.joint_tau_bend[j] > 0) add(m.joint_stiffness[j] * m.joint_tau_bend[j] / h_, rotation_prev_[j]);
  }
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
    scale = std::max(scale, m.segment_stretch_stiffness[s] / l * norm(edge_over_length(u, s) - director3(q[s])));
    if (control_->has_torque) scale = std::max(scale, norm(torque(s, q[s])) / l);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Quatd r = bend_twist::deviation(q[a], q[b], m.joint_rest_rotation[j]);
    scale = std::max(scale, norm(bend_twist::gradient_wb(m.joint_stiffness[j], r)) / m.joint_length[j]);
  }
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
