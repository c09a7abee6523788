// Symbols: dx vertex displacement [m], w rotation vector of a frame in the world [rad], H Hessian of Phi, g its gradient.
// One iteration: solve (H + sigma diag) (dx, w) = -g, x += t dx, q <- exp(t w/2) q.
//
// Deviations from a textbook Newton:
//  1. sigma grows from 0 until LDL^T has only positive pivots, so the direction always descends. Null modes (the spin of a
//     straight cable between two pins) are met the same way.
//  2. Rotations longer than one radian are scaled back: the quadratic model does not reach further.
//  3. Near the rounding floor of Phi the line search accepts a step that lowers the residual instead.
#include "solvers/newton/newton.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "osier/error.hpp"
#include "solvers/potential.hpp"

namespace osier::newton {

namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// Which unknowns a node (vertex or frame) has: three, one along `axis` (hinge), or none.
struct NodeUnknowns {
  Index first = -1;
  int count = 0;
  Vec3d axis;
};

class NewtonSolver final : public Solver {
 public:
  explicit NewtonSolver(const Settings& settings) : settings_(settings) {}

  void rebind(const Model&) override { pattern_known_ = false; }

  StepReport step(const Model& m, const Control& c, State& state, double h) override {
    const std::vector<Vec3d> before = state.vertex_position;
    potential_.begin(m, c, state, h);
    std::vector<Vec3d> x = before;
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (!c.vertex_fixed[v] && m.vertex_alive[v]) x[v] += h * state.vertex_velocity[v];
    StepReport report = minimise(m, c, x, state.frame_rotation, settings_.tolerance, settings_.max_iterations);
    state.vertex_velocity_previous = state.vertex_velocity;
    for (Index v = 0; v < m.vertex_count(); ++v) state.vertex_velocity[v] = (1 / h) * (x[v] - before[v]);
    state.vertex_position = std::move(x);
    return report;
  }

  StepReport solve_static(const Model& m, const Control& c, State& state, double tolerance, int max_iterations) override {
    potential_.begin(m, c, state, 0);
    return minimise(m, c, state.vertex_position, state.frame_rotation, tolerance, max_iterations);
  }

 private:
  StepReport minimise(const Model& m, const Control& c, std::vector<Vec3d>& x, std::vector<Quatd>& q, double tolerance,
                      int max_iterations);
  void number_unknowns(const Model& m, const Control& c);
  void assemble(const std::vector<Vec3d>& x, const std::vector<Quatd>& q);
  /// Direction into dx_, w_; false when no shift makes the matrix positive definite (non-finite entries).
  bool solve(const Model& m);
  void move(const Model& m, double t, const std::vector<Vec3d>& x, const std::vector<Quatd>& q);

  Settings settings_;
  IncrementalPotential potential_;
  std::vector<NodeUnknowns> nodes_;
  Index unknowns_ = 0;
  bool pattern_known_ = false;
  std::vector<NodeUnknowns> pattern_nodes_;
  std::vector<Eigen::Triplet<double>> triplets_;
  Sparse matrix_;
  Eigen::SimplicialLDLT<Sparse> factor_;
  Eigen::VectorXd rhs_;
  std::vector<Vec3d> gx_, gw_, dx_, w_, x_trial_, gx_trial_, gw_trial_;
  std::vector<Quatd> q_trial_;
  double shift_ = 0;
};

void NewtonSolver::number_unknowns(const Model& m, const Control& c) {
  nodes_.assign(m.vertex_count() + m.frame_count(), {});
  unknowns_ = 0;
  const auto give = [&](Index node, int count, const Vec3d& axis = {}) {
    nodes_[node] = {.first = unknowns_, .count = count, .axis = axis};
    unknowns_ += count;
  };
  // Vertices and frames alternate along rods, which keeps the matrix narrow before any reordering.
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (!c.vertex_fixed[v] && m.vertex_alive[v]) give(v, 3);
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) continue;
    if (c.frame_control[s] == FrameControl::hinged) give(m.vertex_count() + s, 1, c.frame_hinge_axis[s]);
    else give(m.vertex_count() + s, 3);
  }
  const auto same = [](const NodeUnknowns& a, const NodeUnknowns& b) { return a.first == b.first && a.count == b.count; };
  if (pattern_nodes_.size() != nodes_.size() || !std::equal(nodes_.begin(), nodes_.end(), pattern_nodes_.begin(), same))
    pattern_known_ = false;
}

void NewtonSolver::assemble(const std::vector<Vec3d>& x, const std::vector<Quatd>& q) {
  triplets_.clear();
  potential_.hessian(x, q, [&](Index row, Index col, const Mat3<double>& block) {
    const NodeUnknowns &r = nodes_[row], &s = nodes_[col];
    if (r.count == 0 || s.count == 0) return;
    const auto axis = [](const NodeUnknowns& n, int i) {
      return n.count == 1 ? n.axis : Vec3d{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    };
    for (int i = 0; i < r.count; ++i)
      for (int j = 0; j < s.count; ++j)
        if (r.first + i >= s.first + j)  // lower triangle
          triplets_.emplace_back(r.first + i, s.first + j, dot(axis(r, i), block * axis(s, j)));
  });
  matrix_.resize(unknowns_, unknowns_);
  matrix_.setFromTriplets(triplets_.begin(), triplets_.end());
  if (!pattern_known_) {
    factor_.analyzePattern(matrix_);
    pattern_known_ = true;
    pattern_nodes_ = nodes_;
  }
}

bool NewtonSolver::solve(const Model& m) {
  rhs_.resize(unknowns_);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const NodeUnknowns& node = nodes_[n];
    const Vec3d& g = n < gx_.size() ? gx_[n] : gw_[n - gx_.size()];
    if (node.count == 3) {
      rhs_[node.first] = -g.x, rhs_[node.first + 1] = -g.y, rhs_[node.first + 2] = -g.z;
    } else if (node.count == 1) {
      rhs_[node.first] = -dot(g, node.axis);
    }
  }
  const Eigen::VectorXd diagonal = matrix_.diagonal();
  const double typical = diagonal.size() ? diagonal.cwiseAbs().mean() : 1;
  double applied = 0;
  const auto factorise = [&](double shift) {
    for (Index i = 0; i < unknowns_; ++i)
      matrix_.coeffRef(i, i) = diagonal[i] + shift * std::max(std::abs(diagonal[i]), 1e-6 * typical);
    applied = shift;
    factor_.factorize(matrix_);
    if (factor_.info() != Eigen::Success) return false;
    const auto& d = factor_.vectorD();
    for (Index i = 0; i < d.size(); ++i)
      if (!(d[i] > 1e-13 * typical * 1e-6)) return false;
    return true;
  };
  double shift = 0;
  while (!factorise(shift)) {
    shift = shift == 0 ? std::max(1e-9, 0.05 * shift_) : 8 * shift;
    if (!(shift < 1e9)) return false;
  }
  shift_ = applied;
  const Eigen::VectorXd step = factor_.solve(rhs_);
  dx_.assign(m.vertex_count(), {});
  w_.assign(m.frame_count(), {});
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const NodeUnknowns& node = nodes_[n];
    Vec3d& out = n < dx_.size() ? dx_[n] : w_[n - dx_.size()];
    if (node.count == 3) out = {step[node.first], step[node.first + 1], step[node.first + 2]};
    else if (node.count == 1) out = step[node.first] * node.axis;
  }
  return step.allFinite();
}

void NewtonSolver::move(const Model& m, double t, const std::vector<Vec3d>& x, const std::vector<Quatd>& q) {
  x_trial_ = x;
  q_trial_ = q;
  for (Index v = 0; v < m.vertex_count(); ++v) x_trial_[v] += t * dx_[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(w_[s]) > 0) q_trial_[s] = normalized(rotation_exp(t * w_[s]) * q[s]);
}

/// What rounding of the coordinates alone does to the section forces, EA eps |x|/l: no residual can be pushed below it.
double rounding_noise(const Model& m, const std::vector<Vec3d>& x) {
  double size = 0, noise = 0;
  for (const Vec3d& p : x) size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double l = m.segment_rest_length[s];
    noise = std::max(noise, m.segment_stretch_stiffness[s] / l * size / l);
  }
  return 4 * std::numeric_limits<double>::epsilon() * noise;
}

StepReport NewtonSolver::minimise(const Model& m, const Control& c, std::vector<Vec3d>& x, std::vector<Quatd>& q, double tolerance,
                                  int max_iterations) {
  StepReport report;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (c.vertex_fixed[v]) x[v] = c.vertex_target[v];
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] == FrameControl::fixed) q[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) {
      // The nearest frame that the hinge allows.
      const Quatd c0 = c.frame_target[f], c1 = c.frame_hinge_axis[f] * c0;
      q[f] = normalized(dot(q[f], c0) * c0 + dot(q[f], c1) * c1);
    }
  }
  number_unknowns(m, c);

  IncrementalPotential::Residual residual;
  double scale = 0;
  const auto measure = [&] {
    potential_.set_torque_point(q);
    potential_.gradient(x, q, gx_, gw_);
    residual = potential_.residual(gx_, gw_);
    scale = std::max(potential_.force_scale(x, q), std::numeric_limits<double>::min());
  };
  measure();
  const double noise = rounding_noise(m, x);
  for (report.iterations = 0; unknowns_ > 0 && !(residual.value <= std::max(tolerance * scale, noise)); ++report.iterations) {
    if (report.iterations == max_iterations || !std::isfinite(residual.value)) {
      report.not_converged = true;
      break;
    }
    assemble(x, q);
    if (!solve(m)) {
      report.not_converged = true;
      break;
    }
    double longest = 0, slope = 0, farthest = 0;
    for (Index s = 0; s < m.segment_count(); ++s) longest = std::max(longest, norm(w_[s])), slope += dot(w_[s], gw_[s]);
    for (Index v = 0; v < m.vertex_count(); ++v) farthest = std::max(farthest, norm(dx_[v])), slope += dot(dx_[v], gx_[v]);
    const EnergyTerms e0 = potential_.value(x, q);
    double t = std::min(1.0, 1.0 / std::max(longest, 1e-300));
    bool accepted = false;
    for (int cut = 0; cut < 40 && !accepted; ++cut, t *= 0.5) {
      move(m, t, x, q);
      const double rise = potential_.value(x_trial_, q_trial_).total() - e0.total();
      const double floor = 1e-14 * e0.magnitude();
      accepted = rise <= 1e-4 * t * slope;
      if (!accepted && rise <= floor + std::abs(1e-4 * t * slope)) {
        potential_.gradient(x_trial_, q_trial_, gx_trial_, gw_trial_);
        accepted = potential_.residual(gx_trial_, gw_trial_).value < residual.value;
      }
    }
    if (!accepted) {
      report.not_converged = true;
      break;
    }
    x.swap(x_trial_);
    q.swap(q_trial_);
    measure();
  }
  report.residual = residual.value;
  report.residual_relative = residual.value / scale;
  report.worst_vertex = residual.vertex;
  report.worst_segment = residual.segment;
  report.non_finite = !std::isfinite(residual.value);
  return report;
}

}  // namespace

std::unique_ptr<Solver> Settings::make(const Model&) const { return std::make_unique<NewtonSolver>(*this); }

std::size_t Settings::bytes(const Model& m) const {
  // Triplets dominate: 9 blocks of 9 entries of 16 bytes per segment, 4 per joint, and about as much for matrix and factor.
  return 2 * 16 * 9 * (9 * static_cast<std::size_t>(m.segment_count()) + 4 * static_cast<std::size_t>(m.joint_count())) +
         400 * static_cast<std::size_t>(m.vertex_count());
}

}  // namespace osier::newton
