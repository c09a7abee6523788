#include "solvers/step_potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/contact_step.hpp"
#include "energies/inertia.hpp"
#include "energies/torque.hpp"
#include "exec/reduce.hpp"
#include "model/held_axes.hpp"

namespace osier {

void EnergyTerms::operator+=(const EnergyTerms& e) {
  inertia += e.inertia;
  stretch_shear += e.stretch_shear;
  bend_twist += e.bend_twist;
  damping += e.damping;
  torque += e.torque;
  spring += e.spring;
  contact += e.contact;
  magnitude += e.magnitude;
}

namespace {

const Vec3d kAxis3{0, 0, 1};

Vec3d strain(const Vec3d& edge, const Quatd& q) { return stretch_shear::strain(edge, q, kAxis3); }

/// Adds an energy to one of the terms and its size to the magnitude.
void add(EnergyTerms& e, double EnergyTerms::*term, double energy) {
  e.*term += energy;
  e.magnitude += std::abs(energy);
}

}  // namespace

EnergyTerms elastic_energy(const Model& m, const std::vector<Vec3d>& x, const std::vector<Quatd>& q) {
  EnergyTerms e;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s])
      add(e, &EnergyTerms::stretch_shear,
          stretch_shear::value(cast<double>(m.segment_stiffness[s]), strain(edge_over_length(m, x, s), q[s])));
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const JointSpring spring{cast<double>(m.joint_stiffness[j]), {}, m.joint_rest_rotation[j], {}};
    add(e, &EnergyTerms::bend_twist, elastic_energy(spring, conj(q[a]) * q[b]));
  }
  return e;
}

SegmentHessian segment_hessian(const Vec3d& k, double l, const Vec3d& p, const Quatd& q, const Vec3d& n) {
  const Mat3<double> C = rotated_diagonal(rotation_matrix(q), k);
  return {(1 / (l * l)) * C, (1 / l) * stretch_shear::hessian_pw(C, p, n), stretch_shear::hessian_ww(C, p, n)};
}

vertex_spring::Terms<double> elastic_terms(const Spring& s) {
  using vertex_spring::Law;
  vertex_spring::Terms<double> terms;
  terms.law = s.along_axis ? Law::one_direction : s.rest_length > 0 ? Law::length : Law::all_directions;
  terms.k = s.stiffness;
  terms.rest = s.rest_length;
  terms.axis = s.axis;
  return terms;
}

void StepPotential::begin(const Model& m, const Control& c, const State& start, double h, const Subset* subset) {
  m_ = &m;
  c_ = &c;
  start_ = &start;
  h_ = h;
  subset_ = subset;
  contact_ = nullptr;
  most_stiffness_.clear();
  if (!subset) all_ = whole_of(m);
  direction_terms(m, c, start, h, directions_);
  direction_start_.assign(directions_.empty() ? 0 : m.segment_count() + 1, 0);
  for (const DirectionTerm& t : directions_) ++direction_start_[t.frame + 1];
  for (std::size_t s = 1; s < direction_start_.size(); ++s) direction_start_[s] += direction_start_[s - 1];
  set_torque_point(start.frame_rotation);
  list_springs();
}

/// A spring between two parts is in neither: parts are chosen so that there is none.
void StepPotential::list_springs() {
  springs_.clear();
  for (std::size_t i = 0; i < c_->springs.size(); ++i) {
    const Spring& s = c_->springs[i];
    const auto takes_part = [&](Index v) { return m_->vertex_alive[v] && (!subset_ || subset_->has_vertex(*m_, v)); };
    if (takes_part(s.a) && (s.b < 0 || takes_part(s.b))) springs_.push_back(static_cast<Index>(i));
  }
}

SpringAtHand StepPotential::spring_at(const Unknowns& z, Index spring) const {
  const Spring& s = c_->springs[static_cast<std::size_t>(spring)];
  const std::vector<Vec3d>& x = start_->vertex_position;
  SpringAtHand here{.a = s.a, .b = s.b, .terms = elastic_terms(s), .d = {}};
  here.terms.damping = h_ > 0 ? s.damping / h_ : 0;
  const Vec3d at_start = (s.b < 0 ? s.anchor : x[s.b]) - x[s.a];
  here.terms.start = s.b < 0 ? at_start - h_ * s.anchor_velocity : at_start;
  here.d = at_start + (s.b < 0 ? Vec3d{} : z.u[s.b]) - z.u[s.a];
  return here;
}

void StepPotential::add_spring(const Unknowns& z, Index spring, EnergyTerms& e) const {
  const SpringAtHand s = spring_at(z, spring);
  add(e, &EnergyTerms::spring, vertex_spring::elastic_value(s.terms, s.d));
  add(e, &EnergyTerms::damping, vertex_spring::viscous_value(s.terms, s.d));
}

void StepPotential::set_torque_point(const std::vector<Quatd>& q) {
  if (c_->has_torque) torque_point_ = q;
}

double StepPotential::vertex_weight(Index v) const {
  return h_ > 0 ? inertia::weight(m_->vertex_mass[v], c_->vertex_damping[v], h_) : 0;
}

Vec3d StepPotential::vertex_force(Index v) const {
  return h_ > 0 ? inertia::force(c_->vertex_force[v], m_->vertex_mass[v], start_->vertex_velocity[v], h_) : c_->vertex_force[v];
}

Vec3d StepPotential::torque(Index frame, const Quatd& q) const {
  if (!c_->has_torque) return {};
  return torque::total(c_->frame_torque[frame], c_->frame_torque_material[frame], q);
}

stretch_shear::FoldedSpring<double> StepPotential::spring(Index s, const Vec3d& edge_at_start) const {
  const Vec3d k = cast<double>(m_->segment_stiffness[s]);
  if (!(h_ > 0) || !m_->segment_tau[s].any()) return {k, kAxis3};
  return stretch_shear::folded(k, cast<double>((1 / h_) * m_->segment_tau[s]),
                               stretch_shear::local_strain(edge_at_start, start_->frame_rotation[s]));
}

SegmentAtHand StepPotential::segment(const Unknowns& z, Index s) const {
  const Vec3d start = edge_at_start(s);
  const stretch_shear::FoldedSpring<double> spring = this->spring(s, start);
  const Vec3d &k = spring.k, &rest = spring.rest;
  const bool isotropic = k.x == k.y && k.y == k.z;
  const Vec3d edge = start + edge_over_length(*m_, z.u, s);
  const Vec3d axis = rest.x == 0 && rest.y == 0 ? rest.z * director3(z.q[s]) : rotate(z.q[s], rest);
  Vec3d off = edge - axis;
  if (!z.lost_edge.empty()) off += z.lost_edge[s];
  const Vec3d section = isotropic ? k.x * off : stretch_shear::section_force(k, rotate(conj(z.q[s]), off), z.q[s]);
  return {spring, edge, axis, section, isotropic};
}

JointSpring StepPotential::joint_spring(Index j) const {
  const auto [a, b] = m_->joint_frames[j];
  const bool damped = h_ > 0 && m_->joint_tau[j].any();
  return {cast<double>(m_->joint_stiffness[j]), damped ? cast<double>((1 / h_) * m_->joint_tau[j]) : Vec3d{},
          m_->joint_rest_rotation[j], damped ? conj(start_->frame_rotation[a]) * start_->frame_rotation[b] : Quatd{}};
}

std::span<const DirectionTerm> StepPotential::directions(Index s) const {
  if (direction_start_.empty()) return {};
  return std::span(directions_).subspan(direction_start_[s], direction_start_[s + 1] - direction_start_[s]);
}

PerAxis StepPotential::position_stiffness(Index s) const {
  const double l = m_->segment_rest_length[s];
  if (!m_->segment_alive[s]) return {};
  const PerAxis elastic = (1 / (l * l)) * m_->segment_stiffness[s];
  return h_ > 0 ? elastic + (1 / h_) * (elastic * m_->segment_tau[s]) : elastic;
}

PerAxis StepPotential::limited_position_stiffness(Index s) const {
  PerAxis k = position_stiffness(s);
  const double l = m_->segment_rest_length[s], most = stiffness_limit(s) / (l * l);
  k.d1 = std::min(k.d1, most), k.d2 = std::min(k.d2, most), k.d3 = std::min(k.d3, most);
  return k;
}

void StepPotential::add_segment(const Unknowns& z, Index s, EnergyTerms& e) const {
  if (!m_->segment_alive[s]) return;
  const Vec3d start = edge_at_start(s), edge = start + edge_over_length(*m_, z.u, s);
  Vec3d strained = strain(edge, z.q[s]);
  if (!z.lost_edge.empty()) strained += rotate(conj(z.q[s]), z.lost_edge[s]);
  add(e, &EnergyTerms::stretch_shear, stretch_shear::value(cast<double>(m_->segment_stiffness[s]), strained));
  if (h_ > 0 && m_->segment_tau[s].any()) {
    const Vec3d k = cast<double>((1 / h_) * (m_->segment_stiffness[s] * m_->segment_tau[s]));
    const Vec3d rest = kAxis3 + stretch_shear::local_strain(start, start_->frame_rotation[s]);
    strained = stretch_shear::strain(edge, z.q[s], rest);
    if (!z.lost_edge.empty()) strained += rotate(conj(z.q[s]), z.lost_edge[s]);
    add(e, &EnergyTerms::damping, stretch_shear::value(k, strained));
  }
  for (const DirectionTerm& t : directions(s)) {
    const Vec3d a = rotate(z.q[s], t.a);
    add(e, &EnergyTerms::inertia, stretch_shear::value(t.k, t.y, a));
    e.magnitude += t.k * norm(t.y - a);  // rounding of y - R a, which is of order one
  }
  if (c_->has_torque) {
    const Quatd& point = torque_point_[s];
    add(e, &EnergyTerms::torque, -dot(torque(s, point), rotation_log(z.q[s] * conj(point))));
  }
}

void StepPotential::add_joint(const Unknowns& z, Index j, EnergyTerms& e) const {
  if (!m_->joint_alive[j]) return;
  const auto [a, b] = m_->joint_frames[j];
  const JointSpring spring = joint_spring(j);
  const Quatd r = conj(z.q[a]) * z.q[b];
  add(e, &EnergyTerms::bend_twist, elastic_energy(spring, r));
  add(e, &EnergyTerms::damping, viscous_energy(spring, r));
}

void StepPotential::add_vertex(const Unknowns& z, Index v, EnergyTerms& e) const {
  if (c_->vertex_fixed[v] || !m_->vertex_alive[v]) return;
  add(e, &EnergyTerms::inertia, 0.5 * vertex_weight(v) * norm2(z.u[v]));
  add(e, &EnergyTerms::inertia, -dot(vertex_force(v), z.u[v]));
}

EnergyTerms StepPotential::value(const Unknowns& z, const Executor* executor) const {
  const IndexList &segments = subset().segments, &joints = subset().joints, &vertices = subset().vertices;
  const std::size_t n = segments.size() + joints.size() + vertices.size();
  block_.resize(blocks_of(n, kBlock));
  const auto of_range = [&](std::size_t begin, std::size_t end) {
    EnergyTerms sum;
    for (std::size_t i = begin; i < end; ++i) {
      if (i < segments.size()) add_segment(z, segments[i], sum);
      else if (i < segments.size() + joints.size()) add_joint(z, joints[i - segments.size()], sum);
      else add_vertex(z, vertices[i - segments.size() - joints.size()], sum);
    }
    return sum;
  };
  static const Executor alone(1);
  EnergyTerms all = reduce_ranges(executor ? *executor : alone, n, kBlock, block_.data(), of_range,
                                  [](EnergyTerms& sum, const EnergyTerms& e) { sum += e; });
  for (const Index s : springs_) add_spring(z, s, all);
  if (contact_) add(all, &EnergyTerms::contact, contact_->value(z.u));
  return all;
}

void StepPotential::gradient(const Unknowns& z, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw, const Executor* executor) const {
  gradient_of_rods(z, gx, gw, executor);
  if (contact_) contact_->add_gradient(gx);
}

/// Elements first, then every vertex and frame gathers the forces and moments of its elements: no two threads meet.
void StepPotential::gradient_of_rods(const Unknowns& z, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw,
                                     const Executor* executor) const {
  static const Executor alone(1);
  const Executor& threads = executor ? *executor : alone;
  const Model& m = *m_;
  const Subset& part = subset();
  gx.resize(m.vertex_count());
  gw.resize(m.frame_count());
  if (!part.is_whole()) std::fill(gx.begin(), gx.end(), Vec3d{}), std::fill(gw.begin(), gw.end(), Vec3d{});
  section_.resize(m.segment_count());
  moment_.resize(m.joint_count());
  const std::size_t segments = part.segments.size();
  threads.for_each(segments + part.joints.size(), [&](std::size_t i) {
    if (i < segments) {
      const Index s = part.segments[i];
      gw[s] = {};
      if (!m.segment_alive[s]) return;
      const SegmentAtHand here = segment(z, s);
      section_[s] = (1 / m.segment_rest_length[s]) * here.section;
      gw[s] = stretch_shear::gradient_w(here.section, here.edge);
      return;
    }
    const Index j = part.joints[i - segments];
    if (!m.joint_alive[j]) return;
    const auto [a, b] = m.joint_frames[j];
    moment_[j] = rotate(z.q[a], moment(joint_spring(j), conj(z.q[a]) * z.q[b]));
  });
  const std::size_t vertices = part.vertices.size();
  threads.for_each(vertices + part.frames.size(), [&](std::size_t i) {
    if (i < vertices) {
      const Index v = part.vertices[i];
      Vec3d sum = vertex_weight(v) * z.u[v] - vertex_force(v);
      for (const Index e : m.vertex_segments.of(v))
        if (part.has_segment(m, e / 2)) sum += e % 2 == 0 ? -section_[e / 2] : section_[e / 2];
      gx[v] = sum;
      return;
    }
    const Index f = part.frames[i - vertices];
    Vec3d sum = m.is_anchor(f) ? Vec3d{} : gw[f];
    for (const Index e : m.frame_joints.of(f))
      if (part.has_joint(m, e / 2)) sum += e % 2 == 0 ? -moment_[e / 2] : moment_[e / 2];
    if (!m.is_anchor(f))
      for (const DirectionTerm& t : directions(f)) sum += stretch_shear::gradient_w(t.k, t.y, rotate(z.q[f], t.a));
    if (c_->has_torque && (part.is_whole() || !m.is_anchor(f))) sum -= torque(f, z.q[f]);
    gw[f] = sum;
  });
  for (const Index i : springs_) {
    const SpringAtHand s = spring_at(z, i);
    const Vec3d pull = vertex_spring::gradient(s.terms, s.d);
    gx[s.a] -= pull;
    if (s.b >= 0) gx[s.b] += pull;
  }
}

SegmentHessian StepPotential::segment_hessian(const Unknowns& z, Index s) const {
  const SegmentAtHand here = segment(z, s);
  const double most = stiffness_limit(s);
  const Vec3d& k = here.spring.k;
  return osier::segment_hessian({std::min(k.x, most), std::min(k.y, most), std::min(k.z, most)}, m_->segment_rest_length[s],
                                here.edge, z.q[s], here.section);
}

JointHessian StepPotential::joint_hessian(const std::vector<Quatd>& q, Index j) const {
  const auto [a, b] = m_->joint_frames[j];
  const JointSpring spring = joint_spring(j);
  const Quatd r = conj(q[a]) * q[b];
  const Mat3<double> R = rotation_matrix(q[a]);
  return {R * osier::hessian(spring, r) * transposed(R), rotate(q[a], moment(spring, r))};
}

double StepPotential::force_scale(const Unknowns& z) const {
  const Model& m = *m_;
  double scale = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (c_->vertex_fixed[v] || !m.vertex_alive[v]) continue;
    scale = std::max({scale, norm(c_->vertex_force[v]), vertex_weight(v) * norm(z.u[v]), norm(vertex_force(v))});
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const double l = m.segment_rest_length[s];
    const Vec3d k = cast<double>(m.segment_stiffness[s]);
    Vec3d strained = strain(edge_at_start(s) + edge_over_length(m, z.u, s), z.q[s]);
    if (!z.lost_edge.empty()) strained += rotate(conj(z.q[s]), z.lost_edge[s]);
    scale = std::max(scale, norm(times(k, strained)) / l);
    if (c_->has_torque) scale = std::max(scale, norm(torque(s, z.q[s])) / l);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const JointSpring elastic{cast<double>(m.joint_stiffness[j]), {}, m.joint_rest_rotation[j], {}};
    scale = std::max(scale, norm(moment(elastic, conj(z.q[a]) * z.q[b])) / m.joint_length[j]);
  }
  for (const DirectionTerm& t : directions_) scale = std::max(scale, t.scale / m.segment_rest_length[t.frame]);
  for (const Index i : springs_) {
    const SpringAtHand s = spring_at(z, i);
    scale = std::max(scale, norm(vertex_spring::gradient(s.terms, s.d)));
  }
  return scale;
}

/// Whether nothing acts and nothing has moved, so that all forces are rounding errors of strains.
bool StepPotential::is_at_rest(const Unknowns& z, double force_scale) const {
  constexpr double kDigits = 8 * std::numeric_limits<double>::epsilon();
  const Model& m = *m_;
  double stiffest = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const double l = m.segment_rest_length[s];
    stiffest = std::max(stiffest, position_stiffness(s).largest() * l);
    if (c_->has_torque && norm2(torque(s, z.q[s])) > 0) return false;
    for (const Index v : m.segment_vertices[s])
      if (norm2(c_->vertex_force[v]) > 0 || norm(z.u[v]) > kDigits * l) return false;
  }
  return springs_.empty() && force_scale <= kDigits * stiffest;
}

double StepPotential::rounding_floor(const Unknowns& z, double force_scale) const {
  const Model& m = *m_;
  constexpr double kRoundings = 256 * std::numeric_limits<double>::epsilon();
  double edges = 0, motion = 0;                                // edges and directors are of order one, displacements of order u
  if (!z.lost_edge.empty()) edges = kRoundings * force_scale;  // forces in segments are exact then
  if (is_static() && is_at_rest(z, force_scale)) edges = force_scale;
  for (Index s = 0; s < m.segment_count() && z.lost_edge.empty(); ++s) {
    const auto [a, b] = m.segment_vertices[s];
    const double k = kRoundings * position_stiffness(s).largest();
    edges = std::max(edges, k * m.segment_rest_length[s]);
    motion = std::max(motion, k * std::max(norm(z.u[a]), norm(z.u[b])));
  }
  for (Index j = 0; j < m.joint_count(); ++j)
    if (m.joint_alive[j]) edges = std::max(edges, kRoundings * m.joint_stiffness[j].largest() / m.joint_length[j]);
  for (const DirectionTerm& t : directions_) edges = std::max(edges, kRoundings * t.k / m.segment_rest_length[t.frame]);
  for (const Index i : springs_) {
    const Spring& s = c_->springs[static_cast<std::size_t>(i)];
    const double k = s.stiffness + (h_ > 0 ? s.damping / h_ : 0);
    edges = std::max(edges, kRoundings * k * norm(start_->vertex_position[s.a]));
  }
  // Motion is no excuse for what is no equilibrium at all: a piece that flies away raises its own noise.
  return edges + std::min(motion, (is_static() ? 1e-6 : 1e-3) * force_scale);
}

StepPotential::Residual StepPotential::residual(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw) const {
  const Model& m = *m_;
  Residual r;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (c_->vertex_fixed[v] || !m.vertex_alive[v]) continue;
    const HeldAxes* held = held_axes_of(*c_, v);
    const double size = norm(held ? across(*held, gx[v]) : gx[v]);
    if (!(size <= r.value)) r = {.value = size, .vertex = v, .segment = -1};
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c_->frame_control[s] == FrameControl::fixed) continue;
    const bool hinged = c_->frame_control[s] == FrameControl::hinged;
    const double moment = hinged ? std::abs(dot(gw[s], c_->frame_hinge_axis[s])) : norm(gw[s]);
    const double size = moment / m.segment_rest_length[s];
    if (!(size <= r.value)) r = {.value = size, .vertex = -1, .segment = s};
  }
  return r;
}

std::size_t StepPotential::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(directions_) + of(direction_start_) + of(torque_point_) + of(block_) + all_.bytes();
}

std::size_t StepPotential::bytes(const Model& m) {
  const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count()),
             nj = static_cast<std::size_t>(m.joint_count());
  const std::size_t directions = m.has_inertia() ? ns * (3 * sizeof(DirectionTerm) + sizeof(Index)) : 0;
  return directions + (ns + nj + nv) / kBlock * sizeof(EnergyTerms);
}

}  // namespace osier
