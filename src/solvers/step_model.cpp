#include "solvers/step_model.hpp"

#include <algorithm>

#include "solvers/first_guess.hpp"
#include "solvers/potential.hpp"

namespace osier::systems {

void StepModel::begin(const Model& m, const Control& c, const State& state, double h, const Executor& executor) {
  m_ = &m, c_ = &c, state_ = &state, h_ = h;
  direction_terms(m, c, state, h, directions_);
  direction_start_.assign(directions_.empty() ? 0 : m.segment_count() + 1, 0);
  for (const DirectionTerm& t : directions_) ++direction_start_[t.frame + 1];
  for (std::size_t s = 1; s < direction_start_.size(); ++s) direction_start_[s] += direction_start_[s - 1];
  u.resize(m.vertex_count());
  executor.for_each(u.size(), [&](std::size_t v) {
    if (!m.vertex_alive[v]) u[v] = {};  // in a part of a model the others are nowhere
    else u[v] = c.vertex_fixed[v] ? c.vertex_target[v] - state.vertex_position[v] : h * state.vertex_velocity[v];
  });
  const bool known = q.size() == state.frame_rotation.size();  // frames of the step before
  q.resize(m.frame_count());
  const bool inertia = h > 0 && m.has_inertia();
  executor.for_each(q.size(), [&](std::size_t i) {
    const auto f = static_cast<Index>(i);
    const Quatd last = known ? q[f] : state.frame_rotation[f];
    q[f] = state.frame_rotation[f];
    if (inertia && c.frame_control[f] != FrameControl::fixed) q[f] = guessed_frame(m, c, state, h, f);
    else if (h > 0 && f < m.segment_count() && c.frame_control[f] == FrameControl::free) {
      const Vec3d edge = edge_at_start(f);
      double free;
      q[f] = normalized(carried_turn(edge, edge_since(f), free) * spin_of(turn_between(last, q[f]), edge) * q[f]);
    }
    if (c.frame_control[f] == FrameControl::fixed) q[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q[f] = nearest_on_hinge(q[f], c.frame_target[f], c.frame_hinge_axis[f]);
  });
}

stretch_shear::FoldedSpring<double> StepModel::spring(Index s, const Vec3d& edge_at_start) const {
  const Vec3d k = cast<double>(m_->segment_stiffness[s]);
  if (!(h_ > 0) || !m_->segment_tau[s].any()) return {k, {0, 0, 1}};
  return stretch_shear::folded(k, cast<double>((1 / h_) * m_->segment_tau[s]),
                               stretch_shear::local_strain(edge_at_start, state_->frame_rotation[s]));
}

SegmentAtHand StepModel::segment(Index s) const {
  const Vec3d start = edge_at_start(s);
  const auto spring = this->spring(s, start);
  const Vec3d &k = spring.k, &rest = spring.rest;
  const bool isotropic = k.x == k.y && k.y == k.z;
  const Vec3d edge = start + edge_since(s);
  const Vec3d axis = rest.x == 0 && rest.y == 0 ? rest.z * director3(q[s]) : rotate(q[s], rest), off = edge - axis;
  return {spring, edge, axis, isotropic ? k.x * off : stretch_shear::section_force(k, rotate(conj(q[s]), off), q[s]), isotropic};
}

JointSpring StepModel::joint_spring(Index j) const {
  const auto [a, b] = m_->joint_frames[j];
  const bool damped = h_ > 0 && m_->joint_tau[j].any();
  return {cast<double>(m_->joint_stiffness[j]), damped ? cast<double>((1 / h_) * m_->joint_tau[j]) : Vec3d{},
          m_->joint_rest_rotation[j], damped ? conj(state_->frame_rotation[a]) * state_->frame_rotation[b] : Quatd{}};
}

JointModel StepModel::joint(Index j) const {
  const auto [a, b] = m_->joint_frames[j];
  return joint_model(joint_spring(j), q[a], q[b]);
}

std::span<const DirectionTerm> StepModel::directions(Index s) const {
  if (direction_start_.empty()) return {};
  return std::span(directions_).subspan(direction_start_[s], direction_start_[s + 1] - direction_start_[s]);
}

void StepModel::add_segment_energy(Index s, Energy& e) const {
  if (!m_->segment_alive[s]) return;
  const Vec3d edge = edge_at_start(s);
  const auto k = spring(s, edge);
  e.add(stretch_shear::value(k.k, stretch_shear::strain(edge + edge_since(s), q[s], k.rest)));
  for (const DirectionTerm& t : directions(s)) {
    const Vec3d a = rotate(q[s], t.a);
    e.add(stretch_shear::value(t.k, t.y, a));
    e.magnitude += t.k * norm(t.y - a);  // what rounding of k |y - R a|^2 goes with
  }
}

void StepModel::add_joint_energy(Index j, Energy& e) const {
  if (!m_->joint_alive[j]) return;
  const auto [a, b] = m_->joint_frames[j];
  e.add(joint_energy(joint_spring(j), q[a], q[b]));
}

void StepModel::add_vertex_energy(Index v, Energy& e) const {
  if (c_->vertex_fixed[v] || !m_->vertex_alive[v]) return;
  e.add(0.5 * vertex_weight(v) * norm2(u[v]));
  e.add(-dot(vertex_pull(v), u[v]));
}

Energy StepModel::energy(const Executor& executor) {
  const auto segments = static_cast<std::size_t>(m_->segment_count()), joints = static_cast<std::size_t>(m_->joint_count());
  const std::size_t n = segments + joints + u.size();
  block_energy_.resize((n + kBlock - 1) / kBlock);
  executor.for_each(
      block_energy_.size(),
      [&](std::size_t block) {
        Energy sum;
        for (std::size_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
          if (i < segments) add_segment_energy(static_cast<Index>(i), sum);
          else if (i < segments + joints) add_joint_energy(static_cast<Index>(i - segments), sum);
          else add_vertex_energy(static_cast<Index>(i - segments - joints), sum);
        }
        block_energy_[block] = sum;
      },
      kBlock);
  Energy sum;
  for (const Energy& e : block_energy_) sum += e;
  return sum;
}

std::size_t StepModel::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(directions_) + of(direction_start_) + of(block_energy_) + of(u) +
         q.size() * sizeof(q[0]);  // its array changes places with the state's
}

std::size_t StepModel::bytes(const Model& m) {
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  const auto ns = static_cast<std::size_t>(m.segment_count()), nj = static_cast<std::size_t>(m.joint_count());
  const std::size_t directions = m.has_inertia() ? ns * (3 * sizeof(DirectionTerm) + sizeof(Index)) : 0;
  return nv * sizeof(Vec3d) + nf * sizeof(Quatd) + directions + (ns + nj + nv) / kBlock * sizeof(Energy);
}

}  // namespace osier::systems
