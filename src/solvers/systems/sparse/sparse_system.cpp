#include "solvers/systems/sparse/sparse_system.hpp"

#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include "model/held_axes.hpp"

namespace osier::systems {

void SparseSystem::bind(const Model& m, const Control& c, const Subset& subset, double) {
  model_ = &m;
  control_ = &c;
  subset_ = &subset;
  number(m, c, subset, true);
}

void SparseSystem::number(const Model& m, const Control& c, const Subset& subset, bool frames_move) {
  frames_move_ = frames_move;
  nodes_.assign(m.vertex_count() + m.frame_count(), {});
  unknowns_ = 0;
  const auto give = [&](Index node, int count, const std::array<Vec3d, 2>& axis = {}) {
    nodes_[node] = {.first = unknowns_, .count = count, .axis = axis};
    unknowns_ += count;
  };
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (c.vertex_fixed[v] || !subset.has_vertex(m, v)) continue;
    const HeldAxes* held = held_axes_of(c, v);
    if (held) give(v, 3 - held->count, free_axes(*held));
    else give(v, 3);
  }
  for (Index s = 0; s < m.segment_count() && frames_move; ++s) {
    if (!subset.has_segment(m, s) || c.frame_control[s] == FrameControl::fixed) continue;
    if (c.frame_control[s] == FrameControl::hinged) give(m.vertex_count() + s, 1, {c.frame_hinge_axis[s], {}});
    else give(m.vertex_count() + s, 3);
  }
  const auto same = [](const NodeUnknowns& a, const NodeUnknowns& b) { return a.first == b.first && a.count == b.count; };
  if (pattern_nodes_.size() != nodes_.size() || !std::equal(nodes_.begin(), nodes_.end(), pattern_nodes_.begin(), same))
    pattern_known_ = false;
}

Signature SparseSystem::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  if (how.frames_move != frames_move_) number(*model_, *control_, *subset_, how.frames_move);
  potential_ = &potential;
  z_ = &z;
  hessian_.assemble(potential, z, how.blocks);
  assemble();
  return factorise(how.shift);
}

void SparseSystem::assemble() {
  triplets_.clear();
  hessian_.each_block([&](Index row, Index col, const Mat3<double>& block) {
    const NodeUnknowns &r = nodes_[row], &s = nodes_[col];
    if (r.count == 0 || s.count == 0) return;
    for (int i = 0; i < r.count; ++i)
      for (int j = 0; j < s.count; ++j)
        if (r.first + i >= s.first + j)  // lower triangle
          triplets_.emplace_back(r.first + i, s.first + j, dot(r.direction(i), block * s.direction(j)));
  });
  matrix_.resize(unknowns_, unknowns_);
  matrix_.setFromTriplets(triplets_.begin(), triplets_.end());
  diagonal_ = matrix_.diagonal();
  std::vector<std::array<Index, 2>> springs;
  for (const Index i : potential_->springs())
    if (const Spring& s = control_->springs[static_cast<std::size_t>(i)]; s.b >= 0) springs.push_back({s.a, s.b});
  if (!pattern_known_ || springs != pattern_springs_) {
    pattern_springs_ = std::move(springs);
    factor_.analyzePattern(matrix_);
    pattern_known_ = true;
    pattern_nodes_ = nodes_;
  }
}

Signature SparseSystem::factorise(const Shift& shift) {
  hessian_.set_shift(shift);
  const Index vertices = model_->vertex_count();
  for (Index n = 0; n < static_cast<Index>(nodes_.size()); ++n) {
    if (nodes_[n].count == 0) continue;
    const double more = n < vertices ? shift.of_vertex(*model_, n) : shift.of_frame(*model_, n - vertices);
    for (Index i = nodes_[n].first; i < nodes_[n].first + nodes_[n].count; ++i) matrix_.coeffRef(i, i) = diagonal_[i] + more;
  }
  factor_.factorize(matrix_);
  // Each pivot is judged against its own diagonal entry: a null mode (the spin of a straight cable) is only rounding away from
  // zero, and position pivots are many orders larger than those of bending.
  constexpr double kNull = 1e-12;
  const Eigen::VectorXd pivots = factor_.vectorD(), permuted = factor_.permutationP() * diagonal_;
  Signature signature;
  for (Eigen::Index i = 0; i < pivots.size(); ++i) signature.negative += pivots[i] < -kNull * std::abs(permuted[i]) ? 1 : 0;
  const double smallest_pivot = 1e-18 * (diagonal_.size() ? diagonal_.cwiseAbs().maxCoeff() : 1);
  signature.definite = factor_.info() == Eigen::Success && pivots.minCoeff() > smallest_pivot;
  return signature;
}

void SparseSystem::set_rhs(const Field& r) {
  rhs_.resize(unknowns_);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const NodeUnknowns& node = nodes_[n];
    const Vec3d& f = n < r.x.size() ? r.x[n] : r.w[n - r.x.size()];
    if (node.count == 3) {
      rhs_[node.first] = f.x;
      rhs_[node.first + 1] = f.y;
      rhs_[node.first + 2] = f.z;
    } else {
      for (int i = 0; i < node.count; ++i) rhs_[node.first + i] = dot(f, node.direction(i));
    }
  }
}

bool SparseSystem::set_solution(const Eigen::VectorXd& solution, Field& z) const {
  z.x.assign(model_->vertex_count(), {});
  z.w.assign(model_->frame_count(), {});
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const NodeUnknowns& node = nodes_[n];
    Vec3d& out = n < z.x.size() ? z.x[n] : z.w[n - z.x.size()];
    if (node.count == 3) out = {solution[node.first], solution[node.first + 1], solution[node.first + 2]};
    else
      for (int i = 0; i < node.count; ++i) out += solution[node.first + i] * node.direction(i);
  }
  return solution.allFinite();
}

bool SparseSystem::solve(const Field& r, Field& z) {
  set_rhs(r);
  return set_solution(factor_.solve(rhs_), z);
}

bool SparseSystem::step(const Accuracy&) {
  Field gradient;  // of what the factor knows: contact is the matter of whoever couples it to the rods
  potential_->gradient_of_rods(*z_, gradient.x, gradient.w);
  for (Vec3d& g : gradient.x) g = -g;
  for (Vec3d& g : gradient.w) g = -g;
  return solve(gradient, step_);
}

bool SparseSystem::solve_skew(const Field& r, const std::vector<Vec3d>& turn, Field& z) {
  Sparse full = matrix_.selfadjointView<Eigen::Lower>();
  std::vector<Eigen::Triplet<double>> skew_part;
  for (Index s = 0; s < model_->segment_count(); ++s) {
    const NodeUnknowns& node = nodes_[model_->vertex_count() + s];
    if (node.count != 3) continue;  // on a hinge a x a = 0
    const Mat3<double> k = skew(turn[s]);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (i != j) skew_part.emplace_back(node.first + i, node.first + j, k.m[i][j]);
  }
  Sparse extra(unknowns_, unknowns_);
  extra.setFromTriplets(skew_part.begin(), skew_part.end());
  full += extra;
  full.makeCompressed();
  Eigen::SparseLU<Sparse> lu(full);
  if (lu.info() != Eigen::Success) return false;
  set_rhs(r);
  return set_solution(lu.solve(rhs_), z);
}

}  // namespace osier::systems
