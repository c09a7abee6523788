#include "solvers/systems/tree/tree_system.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/gmres.hpp"

namespace osier::systems {

namespace {

Vec3d inverse(const Vec3d& k) { return {1 / k.x, 1 / k.y, 1 / k.z}; }

}  // namespace

/// The joint of a child frame to its parent: the spring K, Q, and the remaining stiffness on either frame alone.
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
      build_tree_within(m, c, whole_of(m), kMost * TreePlan::kWorkOfLink / TreePlan::kWorkOfColumn * m.segment_count());
  if (!tree) return false;
  const TreePlan plan = tree->plan();
  return plan.work() <= kMost * TreePlan::kWorkOfLink * std::max(1, plan.node_count());
}

void TreeSystem::forget() {
  built_control_.clear();
  sparse_.forget();
}

/// Builds the tree, which depends on the holds.
void TreeSystem::build(const Model& m, const Control& c, const Subset& subset) {
  if (!built_control_.empty() && built_fixed_ == c.vertex_fixed && built_control_ == c.frame_control) return;
  built_fixed_ = c.vertex_fixed;
  built_control_ = c.frame_control;
  tree_ = build_tree(m, c, subset);
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

void TreeSystem::bind(const Model& m, const Control& c, const Subset& subset, double h) {
  m_ = &m;
  c_ = &c;
  sparse_.bind(m, c, subset, h);
  build(m, c, subset);
}

void TreeSystem::add_parent(Index frame, const Mat3<double>& block) {
  if (m_->is_anchor(frame)) return;
  Mat3<double>& to = local_[static_cast<std::size_t>(node_of_segment_[frame])];
  to = to + block;
}

TreeSystem::JointSplit TreeSystem::split(Index j, Index child) const {
  const auto [a, b] = m_->joint_frames[j];
  const JointHessian& h = hessian_.joint(j);
  const PerAxis& k = m_->joint_stiffness[j];
  JointSplit s;
  s.isotropic = k.uniform();
  s.axes = s.isotropic ? identity3(1.0) : rotation_matrix(normalized(z_->q[a] * half_rotation(conj(z_->q[a]) * z_->q[b])));
  s.stiffness = 0.25 * cast<double>(k);
  const Mat3<double> K = s.isotropic ? identity3(s.stiffness.x) : rotated_diagonal(s.axes, s.stiffness);
  const Index parent = child == b ? a : b;
  const Mat3<double> across = child == b ? h.first_second() : transposed(h.first_second());
  const bool one_is_held = m_->is_anchor(parent) || c_->frame_control[parent] == FrameControl::fixed ||
                           c_->frame_control[child] == FrameControl::fixed;
  s.parent = h.same + -1.0 * K;
  if (one_is_held) {
    s.Q = identity3(1.0);
    s.child = s.parent;
    return s;
  }
  const Mat3<double> soft = s.isotropic ? identity3(1 / s.stiffness.x) : rotated_diagonal(s.axes, inverse(s.stiffness));
  s.Q = -1.0 * (soft * across);
  s.child = h.same + transposed(s.Q) * across;  // K Q = -across
  return s;
}

Signature TreeSystem::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  if (!how.frames_move) return {};  // positions alone are solved elsewhere
  potential_ = &potential;
  z_ = &z;
  sparse_ready_ = only_sparse_ = false;
  hessian_.assemble(potential, z, how.blocks);
  extra_.clear();
  for (const VertexBlock& block : how.blocks) {
    only_sparse_ = only_sparse_ || block.segment >= 0;
    extra_.resize(static_cast<std::size_t>(m_->vertex_count()));
    if (block.segment < 0) extra_[block.a] = extra_[block.a] + block.aa;
  }
  std::fill(local_.begin(), local_.end(), Mat3<double>{});
  for (std::size_t i = 0; i < links_.size(); ++i) assemble_node(i);
  for (std::size_t i = 0; i < rows_.size(); ++i) assemble_row(i);
  for (const auto& [node, joint] : tree_.local_joints) local_[node] = local_[node] + hessian_.joint(joint).same;
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r].held = c_->vertex_fixed[tree_.roots[r]] != 0;
  return factorise(how.shift);
}

void TreeSystem::assemble_node(std::size_t i) {
  const TreeNode& n = tree_.nodes[i];
  const Index s = n.segment;
  const Quatd& q = z_->q[s];
  const SegmentHessian& h = hessian_.segment(s);
  const PerAxis k = potential_->limited_position_stiffness(s);
  const Vec3d stiffness = cast<double>(k);
  const double sign = n.near_vertex == m_->segment_vertices[s][0] ? 1 : -1;
  Link<double>& l = links_[i];
  l.arm = (sign * m_->segment_rest_length[s]) * director3(q);
  l.x_compliance = inverse(stiffness);
  l.w_compliance = {kLoose<double>, kLoose<double>, kLoose<double>};
  Mat3<double> A = skew(l.arm), Q = identity3(1.0), w_axes = identity3(1.0);
  local_[i] = local_[i] + hessian_.frame(s);
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
  ConstraintRow<double>& r = rows_[i];
  const Index s = tree_.nodes[row.node].segment;
  const auto set_direction = [&](const Vec3d& x, const Vec3d& w) {
    r.end[0].direction = {x, w};
    r.end[1].direction = {-x, -w};
  };
  const Vec3d unit{row.axis == 0 ? 1.0 : 0.0, row.axis == 1 ? 1.0 : 0.0, row.axis == 2 ? 1.0 : 0.0};
  switch (row.kind) {
    case TreeRow::Kind::hold_vertex:
    case TreeRow::Kind::close_segment:
      set_direction(rotate(z_->q[s], unit), {});
      break;
    case TreeRow::Kind::hold_frame:
      set_direction({}, unit);
      break;
    case TreeRow::Kind::hinge_frame:  // axes 1 and 2 of the row are across the hinge
      set_direction({}, rotate(rotation_between(Vec3d{1, 0, 0}, c_->frame_hinge_axis[s]), unit));
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
  hessian_.set_shift(shift);
  if (only_sparse_) return sparse().factorise(shift);
  const auto of_vertex = [&](Index v) {
    const Mat3<double> weight = identity3(hessian_.vertex_weight(v));
    return extra_.empty() ? weight : weight + extra_[v];
  };
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r].stiffness = of_vertex(tree_.roots[r]);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    Sym6<double>& load = links_[i].load_stiffness;
    load.xx = n.far_vertex >= 0 && !c_->vertex_fixed[n.far_vertex] ? of_vertex(n.far_vertex) : Mat3<double>{};
    const double alone = n.joint < 0 ? next_to_nothing(links_[i].arm, links_[i].x_compliance) : 0;
    load.ww = local_[i] + identity3(alone + shift.of_frame(*m_, n.segment));
  }
  factor_.factor_signed(links_, roots_, rows_, reframe_);
  const auto pivots = factor_.count_pivots();
  return {.negative = pivots.negative, .definite = pivots.negative == 0 && pivots.null == 0};
}

/// The norm of forces; couples are divided by the length of their segment.
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
  hessian_.clear(out);
  for (std::size_t r = 0; r < roots_.size(); ++r) out.x[tree_.roots[r]] = factor_.root_displacement()[r];
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    if (n.far_vertex >= 0) out.x[n.far_vertex] = factor_.displacement()[i].x;
    out.w[n.segment] = factor_.displacement()[i].w;
  }
  hessian_.keep_free(out);
}

/// Solves by the recursion and refines the solution by its residual. False if the residual does not become small.
bool TreeSystem::refined(const Field& force, Field& out) {
  by_recursion(force, out);
  const double whole = size(force);
  double before = whole;
  for (int i = 0; i < 4; ++i) {
    hessian_.product(out, nullptr, left_);
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
  if (!sparse_ready_) sparse_.linearise(*potential_, *z_, {.shift = shift_, .blocks = hessian_.blocks()});
  sparse_ready_ = true;
  ++sparse_solves_;
  return sparse_;
}

bool TreeSystem::solve(const Field& r, Field& z) {
  force_ = r;
  hessian_.keep_free(force_);
  if (!only_sparse_ && refined(force_, z)) return true;
  SparseSystem& other = sparse();
  return other.factorise(shift_).definite && other.solve(r, z);
}

bool TreeSystem::step(const Accuracy&) {
  Field gradient;
  potential_->gradient(*z_, gradient.x, gradient.w);
  for (Vec3d& g : gradient.x) g = -g;
  for (Vec3d& g : gradient.w) g = -g;
  return solve(gradient, step_);
}

namespace {

/// The vector space of GMRES. In its dot product couples are divided by the length of their segment.
struct FieldSpace {
  using Vector = Field;
  const Model& m;
  double dot(const Field& a, const Field& b) const {
    double sum = 0;
    for (std::size_t v = 0; v < a.x.size(); ++v) sum += osier::dot(a.x[v], b.x[v]);
    for (Index s = 0; s < m.segment_count(); ++s)
      sum += osier::dot(a.w[s], b.w[s]) / (m.segment_rest_length[s] * m.segment_rest_length[s]);
    return sum;
  }
  static void add(Field& a, double t, const Field& b) {
    for (std::size_t v = 0; v < a.x.size(); ++v) a.x[v] += t * b.x[v];
    for (std::size_t f = 0; f < a.w.size(); ++f) a.w[f] += t * b.w[f];
  }
  Field zero() const {
    return {std::vector<Vec3d>(static_cast<std::size_t>(m.vertex_count())),
            std::vector<Vec3d>(static_cast<std::size_t>(m.frame_count()))};
  }
};

}  // namespace

/// GMRES on (H + [turn]x) H^-1: as many iterations as the skew blocks have rank, at most; few of them matter.
bool TreeSystem::solve_skew(const Field& r, const std::vector<Vec3d>& turn, Field& z) {
  constexpr int kMost = 24;
  constexpr double kEnough = 1e-8;
  factorise({});
  force_ = r;
  hessian_.keep_free(force_);
  hessian_.clear(z);
  const auto apply = [&](const Field& v, Field& preconditioned, Field& image) {
    by_recursion(v, preconditioned);
    hessian_.product(preconditioned, &turn, image);
  };
  if (!only_sparse_ && gmres(FieldSpace{*m_}, force_, z, kMost, kEnough, apply)) return true;
  return sparse().solve_skew(r, turn, z);
}

std::unique_ptr<LinearSystem> make_exact_system(const Model& m, const Control& c) {
  if (!c.has_vertex_terms() && TreeSystem::suits(m, c)) return std::make_unique<TreeSystem>();
  return std::make_unique<SparseSystem>();
}

}  // namespace osier::systems
