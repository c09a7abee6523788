// Symbols: dx vertex displacement [m], w rotation vector of a frame in the world [rad], H Hessian of Phi, g its gradient.
// u displacement since the start of the step. One iteration: solve (H + sigma diag) (dx, w) = -g, u += t dx, q <- exp(t w/2) q.
//
// Deviations from a textbook Newton:
//  0. After every trial turn the positions are solved for exactly at the new frames (Phi is quadratic in them). Otherwise a
//  straight move of the vertices along a turning rod stretches it, and with EA >> EI/L^2 the line
//     search would creep.
//  1. sigma grows from 0 until LDL^T has only positive pivots, so the direction always descends. Null modes (the spin of a
//     straight cable between two pins) are met the same way. Only rotations are shifted, by sigma F l with F the largest force
//     at work: positions are convex anyway, and shifting them by a share of EA/l would drown every soft mode.
//  2. Rotations longer than one radian are scaled back: the quadratic model does not reach further.
//  3. A dead couple has no potential and its equilibria may be saddles of the surrogate. With torques the Newton equation of
//     the residual itself is tried first: J = H - [g]x/2 + [M_follower]x, not symmetric, judged by the residual. So it is when a
//     path is to be followed past its buckling load, where downhill leads away from it.
//  4. Near the rounding floor of Phi the line search accepts a step that lowers the residual instead.
#include "solvers/newton/newton.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
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
    potential_.begin(m, c, state, h);
    u_.resize(state.vertex_position.size());
    for (Index v = 0; v < m.vertex_count(); ++v) u_[v] = m.vertex_alive[v] ? h * state.vertex_velocity[v] : Vec3d{};
    frames_start_ = state.frame_rotation;
    if (m.has_inertia())
      for (Index f = 0; f < m.frame_count(); ++f)
        if (c.frame_control[f] != FrameControl::fixed) state.frame_rotation[f] = guessed_frame(m, c, state, h, f);
    const StepReport report =
        minimise(m, c, state, {.tolerance = settings_.tolerance, .max_iterations = settings_.max_iterations});
    state.vertex_velocity_previous = state.vertex_velocity;
    for (Index v = 0; v < m.vertex_count(); ++v) state.vertex_velocity[v] = (1 / h) * u_[v];
    update_frame_velocity(m, c, frames_start_, h, state);
    return report;
  }

  StepReport solve_static(const Model& m, const Control& c, State& state, const StaticOptions& options) override {
    potential_.begin(m, c, state, 0);
    u_.assign(state.vertex_position.size(), {});
    StepReport report = minimise(m, c, state, options);
    if (!report.not_converged && !report.non_finite) report.unstable_modes = count_unstable(state.frame_rotation);
    return report;
  }

 private:
  /// From displacements u_; adds them to the state's positions at the end.
  StepReport minimise(const Model& m, const Control& c, State& state, const StaticOptions& options);
  void number_unknowns(const Model& m, const Control& c);
  void assemble(const std::vector<Vec3d>& u, const std::vector<Quatd>& q);
  void number_positions(const Model& m);
  /// Matrix of the positions alone; it depends on the frames only when stretching and shearing differ.
  void factor_positions(const Model& m, const std::vector<Quatd>& q);
  void solve_positions(const Model& m, std::vector<Vec3d>& u, const std::vector<Quatd>& q);
  void set_rhs();
  bool set_direction(const Model& m, const Eigen::VectorXd& step);
  /// Direction into dx_, w_; false when no shift makes the matrix positive definite (non-finite entries).
  bool solve(const Model& m, double force);
  /// Negative pivots of the Hessian at u_, q: by Sylvester's law as many as there are directions of falling energy.
  int count_unstable(const std::vector<Quatd>& q);
  /// The same from the unsymmetric Jacobian of the residual; needs assemble() before. False when it is singular.
  bool solve_residual(const Model& m, const Control& c, const std::vector<Quatd>& q);
  bool descend_residual(const Model& m, const std::vector<Quatd>& q);
  double longest_step(const Model& m) const;
  double rotation_residual(const Model& m, const std::vector<Vec3d>& gw) const;
  void move(const Model& m, double t, const std::vector<Vec3d>& u, const std::vector<Quatd>& q);

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
  std::vector<Index> position_unknown_;
  Eigen::SimplicialLDLT<Sparse> position_factor_;
  using PositionRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  Index position_count_ = 0;
  bool position_solvable_ = false, one_stiffness_ = true;
  PositionRows position_rhs_, position_step_;
  std::vector<Vec3d> u_, gx_, gw_, dx_, w_, u_trial_, gx_trial_, gw_trial_;
  std::vector<Quatd> q_trial_, frames_start_;
  double shift_ = 0;
};

void NewtonSolver::number_unknowns(const Model& m, const Control& c) {
  nodes_.assign(m.vertex_count() + m.frame_count(), {});
  unknowns_ = 0;
  const auto give = [&](Index node, int count, const Vec3d& axis = {}) {
    nodes_[node] = {.first = unknowns_, .count = count, .axis = axis};
    unknowns_ += count;
  };
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

void NewtonSolver::number_positions(const Model& m) {
  position_unknown_.assign(m.vertex_count(), -1);
  position_count_ = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (nodes_[v].count == 3) position_unknown_[v] = position_count_++;
  one_stiffness_ = true;
  for (Index s = 0; s < m.segment_count(); ++s) one_stiffness_ = one_stiffness_ && potential_.position_stiffness(s).uniform();
}

/// One scalar per vertex when stretching and shearing are equally stiff, a 3x3 block otherwise.
void NewtonSolver::factor_positions(const Model& m, const std::vector<Quatd>& q) {
  const int size = one_stiffness_ ? 1 : 3;
  triplets_.clear();
  const auto add = [&](Index row, Index col, const Mat3<double>& block) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        if (size * row + i >= size * col + j) triplets_.emplace_back(size * row + i, size * col + j, block.m[i][j]);
  };
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0) add(i, i, identity3(potential_.inertia_weight(v)));
  for (Index s = 0; s < m.segment_count(); ++s) {
    const PerAxis k = potential_.position_stiffness(s);
    const Mat3<double> C = one_stiffness_ ? identity3(k.d3) : rotated_diagonal(rotation_matrix(q[s]), cast<double>(k));
    const Index a = position_unknown_[m.segment_vertices[s][0]], b = position_unknown_[m.segment_vertices[s][1]];
    if (a >= 0) add(a, a, C);
    if (b >= 0) add(b, b, C);
    if (a >= 0 && b >= 0) add(std::max(a, b), std::min(a, b), -1.0 * C);
  }
  Sparse matrix(size * position_count_, size * position_count_);
  matrix.setFromTriplets(triplets_.begin(), triplets_.end());
  position_factor_.compute(matrix);
  // Statics of a piece that nothing holds: positions are free to float, leave them to the full system. Anisotropy spreads the
  // pivots by the ratio of its stiffnesses, which may be large.
  const double least = one_stiffness_ ? 1e-9 : 1e-13;
  position_solvable_ = position_count_ > 0 && position_factor_.info() == Eigen::Success &&
                       position_factor_.vectorD().minCoeff() > least * position_factor_.vectorD().maxCoeff();
}

void NewtonSolver::solve_positions(const Model& m, std::vector<Vec3d>& u, const std::vector<Quatd>& q) {
  if (!one_stiffness_) factor_positions(m, q);
  if (!position_solvable_) return;
  potential_.gradient(u, q, gx_trial_, gw_trial_);
  position_rhs_.resize(position_count_, 3);
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0) position_rhs_.row(i) << -gx_trial_[v].x, -gx_trial_[v].y, -gx_trial_[v].z;
  if (one_stiffness_) {
    position_step_ = position_factor_.solve(position_rhs_);
  } else {
    const Eigen::VectorXd rhs = Eigen::Map<const Eigen::VectorXd>(position_rhs_.data(), position_rhs_.size());
    const Eigen::VectorXd step = position_factor_.solve(rhs);
    position_step_ = Eigen::Map<const PositionRows>(step.data(), position_count_, 3);
  }
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0)
      u[v] += Vec3d{position_step_(i, 0), position_step_(i, 1), position_step_(i, 2)};
}

void NewtonSolver::assemble(const std::vector<Vec3d>& u, const std::vector<Quatd>& q) {
  triplets_.clear();
  potential_.hessian(u, q, [&](Index row, Index col, const Mat3<double>& block) {
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

void NewtonSolver::set_rhs() {
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
}

bool NewtonSolver::solve(const Model& m, double force) {
  set_rhs();
  const Eigen::VectorXd diagonal = matrix_.diagonal();
  const double smallest_pivot = 1e-18 * (diagonal.size() ? diagonal.cwiseAbs().maxCoeff() : 1);
  double applied = 0;
  const auto factorise = [&](double shift) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const bool is_vertex = n < gx_.size();
      if (nodes_[n].count == 0 || (is_vertex && position_solvable_)) continue;
      const Index segment =
          is_vertex ? m.vertex_segments.of(static_cast<Index>(n)).front() / 2 : static_cast<Index>(n - gx_.size());
      const double l = m.segment_rest_length[segment], unit = is_vertex ? force / l : force * l;
      for (int i = 0; i < nodes_[n].count; ++i)
        matrix_.coeffRef(nodes_[n].first + i, nodes_[n].first + i) = diagonal[nodes_[n].first + i] + shift * unit;
    }
    applied = shift;
    factor_.factorize(matrix_);
    return factor_.info() == Eigen::Success && factor_.vectorD().minCoeff() > smallest_pivot;
  };
  double shift = 0;
  while (!factorise(shift)) {
    shift = shift == 0 ? std::max(1e-9, 0.05 * shift_) : 10 * shift;
    if (!(shift < 1e12)) return false;
  }
  shift_ = applied;
  return set_direction(m, factor_.solve(rhs_));
}

int NewtonSolver::count_unstable(const std::vector<Quatd>& q) {
  if (unknowns_ == 0) return 0;
  assemble(u_, q);
  const Eigen::VectorXd diagonal = matrix_.diagonal();
  factor_.factorize(matrix_);
  // Each pivot is judged against its own diagonal entry: a null mode (the spin of a straight cable) is only rounding away from
  // zero, and position pivots are many orders larger than those of bending.
  constexpr double kNull = 1e-12;
  const Eigen::VectorXd pivots = factor_.vectorD(), permuted = factor_.permutationP() * diagonal;
  int count = 0;
  for (Eigen::Index i = 0; i < pivots.size(); ++i) count += pivots[i] < -kNull * std::abs(permuted[i]) ? 1 : 0;
  return count;
}

bool NewtonSolver::set_direction(const Model& m, const Eigen::VectorXd& step) {
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

bool NewtonSolver::solve_residual(const Model& m, const Control& c, const std::vector<Quatd>& q) {
  Sparse full = matrix_.selfadjointView<Eigen::Lower>();
  std::vector<Eigen::Triplet<double>> skew_part;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const NodeUnknowns& node = nodes_[m.vertex_count() + s];
    if (node.count != 3) continue;  // on a hinge a x a = 0
    const Vec3d follower = c.has_torque ? rotate(q[s], c.frame_torque_material[s]) : Vec3d{};
    const Vec3d g = gw_[s] + potential_.torque(s, q[s]);  // without the torque's own share
    const Mat3<double> k = skew(-0.5 * g + follower);
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
  set_rhs();
  return set_direction(m, lu.solve(rhs_));
}

/// Size of all couples together, each over its segment's length: what the residual's Newton direction lowers.
double NewtonSolver::rotation_residual(const Model& m, const std::vector<Vec3d>& gw) const {
  double sum = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const NodeUnknowns& node = nodes_[m.vertex_count() + s];
    const double l = m.segment_rest_length[s];
    if (node.count == 3) sum += norm2(gw[s]) / (l * l);
    if (node.count == 1) sum += dot(gw[s], node.axis) * dot(gw[s], node.axis) / (l * l);
  }
  return std::sqrt(sum);
}

void NewtonSolver::move(const Model& m, double t, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) {
  u_trial_ = u;
  q_trial_ = q;
  for (Index v = 0; v < m.vertex_count(); ++v) u_trial_[v] += t * dx_[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(w_[s]) > 0) q_trial_[s] = normalized(rotation_exp(t * w_[s]) * q[s]);
  solve_positions(m, u_trial_, q_trial_);
}

/// 1, or less when some frame would turn by more than a radian.
double NewtonSolver::longest_step(const Model& m) const {
  double longest = 1;
  for (Index s = 0; s < m.segment_count(); ++s) longest = std::max(longest, norm(w_[s]));
  return 1 / longest;
}

bool NewtonSolver::descend_residual(const Model& m, const std::vector<Quatd>& q) {
  const double before = rotation_residual(m, gw_);
  double t = longest_step(m);
  for (int cut = 0; cut < 8; ++cut, t *= 0.5) {
    move(m, t, u_, q);
    potential_.gradient(u_trial_, q_trial_, gx_trial_, gw_trial_);
    if (rotation_residual(m, gw_trial_) <= (1 - 1e-3 * t) * before) return true;
  }
  return false;
}

/// What rounding alone does to section forces and couples. No residual can be pushed below it.
struct RoundingNoise {
  double edges = 0;   ///< edges and directors of order one
  double motion = 0;  ///< displacements of order u
};
RoundingNoise rounding_noise(const Model& m, const IncrementalPotential& potential, const std::vector<Vec3d>& u) {
  constexpr double kRoundings = 256 * std::numeric_limits<double>::epsilon();
  RoundingNoise noise;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const auto [a, b] = m.segment_vertices[s];
    const double k = kRoundings * potential.position_stiffness(s).largest();
    noise.edges = std::max(noise.edges, k * m.segment_rest_length[s]);
    noise.motion = std::max(noise.motion, k * std::max(norm(u[a]), norm(u[b])));
  }
  for (Index j = 0; j < m.joint_count(); ++j)
    if (m.joint_alive[j]) noise.edges = std::max(noise.edges, kRoundings * m.joint_stiffness[j].largest() / m.joint_length[j]);
  for (const DirectionTerm& t : potential.directions())
    noise.edges = std::max(noise.edges, kRoundings * t.k / m.segment_rest_length[t.frame]);
  return noise;
}

/// Prescribed displacements and frames; a hinged frame goes to the nearest one the hinge allows.
void impose(const Model& m, const Control& c, const State& state, std::vector<Vec3d>& u, std::vector<Quatd>& q) {
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (c.vertex_fixed[v]) u[v] = c.vertex_target[v] - state.vertex_position[v];
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] == FrameControl::fixed) q[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q[f] = nearest_on_hinge(q[f], c.frame_target[f], c.frame_hinge_axis[f]);
  }
}

StepReport NewtonSolver::minimise(const Model& m, const Control& c, State& state, const StaticOptions& options) {
  StepReport report;
  std::vector<Quatd>& q = state.frame_rotation;
  impose(m, c, state, u_, q);
  number_unknowns(m, c);
  number_positions(m);
  factor_positions(m, q);
  solve_positions(m, u_, q);

  double stiffest = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    stiffest = std::max(stiffest, m.segment_stiffness[s].largest() / m.segment_rest_length[s]);
  IncrementalPotential::Residual residual;
  double scale = 0, floor = 0;
  const auto measure = [&] {
    potential_.set_torque_point(q);
    potential_.gradient(u_, q, gx_, gw_);
    residual = potential_.residual(gx_, gw_);
    scale = std::max(potential_.force_scale(u_, q), std::numeric_limits<double>::min());
    // Motion is no excuse for what is no equilibrium at all: a piece that flies away raises its own noise.
    const RoundingNoise noise = rounding_noise(m, potential_, u_);
    floor = noise.edges + std::min(noise.motion, (potential_.is_static() ? 1e-6 : 1e-3) * scale);
  };
  measure();
  double before = std::numeric_limits<double>::infinity();
  for (report.iterations = 0; unknowns_ > 0 && !(residual.value <= options.tolerance * scale); ++report.iterations) {
    if (residual.value <= floor && residual.value > 0.5 * before) break;  // as far as double goes
    before = residual.value;
    if (report.iterations == options.max_iterations || !std::isfinite(residual.value)) {
      report.not_converged = true;
      break;
    }
    assemble(u_, q);
    bool accepted =
        (c.has_torque || options.along_path) && position_solvable_ && solve_residual(m, c, q) && descend_residual(m, q);
    if (!accepted && !solve(m, std::max(scale, 1e-9 * stiffest))) {
      report.not_converged = true;
      break;
    }
    double slope = 0;
    for (Index s = 0; s < m.segment_count(); ++s) slope += dot(w_[s], gw_[s]);
    for (Index v = 0; v < m.vertex_count(); ++v) slope += dot(dx_[v], gx_[v]);
    const EnergyTerms e0 = potential_.value(u_, q);
    double t = longest_step(m);
    for (int cut = 0; cut < (residual.value <= floor ? 2 : 40) && !accepted; ++cut, t *= 0.5) {
      move(m, t, u_, q);
      const double rise = potential_.value(u_trial_, q_trial_).total() - e0.total();
      accepted = rise <= 1e-4 * t * slope;
      if (!accepted && rise <= 1e-14 * e0.magnitude() + std::abs(1e-4 * t * slope)) {
        potential_.gradient(u_trial_, q_trial_, gx_trial_, gw_trial_);
        accepted = potential_.residual(gx_trial_, gw_trial_).value < residual.value;
      }
    }
    if (!accepted) {
      report.not_converged = residual.value > floor;
      break;
    }
    u_.swap(u_trial_);
    q.swap(q_trial_);
    measure();
  }
  for (Index v = 0; v < m.vertex_count(); ++v) state.vertex_position[v] += u_[v];
  for (Index v = 0; v < m.vertex_count(); ++v)  // exactly where it was asked to be
    if (c.vertex_fixed[v]) state.vertex_position[v] = c.vertex_target[v];
  report.residual = residual.value;
  report.residual_relative = residual.value / scale;
  report.worst_vertex = residual.vertex;
  report.worst_segment = residual.segment;
  report.non_finite = !std::isfinite(residual.value);
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    if (!std::isfinite(norm2(state.vertex_position[v]))) report.non_finite = true, report.worst_vertex = v;
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
