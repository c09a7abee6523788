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
#include <algorithm>
#include <cmath>
#include <limits>

#include "osier/error.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace osier::newton {

using namespace systems;

namespace {

using Sparse = Eigen::SparseMatrix<double>;

class NewtonSolver final : public Solver {
 public:
  NewtonSolver(const Settings& settings, std::unique_ptr<LinearSystem> system)
      : settings_(settings), system_(std::move(system)) {}

  void rebind(const Model&, State&) override {
    system_->forget();
    shift_ = 0;
  }

  StepReport step(const StepInput& input, State& state) override {
    const Model& m = input.model;
    const Control& c = input.end;
    const double h = input.h;
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

  StepReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    const Model& m = input.model;
    const Control& c = input.end;
    potential_.begin(m, c, state, 0);
    u_.assign(state.vertex_position.size(), {});
    StepReport report = minimise(m, c, state, options);
    if (!report.not_converged && !report.non_finite) report.unstable_modes = count_unstable(state.frame_rotation);
    return report;
  }

 private:
  /// From displacements u_; adds them to the state's positions at the end.
  StepReport minimise(const Model& m, const Control& c, State& state, const StaticOptions& options);
  void number_positions(const Model& m, const Control& c);
  /// Matrix of the positions alone; it depends on the frames only when stretching and shearing differ.
  void factor_positions(const Model& m, const std::vector<Quatd>& q);
  void solve_positions(const Model& m, std::vector<Vec3d>& u, const std::vector<Quatd>& q);
  /// Direction into step_; false when no shift makes the matrix positive definite (non-finite entries).
  bool solve(double force);
  /// Negative pivots of the Hessian at u_, q: by Sylvester's law as many as there are directions of falling energy.
  int count_unstable(const std::vector<Quatd>& q);
  /// The same from the unsymmetric Jacobian of the residual; needs assemble() before. False when it is singular.
  bool solve_residual(const Model& m, const Control& c, const std::vector<Quatd>& q);
  bool descend_residual(const Model& m, const Control& c, const std::vector<Quatd>& q);
  bool predict(const Model& m, const Control& c, const State& state);
  double longest_step(const Model& m) const;
  double rotation_residual(const Model& m, const Control& c, const std::vector<Vec3d>& gw) const;
  void move(const Model& m, double t, const std::vector<Vec3d>& u, const std::vector<Quatd>& q);

  Settings settings_;
  IncrementalPotential potential_;
  std::unique_ptr<LinearSystem> system_;
  Direction step_;
  std::vector<Eigen::Triplet<double>> triplets_;
  std::vector<Index> position_unknown_;
  Eigen::SimplicialLDLT<Sparse> position_factor_;
  using PositionRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  Index position_count_ = 0;
  bool position_solvable_ = false, one_stiffness_ = true;
  PositionRows position_rhs_, position_step_;
  std::vector<Vec3d> u_, gx_, gw_, u_trial_, gx_trial_, gw_trial_, turn_;
  std::vector<Quatd> q_trial_, frames_start_;
  double shift_ = 0;
};

void NewtonSolver::number_positions(const Model& m, const Control& c) {
  position_unknown_.assign(m.vertex_count(), -1);
  position_count_ = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (!c.vertex_fixed[v] && m.vertex_alive[v]) position_unknown_[v] = position_count_++;
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

bool NewtonSolver::solve(double force) {
  Shift shift{.force = force, .positions = !position_solvable_};
  while (!system_->factorise(shift).definite) {
    shift.size = shift.size == 0 ? std::max(1e-9, 0.05 * shift_) : 10 * shift.size;
    if (!(shift.size < 1e12)) return false;
  }
  shift_ = shift.size;
  return system_->solve(gx_, gw_, step_);
}

int NewtonSolver::count_unstable(const std::vector<Quatd>& q) {
  if (system_->empty()) return 0;
  system_->assemble(potential_, u_, q);
  return system_->factorise({}).negative;
}

bool NewtonSolver::solve_residual(const Model& m, const Control& c, const std::vector<Quatd>& q) {
  turn_.resize(m.segment_count());
  for (Index s = 0; s < m.segment_count(); ++s) {
    const Vec3d follower = c.has_torque ? rotate(q[s], c.frame_torque_material[s]) : Vec3d{};
    const Vec3d g = gw_[s] + potential_.torque(s, q[s]);  // without the torque's own share
    turn_[s] = -0.5 * g + follower;
  }
  return system_->solve_skew(gx_, gw_, turn_, step_);
}

/// Size of all couples together, each over its segment's length: what the residual's Newton direction lowers.
double NewtonSolver::rotation_residual(const Model& m, const Control& c, const std::vector<Vec3d>& gw) const {
  double sum = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const FrameControl held = c.frame_control[s];
    if (!m.segment_alive[s] || held == FrameControl::fixed) continue;
    const double l = m.segment_rest_length[s];
    const double along = held == FrameControl::hinged ? dot(gw[s], c.frame_hinge_axis[s]) : 0;
    sum += (held == FrameControl::hinged ? along * along : norm2(gw[s])) / (l * l);
  }
  return std::sqrt(sum);
}

void NewtonSolver::move(const Model& m, double t, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) {
  u_trial_ = u;
  q_trial_ = q;
  for (Index v = 0; v < m.vertex_count(); ++v) u_trial_[v] += t * step_.x[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(step_.w[s]) > 0) q_trial_[s] = normalized(rotation_exp(t * step_.w[s]) * q[s]);
  solve_positions(m, u_trial_, q_trial_);
}

/// 1, or less when some frame would turn by more than a radian.
double NewtonSolver::longest_step(const Model& m) const {
  double longest = 1;
  for (Index s = 0; s < m.segment_count(); ++s) longest = std::max(longest, norm(step_.w[s]));
  return 1 / longest;
}

bool NewtonSolver::descend_residual(const Model& m, const Control& c, const std::vector<Quatd>& q) {
  const double before = rotation_residual(m, c, gw_);
  double t = longest_step(m);
  for (int cut = 0; cut < 8; ++cut, t *= 0.5) {
    move(m, t, u_, q);
    potential_.gradient(u_trial_, q_trial_, gx_trial_, gw_trial_);
    if (rotation_residual(m, c, gw_trial_) <= (1 - 1e-3 * t) * before) return true;
  }
  return false;
}

/// Where things go if what holds them moves by a little, times how far it moves: q turned by step_.w, step_.x. Found from the
/// state before anything is imposed: a clamp that turns by 30 degrees at once bends one joint out of reach of any Newton
/// iteration, where all joints together take it easily. False when nothing that is held moves, or no guess makes sense.
bool NewtonSolver::predict(const Model& m, const Control& c, const State& state) {
  constexpr double kSmall = 1e-5;  // of the motion, for the derivative
  const std::vector<Quatd>& q = state.frame_rotation;
  u_trial_.assign(m.vertex_count(), {});
  q_trial_ = q;
  double moved = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!c.vertex_fixed[v] || !m.vertex_alive[v]) continue;
    u_trial_[v] = kSmall * (c.vertex_target[v] - state.vertex_position[v]);
    moved = std::max(moved, norm(u_trial_[v]));
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] != FrameControl::fixed) continue;
    const Vec3d turn = kSmall * rotation_log(c.frame_target[f] * conj(q[f]));
    q_trial_[f] = normalized(rotation_exp(turn) * q[f]);
    moved = std::max(moved, norm(turn));
  }
  if (moved == 0) return false;
  const std::vector<Vec3d> nowhere(u_trial_.size());
  potential_.gradient(nowhere, q, gx_, gw_);
  potential_.gradient(u_trial_, q_trial_, gx_trial_, gw_trial_);
  for (std::size_t v = 0; v < gx_.size(); ++v) gx_[v] += (1 / kSmall) * (gx_trial_[v] - gx_[v]);
  for (std::size_t f = 0; f < gw_.size(); ++f) gw_[f] += (1 / kSmall) * (gw_trial_[f] - gw_[f]);
  system_->assemble(potential_, nowhere, q);
  system_->factorise({});
  return system_->solve(gx_, gw_, step_) && longest_step(m) == 1;
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
  system_->bind(m, c);
  const bool predicted = potential_.is_static() && predict(m, c, state);
  if (predicted) {
    u_trial_ = step_.x;
    q_trial_ = q;
    for (Index s = 0; s < m.segment_count(); ++s) q_trial_[s] = normalized(rotation_exp(step_.w[s]) * q[s]);
    impose(m, c, state, u_trial_, q_trial_);
  }
  impose(m, c, state, u_, q);
  number_positions(m, c);
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
    floor = potential_.rounding_floor(u_, scale);
  };
  measure();
  if (predicted) {
    const double unpredicted = residual.value;
    u_.swap(u_trial_), q.swap(q_trial_);
    solve_positions(m, u_, q);
    measure();
    if (!(residual.value < unpredicted)) u_.swap(u_trial_), q.swap(q_trial_), measure();
  }
  double before = std::numeric_limits<double>::infinity();
  // Near an instability a small residual is a large displacement along the mode that is about to grow, and that moves the place
  // where it does.
  const double goal = (options.along_path ? 1e-3 : 1) * options.tolerance;
  for (report.iterations = 0; !system_->empty() && !(residual.value <= goal * scale); ++report.iterations) {
    // As far as double goes, or at least as far as was asked for.
    if ((residual.value <= floor || residual.value <= options.tolerance * scale) && residual.value > 0.5 * before) break;
    before = residual.value;
    if (report.iterations == options.max_iterations || !std::isfinite(residual.value)) {
      report.not_converged = true;
      break;
    }
    system_->assemble(potential_, u_, q);
    bool accepted =
        (c.has_torque || options.along_path) && position_solvable_ && solve_residual(m, c, q) && descend_residual(m, c, q);
    if (!accepted && !solve(std::max(scale, 1e-9 * stiffest))) {
      report.not_converged = true;
      break;
    }
    double slope = 0;
    for (Index s = 0; s < m.segment_count(); ++s) slope += dot(step_.w[s], gw_[s]);
    for (Index v = 0; v < m.vertex_count(); ++v) slope += dot(step_.x[v], gx_[v]);
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
  if (residual.value <= options.tolerance * scale) report.not_converged = false;
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

std::unique_ptr<Solver> make_solver(const Settings& settings, std::unique_ptr<LinearSystem> system) {
  return std::make_unique<NewtonSolver>(settings, std::move(system));
}

std::unique_ptr<Solver> Settings::make(const Model&) const { return make_solver(*this, std::make_unique<SparseSystem>()); }

std::optional<std::size_t> Settings::bytes(const Model& m, const Control&, double) const {
  // Triplets dominate: 9 blocks of 9 entries of 16 bytes per segment, 4 per joint, and about as much for matrix and factor.
  return 2 * 16 * 9 * (9 * static_cast<std::size_t>(m.segment_count()) + 4 * static_cast<std::size_t>(m.joint_count())) +
         400 * static_cast<std::size_t>(m.vertex_count());
}

}  // namespace osier::newton
