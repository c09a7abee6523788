#include "solvers/systems/tree/tree_system.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/newton/newton.hpp"

namespace osier::systems {

namespace {

Vec3d inverse(const Vec3d& k) { return {1 / k.x, 1 / k.y, 1 / k.z}; }

}  // namespace

/// The joint of a child frame to its parent: the spring K, Q, and what is left for either frame alone.
struct TreeSystem::JointSplit {
  Mat3<double> axes;
  Vec3d stiffness;
  bool isotropic;
  Mat3<double> Q, child, parent;
};

bool TreeSystem::suits(const Model& m, const Control& c) {
  for (Index s = 0; s < m.segment_count(); ++s) {
    const PerAxis& k = m.segment_stiffness[s];
    if (m.segment_alive[s] && c.frame_control[s] != FrameControl::fixed && !(std::min({k.d1, k.d2, k.d3}) > 1e-9 * k.largest()))
      return false;
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    const PerAxis& k = m.joint_stiffness[j];
    if (m.joint_alive[j] && !(std::min({k.d1, k.d2, k.d3}) > 1e-9 * k.largest())) return false;
  }
  // Ten times a chain's work is what the sparse factor costs.
  constexpr double kMost = 10;
  const std::optional<Tree> tree =
      build_tree_within(m, c, kMost * TreePlan::kWorkOfLink / TreePlan::kWorkOfColumn * m.segment_count());
  if (!tree) return false;
  const TreePlan plan = tree->plan();
  return plan.work() <= kMost * TreePlan::kWorkOfLink * std::max(1, plan.node_count());
}

void TreeSystem::forget() {
  built_control_.clear();
  sparse_.forget();
}

/// The tree depends on what is held.
void TreeSystem::build(const Model& m, const Control& c) {
  if (!built_control_.empty() && built_fixed_ == c.vertex_fixed && built_control_ == c.frame_control) return;
  built_fixed_ = c.vertex_fixed;
  built_control_ = c.frame_control;
  tree_ = build_tree(m, c);
  links_.assign(tree_.nodes.size(), {});
  roots_.assign(tree_.roots.size(), {});
  rows_.assign(tree_.rows.size(), {});
  reframe_.resize(tree_.nodes.size()), local_.resize(tree_.nodes.size());
  const auto nodes = static_cast<Index>(tree_.nodes.size());
  node_of_segment_.assign(m.segment_count(), -1);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    (n.parent < nodes ? links_[i].parent : links_[i].root) = n.parent < nodes ? n.parent : n.parent - nodes;
    node_of_segment_[n.segment] = static_cast<Index>(i);
    const bool one_stretch = m.segment_stiffness[n.segment].uniform() && m.segment_tau[n.segment].uniform();
    links_[i].world_axes = one_stretch && (n.joint < 0 || m.joint_stiffness[n.joint].uniform());
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const TreeRow& row = tree_.rows[i];
    rows_[i].end[0].node = row.node;
    (row.other < nodes ? rows_[i].end[1].node : rows_[i].end[1].root) = row.other < nodes ? row.other : row.other - nodes;
  }
  factor_.plan(links_, static_cast<int>(roots_.size()), rows_);
}

void TreeSystem::bind(const Model& m, const Control& c) {
  m_ = &m, c_ = &c;
  sparse_.bind(m, c);
  build(m, c);
}

void TreeSystem::add_parent(Index frame, const Mat3<double>& block) {
  if (m_->is_anchor(frame)) return;
  Mat3<double>& to = local_[static_cast<std::size_t>(node_of_segment_[frame])];
  to = to + block;
}

TreeSystem::JointSplit TreeSystem::split(Index j, Index child) const {
  const auto [a, b] = m_->joint_frames[j];
  const JointHessian& h = joint_[static_cast<std::size_t>(j)];
  const PerAxis& k = m_->joint_stiffness[j];
  JointSplit s;
  s.isotropic = k.uniform();
  s.axes = s.isotropic ? identity3(1.0) : rotation_matrix(normalized((*q_)[a] * half_rotation(conj((*q_)[a]) * (*q_)[b])));
  s.stiffness = 0.25 * cast<double>(k);
  const Mat3<double> K = s.isotropic ? identity3(s.stiffness.x) : rotated_diagonal(s.axes, s.stiffness);
  const Index parent = child == b ? a : b;
  const Mat3<double> across = child == b ? h.first_second() : transposed(h.first_second());
  const bool still = m_->is_anchor(parent) || c_->frame_control[parent] == FrameControl::fixed ||
                     c_->frame_control[child] == FrameControl::fixed;
  s.parent = h.same + -1.0 * K;
  if (still) {
    s.Q = identity3(1.0);
    s.child = s.parent;
    return s;
  }
  const Mat3<double> soft = s.isotropic ? identity3(1 / s.stiffness.x) : rotated_diagonal(s.axes, inverse(s.stiffness));
  s.Q = -1.0 * (soft * across);
  s.child = h.same + transposed(s.Q) * across;  // K Q = -across
  return s;
}

void TreeSystem::assemble(const IncrementalPotential& potential, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) {
  potential_ = &potential, u_ = &u, q_ = &q;
  sparse_ready_ = false;
  const Model& m = *m_;
  segment_.resize(m.segment_count());
  joint_.resize(m.joint_count());
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) segment_[s] = potential.segment_hessian(u, q, s);
  for (Index j = 0; j < m.joint_count(); ++j)
    if (m.joint_alive[j]) joint_[j] = potential.joint_hessian(q, j);
  frame_.assign(m.segment_count(), {});
  for (const DirectionTerm& t : potential.directions())
    frame_[t.frame] = frame_[t.frame] + stretch_shear::hessian_ww(t.k, t.y, rotate(q[t.frame], t.a));

  std::fill(local_.begin(), local_.end(), Mat3<double>{});
  for (std::size_t i = 0; i < links_.size(); ++i) assemble_node(i);
  for (std::size_t i = 0; i < rows_.size(); ++i) assemble_row(i);
  for (const auto& [node, joint] : tree_.local_joints) local_[node] = local_[node] + joint_[joint].same;
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r].held = c_->vertex_fixed[tree_.roots[r]] != 0;
}

void TreeSystem::assemble_node(std::size_t i) {
  const TreeNode& n = tree_.nodes[i];
  const Index s = n.segment;
  const Quatd& q = (*q_)[s];
  const SegmentHessian& h = segment_[s];
  const PerAxis k = potential_->position_stiffness(s);
  const Vec3d stiffness = cast<double>(k);
  const double sign = n.near_vertex == m_->segment_vertices[s][0] ? 1 : -1;
  Link<double>& l = links_[i];
  l.arm = (sign * m_->segment_rest_length[s]) * director3(q);
  l.x_compliance = inverse(stiffness);
  l.w_compliance = {kLoose<double>, kLoose<double>, kLoose<double>};
  Mat3<double> A = skew(l.arm), Q = identity3(1.0), w_axes = identity3(1.0);
  local_[i] = local_[i] + frame_[s];
  if (c_->frame_control[s] != FrameControl::fixed) {
    A = sign * ((k.uniform() ? identity3(1 / k.d3) : rotated_diagonal(rotation_matrix(q), inverse(stiffness))) * h.xw);
    local_[i] = local_[i] + h.ww + -1.0 * (sign * (transposed(A) * h.xw));  // A'xx A = sign A'xw
  }
  if (n.joint >= 0) {
    const auto [a, b] = m_->joint_frames[n.joint];
    const JointSplit joint = split(n.joint, s);
    w_axes = joint.axes;
    l.w_compliance = inverse(joint.stiffness);
    Q = joint.Q;
    local_[i] = local_[i] + joint.child;
    add_parent(b == s ? a : b, joint.parent);
  }
  if (!l.world_axes) l.x_axes = rotation_matrix(q), l.w_axes = w_axes;
  const Mat3<double> P = inverse3(Q);
  reframe_[i] = {P, (A + -1.0 * (skew(l.arm) * Q)) * P};
}

void TreeSystem::assemble_row(std::size_t i) {
  const TreeRow& row = tree_.rows[i];
  Row<double>& r = rows_[i];
  const Index s = tree_.nodes[row.node].segment;
  const auto tie = [&](const Vec3d& x, const Vec3d& w) {
    r.end[0].direction = {x, w};
    r.end[1].direction = {-x, -w};
  };
  const Vec3d unit{row.axis == 0 ? 1.0 : 0.0, row.axis == 1 ? 1.0 : 0.0, row.axis == 2 ? 1.0 : 0.0};
  switch (row.kind) {
    case TreeRow::Kind::hold_vertex:
    case TreeRow::Kind::close_segment:
      tie(rotate((*q_)[s], unit), {});
      break;
    case TreeRow::Kind::hold_frame:
      tie({}, unit);
      break;
    case TreeRow::Kind::hinge_frame:  // axes 1 and 2 of the row are across the hinge
      tie({}, rotate(rotation_between(Vec3d{1, 0, 0}, c_->frame_hinge_axis[s]), unit));
      break;
    case TreeRow::Kind::close_joint: {
      const JointSplit joint = split(row.joint, s);
      const Vec3d axis = column(joint.axes, row.axis);
      r.end[0].direction = {{}, transposed_times(joint.Q, axis)};
      r.end[1].direction = {{}, -axis};
      r.compliance = 1 / component(joint.stiffness, row.axis);
      if (row.axis > 0) break;
      local_[row.node] = local_[row.node] + joint.child;
      local_[row.other] = local_[row.other] + joint.parent;
      break;
    }
  }
}

Signature TreeSystem::factorise(const Shift& shift) {
  shift_ = shift;
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    const Index v = tree_.roots[r];
    roots_[r].stiffness = identity3(potential_->inertia_weight(v) + shift.of_vertex(*m_, v));
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    Sym6<double>& load = links_[i].load_stiffness;
    load.xx = n.far_vertex >= 0 && !c_->vertex_fixed[n.far_vertex]
                  ? identity3(potential_->inertia_weight(n.far_vertex) + shift.of_vertex(*m_, n.far_vertex))
                  : Mat3<double>{};
    const double alone = n.joint < 0 ? next_to_nothing(links_[i].arm, links_[i].x_compliance) : 0;
    load.ww = local_[i] + identity3(alone + shift.of_frame(*m_, n.segment));
  }
  factor_.factor_signed(links_, roots_, rows_, reframe_);
  const auto pivots = factor_.count_pivots();
  return {.negative = pivots.negative, .definite = pivots.negative == 0 && pivots.null == 0};
}

void TreeSystem::clear(Field& f) const {
  f.x.assign(m_->vertex_count(), {});
  f.w.assign(m_->frame_count(), {});
}

/// Nothing on what is held.
void TreeSystem::keep_free(Field& f) const {
  for (Index v = 0; v < m_->vertex_count(); ++v)
    if (c_->vertex_fixed[v] || !m_->vertex_alive[v]) f.x[v] = {};
  for (Index s = 0; s < m_->frame_count(); ++s) {
    if (m_->is_anchor(s) || !m_->segment_alive[s] || c_->frame_control[s] == FrameControl::fixed) f.w[s] = {};
    else if (c_->frame_control[s] == FrameControl::hinged)
      f.w[s] = dot(c_->frame_hinge_axis[s], f.w[s]) * c_->frame_hinge_axis[s];
  }
}

/// Of forces, couples by their segment's length.
double TreeSystem::size(const Field& f) const {
  double sum = 0;
  for (const Vec3d& x : f.x) sum += norm2(x);
  for (Index s = 0; s < m_->segment_count(); ++s)
    sum += norm2(f.w[s]) / (m_->segment_rest_length[s] * m_->segment_rest_length[s]);
  return std::sqrt(sum);
}

void TreeSystem::by_recursion(const Field& force, Field& out) {
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r].force = force.x[tree_.roots[r]];
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    links_[i].force = {n.far_vertex >= 0 ? force.x[n.far_vertex] : Vec3d{}, force.w[n.segment]};
  }
  factor_.solve(links_, roots_, rows_);
  clear(out);
  for (std::size_t r = 0; r < roots_.size(); ++r) out.x[tree_.roots[r]] = factor_.root_displacement()[r];
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    if (n.far_vertex >= 0) out.x[n.far_vertex] = factor_.displacement()[i].x;
    out.w[n.segment] = factor_.displacement()[i].w;
  }
  keep_free(out);
}

void TreeSystem::apply(const Field& d, const std::vector<Vec3d>* turn, Field& out) const {
  const Model& m = *m_;
  clear(out);
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) out.x[v] = (potential_->inertia_weight(v) + shift_.of_vertex(m, v)) * d.x[v];
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const SegmentHessian& h = segment_[s];
    const Vec3d along = d.x[b] - d.x[a], force = h.xx * along + h.xw * d.w[s];
    out.x[b] += force;
    out.x[a] -= force;
    out.w[s] += transposed_times(h.xw, along) + h.ww * d.w[s] + frame_[s] * d.w[s] + shift_.of_frame(m, s) * d.w[s];
    if (turn) out.w[s] += cross((*turn)[s], d.w[s]);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const JointHessian& h = joint_[j];
    const Vec3d difference = h.same * (d.w[b] - d.w[a]);
    out.w[b] += difference + cross(-0.5 * h.gradient, d.w[a]);
    out.w[a] -= difference - cross(0.5 * h.gradient, d.w[b]);
  }
  keep_free(out);
}

/// By the recursion, corrected by what is left over. False if that does not become small.
bool TreeSystem::refined(const Field& force, Field& out) {
  by_recursion(force, out);
  const double whole = size(force);
  double before = whole;
  for (int i = 0; i < 4; ++i) {
    apply(out, nullptr, left_);
    for (std::size_t v = 0; v < left_.x.size(); ++v) left_.x[v] = force.x[v] - left_.x[v];
    for (std::size_t f = 0; f < left_.w.size(); ++f) left_.w[f] = force.w[f] - left_.w[f];
    const double left = size(left_);
    if (left <= 1e-9 * whole) return true;
    if (!(left < 0.5 * before)) return left <= 1e-6 * whole;
    before = left;
    by_recursion(left_, more_);
    for (std::size_t v = 0; v < out.x.size(); ++v) out.x[v] += more_.x[v];
    for (std::size_t f = 0; f < out.w.size(); ++f) out.w[f] += more_.w[f];
  }
  return before <= 1e-6 * whole;
}

SparseSystem& TreeSystem::sparse() {
  if (!sparse_ready_) sparse_.assemble(*potential_, *u_, *q_);
  sparse_ready_ = true;
  ++sparse_solves_;
  return sparse_;
}

bool TreeSystem::solve(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, Direction& d) {
  force_ = {gx, gw};
  for (Vec3d& f : force_.x) f = -f;
  for (Vec3d& f : force_.w) f = -f;
  keep_free(force_);
  if (refined(force_, d)) return true;
  SparseSystem& other = sparse();
  return other.factorise(shift_).definite && other.solve(gx, gw, d);
}

/// GMRES on (H + [turn]x) H^-1: as many iterations as the skew blocks have rank, at most; few of them matter.
bool TreeSystem::solve_skew(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, const std::vector<Vec3d>& turn,
                            Direction& d) {
  constexpr int kMost = 24;
  constexpr double kEnough = 1e-8;
  factorise({});
  std::vector<Field> basis, preconditioned;
  std::vector<std::vector<double>> columns;  // of the triangular factor
  std::vector<double> cosine, sine, rhs;
  const auto dot_of = [&](const Field& a, const Field& b) {
    double sum = 0;
    for (std::size_t v = 0; v < a.x.size(); ++v) sum += dot(a.x[v], b.x[v]);
    for (Index s = 0; s < m_->segment_count(); ++s)
      sum += dot(a.w[s], b.w[s]) / (m_->segment_rest_length[s] * m_->segment_rest_length[s]);
    return sum;
  };
  const auto add = [](Field& a, double t, const Field& b) {
    for (std::size_t v = 0; v < a.x.size(); ++v) a.x[v] += t * b.x[v];
    for (std::size_t f = 0; f < a.w.size(); ++f) a.w[f] += t * b.w[f];
  };
  force_ = {gx, gw};
  keep_free(force_);
  const double whole = size(force_);
  clear(d);
  if (whole == 0) return true;
  Field first = force_;
  clear(force_);
  add(force_, -1 / whole, first);
  basis.push_back(force_);
  rhs.push_back(whole);
  bool done = false;
  for (int k = 0; k < kMost && !done; ++k) {
    Field z, next;
    by_recursion(basis.back(), z);
    apply(z, &turn, next);
    if (!std::isfinite(size(next))) break;
    preconditioned.push_back(std::move(z));
    std::vector<double> h;
    for (const Field& v : basis) {
      h.push_back(dot_of(v, next));
      add(next, -h.back(), v);
    }
    double length = size(next);
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double upper = cosine[i] * h[i] + sine[i] * h[i + 1];
      h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i];
      h[i] = upper;
    }
    const double radius = std::hypot(h.back(), length);
    if (!(radius > 0)) break;
    cosine.push_back(h.back() / radius), sine.push_back(length / radius);
    h.back() = radius;
    columns.push_back(h);
    rhs.push_back(-sine.back() * rhs.back());
    rhs[rhs.size() - 2] *= cosine.back();
    done = std::abs(rhs.back()) <= kEnough * whole;
    Field unit;
    clear(unit);
    if (!done) add(unit, 1 / length, next), basis.push_back(std::move(unit));
  }
  if (!done) {
    SparseSystem& other = sparse();
    return other.solve_skew(gx, gw, turn, d);
  }
  for (std::size_t i = columns.size(); i-- > 0;) {
    double t = rhs[i];
    for (std::size_t k = i + 1; k < columns.size(); ++k) t -= columns[k][i] * rhs[k];
    rhs[i] = t / columns[i][i];
    add(d, rhs[i], preconditioned[i]);
  }
  return std::isfinite(size(d));
}

std::unique_ptr<Solver> make_statics(const Model& m, const Control& c) {
  const newton::Settings settings;
  return TreeSystem::suits(m, c) ? newton::make_solver(settings, std::make_unique<TreeSystem>()) : settings.make(m);
}

}  // namespace osier::systems
