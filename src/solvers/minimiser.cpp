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
#include "solvers/minimiser.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "math/quat.hpp"
#include "model/held_axes.hpp"
#include "osier/error.hpp"
#include "solvers/step_potential.hpp"

namespace osier::systems {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

class Minimiser final : public Solver {
 public:
  Minimiser(const MinimiserOptions& options, std::unique_ptr<LinearSystem> system)
      : options_(options), system_(std::move(system)) {}

  void rebind(const Model&, State&) override {
    system_->forget();
    shift_ = 0;
  }

  StepReport step(const StepInput& input, State& state) override {
    const Model& m = input.model;
    const Control& c = input.end;
    const double h = input.h;
    potential_.begin(m, c, state, h);
    z_.u.resize(state.vertex_position.size());
    for (Index v = 0; v < m.vertex_count(); ++v) z_.u[v] = m.vertex_alive[v] ? h * state.vertex_velocity[v] : Vec3d{};
    z_.q = state.frame_rotation;
    if (m.has_inertia())
      for (Index f = 0; f < m.frame_count(); ++f)
        if (c.frame_control[f] != FrameControl::fixed) z_.q[f] = guessed_frame(m, c, state, h, f);
    const StepReport report = minimise(m, c, {.tolerance = options_.tolerance, .max_iterations = options_.max_iterations});
    frames_start_ = state.frame_rotation;
    store(m, c, state);
    state.vertex_velocity_previous = state.vertex_velocity;
    for (Index v = 0; v < m.vertex_count(); ++v) state.vertex_velocity[v] = (1 / h) * z_.u[v];
    update_frame_velocity(m, c, frames_start_, h, state);
    return report;
  }

  StepReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    const Model& m = input.model;
    const Control& c = input.end;
    potential_.begin(m, c, state, 0);
    z_.u.assign(state.vertex_position.size(), {});
    z_.q = state.frame_rotation;
    StepReport report = minimise(m, c, options);
    if (!report.not_converged && !report.non_finite) report.unstable_modes = count_unstable();
    store(m, c, state);
    return report;
  }

 private:
  /// Iterates from the unknowns z_.
  StepReport minimise(const Model& m, const Control& c, const StaticOptions& options);
  void store(const Model& m, const Control& c, State& state) const;
  void number_positions(const Model& m, const Control& c);
  /// Matrix of the positions alone; it depends on the frames only when stretching and shearing differ.
  void factor_positions(const Model& m, const std::vector<Quatd>& q);
  void solve_positions(const Model& m, Unknowns& z);
  /// Direction into step_, from a factor without shift of this signature on; false when no shift makes the matrix positive
  /// definite (non-finite entries).
  bool solve(Signature signature, double force);
  bool solve_for(const Field& gradient);
  /// Negative pivots of the Hessian at z_: by Sylvester's law as many as there are directions of falling energy.
  int count_unstable();
  /// Finds the direction by the unsymmetric Jacobian of the residual, after linearise(). False when it is singular.
  bool solve_residual(const Model& m, const Control& c);
  bool descend_residual(const Model& m, const Control& c);
  bool predict(const Model& m, const Control& c);
  double longest_step(const Model& m) const;
  double rotation_residual(const Model& m, const Control& c, const std::vector<Vec3d>& gw) const;
  void move(const Model& m, double t);

  MinimiserOptions options_;
  StepPotential potential_;
  Subset whole_;
  std::unique_ptr<LinearSystem> system_;
  Field step_, gradient_, gradient_trial_, right_;
  Unknowns z_, trial_;
  std::vector<Eigen::Triplet<double>> triplets_;
  std::vector<Index> position_unknown_;
  Eigen::SimplicialLDLT<Sparse> position_factor_;
  using PositionRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  Index position_count_ = 0;
  bool position_solvable_ = false, one_stiffness_ = true;
  PositionRows position_rhs_, position_step_;
  std::vector<Vec3d> turn_;
  std::vector<Quatd> frames_start_;
  double shift_ = 0;
};

void Minimiser::number_positions(const Model& m, const Control& c) {
  position_unknown_.assign(m.vertex_count(), -1);
  position_count_ = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (!c.vertex_fixed[v] && m.vertex_alive[v]) position_unknown_[v] = position_count_++;
  one_stiffness_ = !c.has_vertex_terms();
  for (Index s = 0; s < m.segment_count(); ++s) one_stiffness_ = one_stiffness_ && potential_.position_stiffness(s).uniform();
}

/// One scalar per vertex when stretching and shearing are equally stiff, a 3x3 block otherwise.
void Minimiser::factor_positions(const Model& m, const std::vector<Quatd>& q) {
  const int size = one_stiffness_ ? 1 : 3;
  triplets_.clear();
  const auto add_block = [&](Index row, Index col, const Mat3<double>& block) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        if (size * row + i >= size * col + j) triplets_.emplace_back(size * row + i, size * col + j, block.m[i][j]);
  };
  const Control& c = potential_.control();
  std::vector<Mat3<double>> free(c.held_axes.empty() ? 0 : static_cast<std::size_t>(position_count_), identity3(1.0));
  for (const HeldAxes& held : c.held_axes)
    if (const Index i = position_unknown_[held.vertex]; i >= 0) free[static_cast<std::size_t>(i)] = projector_across(held);
  const auto add = [&](Index row, Index col, const Mat3<double>& block) {
    if (free.empty()) add_block(row, col, block);
    else add_block(row, col, free[static_cast<std::size_t>(row)] * block * free[static_cast<std::size_t>(col)]);
  };
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0) add(i, i, identity3(potential_.vertex_weight(v)));
  for (Index s = 0; s < m.segment_count(); ++s) {
    const PerAxis k = potential_.position_stiffness(s);
    const Mat3<double> C = one_stiffness_ ? identity3(k.d3) : rotated_diagonal(rotation_matrix(q[s]), cast<double>(k));
    const Index a = position_unknown_[m.segment_vertices[s][0]], b = position_unknown_[m.segment_vertices[s][1]];
    if (a >= 0) add(a, a, C);
    if (b >= 0) add(b, b, C);
    if (a >= 0 && b >= 0) add(std::max(a, b), std::min(a, b), -1.0 * C);
  }
  for (const Index spring : potential_.springs()) {
    const SpringAtHand at = potential_.spring_at(z_, spring);
    const Mat3<double> K = vertex_spring::upper_hessian(at.terms);
    const Index a = position_unknown_[at.a], b = at.b < 0 ? -1 : position_unknown_[at.b];
    if (a >= 0) add(a, a, K);
    if (b >= 0) add(b, b, K);
    if (a >= 0 && b >= 0) add(std::max(a, b), std::min(a, b), -1.0 * K);
  }
  double stiffest = 1;
  for (Index s = 0; s < m.segment_count() && !free.empty(); ++s)
    stiffest = std::max(stiffest, potential_.position_stiffness(s).largest());
  for (std::size_t i = 0; i < free.size(); ++i) {
    const Mat3<double> held = identity3(1.0) + -1.0 * free[i];
    add_block(static_cast<Index>(i), static_cast<Index>(i), stiffest * held);
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

void Minimiser::solve_positions(const Model& m, Unknowns& z) {
  if (!one_stiffness_) factor_positions(m, z.q);
  if (!position_solvable_) return;
  potential_.gradient(z, gradient_trial_.x, gradient_trial_.w);
  position_rhs_.resize(position_count_, 3);
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0)
      position_rhs_.row(i) << -gradient_trial_.x[v].x, -gradient_trial_.x[v].y, -gradient_trial_.x[v].z;
  for (const HeldAxes& held : potential_.control().held_axes)
    if (const Index i = position_unknown_[held.vertex]; i >= 0) {
      const Vec3d free = across(held, -gradient_trial_.x[held.vertex]);
      position_rhs_.row(i) << free.x, free.y, free.z;
    }
  if (one_stiffness_) {
    position_step_ = position_factor_.solve(position_rhs_);
  } else {
    const Eigen::VectorXd rhs = Eigen::Map<const Eigen::VectorXd>(position_rhs_.data(), position_rhs_.size());
    const Eigen::VectorXd step = position_factor_.solve(rhs);
    position_step_ = Eigen::Map<const PositionRows>(step.data(), position_count_, 3);
  }
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (const Index i = position_unknown_[v]; i >= 0)
      z.u[v] += Vec3d{position_step_(i, 0), position_step_(i, 1), position_step_(i, 2)};
}

bool Minimiser::solve_for(const Field& gradient) {
  right_ = gradient;
  for (Vec3d& f : right_.x) f = -f;
  for (Vec3d& f : right_.w) f = -f;
  return system_->solve(right_, step_);
}

bool Minimiser::solve(Signature signature, double force) {
  Shift shift{.force = force, .positions = !position_solvable_};
  while (!signature.definite) {
    shift.size = shift.size == 0 ? std::max(1e-9, 0.05 * shift_) : 10 * shift.size;
    if (!(shift.size < 1e12)) return false;
    signature = system_->factorise(shift);
  }
  shift_ = shift.size;
  return solve_for(gradient_);
}

int Minimiser::count_unstable() {
  if (system_->empty()) return 0;
  return system_->linearise(potential_, z_, {.curvature = Curvature::exact}).negative;
}

bool Minimiser::solve_residual(const Model& m, const Control& c) {
  turn_.resize(m.segment_count());
  for (Index s = 0; s < m.segment_count(); ++s) {
    const Vec3d follower = c.has_torque ? rotate(z_.q[s], c.frame_torque_material[s]) : Vec3d{};
    const Vec3d g = gradient_.w[s] + potential_.torque(s, z_.q[s]);  // without the torque's own share
    turn_[s] = -0.5 * g + follower;
  }
  right_ = gradient_;
  for (Vec3d& f : right_.x) f = -f;
  for (Vec3d& f : right_.w) f = -f;
  return system_->solve_skew(right_, turn_, step_);
}

/// Size of all couples together, each over its segment's length: what the residual's Newton direction lowers.
double Minimiser::rotation_residual(const Model& m, const Control& c, const std::vector<Vec3d>& gw) const {
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

/// Sets the trial to a share t of the direction.
void Minimiser::move(const Model& m, double t) {
  trial_ = z_;
  for (Index v = 0; v < m.vertex_count(); ++v) trial_.u[v] += t * step_.x[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(step_.w[s]) > 0) trial_.q[s] = normalized(rotation_exp(t * step_.w[s]) * z_.q[s]);
  solve_positions(m, trial_);
}

/// 1, or less when some frame would turn by more than a radian.
double Minimiser::longest_step(const Model& m) const {
  double longest = 1;
  for (Index s = 0; s < m.segment_count(); ++s) longest = std::max(longest, norm(step_.w[s]));
  return 1 / longest;
}

bool Minimiser::descend_residual(const Model& m, const Control& c) {
  const double before = rotation_residual(m, c, gradient_.w);
  double t = longest_step(m);
  for (int cut = 0; cut < 8; ++cut, t *= 0.5) {
    move(m, t);
    potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
    if (rotation_residual(m, c, gradient_trial_.w) <= (1 - 1e-3 * t) * before) return true;
  }
  return false;
}

/// First guess where clamps move: the linear response of the whole rod, step_.w and step_.x. It is found before the motion is
/// imposed: a clamp that turns by 30 degrees at once would bend a single joint so far that Newton's method fails, while all
/// joints together bend by little. Returns false when no clamp moves or the response is not usable.
bool Minimiser::predict(const Model& m, const Control& c) {
  constexpr double kSmall = 1e-5;  // share of the motion for the difference quotient
  const State& start = potential_.start();
  const Unknowns at_start{std::vector<Vec3d>(start.vertex_position.size()), start.frame_rotation};
  trial_ = at_start;
  double moved = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!c.vertex_fixed[v] || !m.vertex_alive[v]) continue;
    trial_.u[v] = kSmall * (c.vertex_target[v] - start.vertex_position[v]);
    moved = std::max(moved, norm(trial_.u[v]));
  }
  for (const HeldAxes& held : c.held_axes) {
    if (!m.vertex_alive[held.vertex]) continue;
    Vec3d& u = trial_.u[held.vertex];
    u = kSmall * along(held, held.target - start.vertex_position[held.vertex]);
    moved = std::max(moved, norm(u));
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] != FrameControl::fixed) continue;
    const Vec3d turn = kSmall * rotation_log(c.frame_target[f] * conj(at_start.q[f]));
    trial_.q[f] = normalized(rotation_exp(turn) * at_start.q[f]);
    moved = std::max(moved, norm(turn));
  }
  if (moved == 0) return false;
  potential_.gradient(at_start, gradient_.x, gradient_.w);
  potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
  for (std::size_t v = 0; v < gradient_.x.size(); ++v) gradient_.x[v] += (1 / kSmall) * (gradient_trial_.x[v] - gradient_.x[v]);
  for (std::size_t f = 0; f < gradient_.w.size(); ++f) gradient_.w[f] += (1 / kSmall) * (gradient_trial_.w[f] - gradient_.w[f]);
  system_->linearise(potential_, at_start, {.curvature = Curvature::exact});
  return solve_for(gradient_) && longest_step(m) == 1;
}

/// Imposes prescribed displacements and frames; a hinged frame goes to the nearest one that its hinge allows.
void impose(const Model& m, const Control& c, const State& start, Unknowns& z) {
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (c.vertex_fixed[v]) z.u[v] = c.vertex_target[v] - start.vertex_position[v];
  for (const HeldAxes& held : c.held_axes) {
    if (!m.vertex_alive[held.vertex]) continue;
    const Vec3d& x = start.vertex_position[held.vertex];
    z.u[held.vertex] = across(held, z.u[held.vertex]) + along(held, held.target - x);
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] == FrameControl::fixed) z.q[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) z.q[f] = nearest_on_hinge(z.q[f], c.frame_target[f], c.frame_hinge_axis[f]);
  }
}

StepReport Minimiser::minimise(const Model& m, const Control& c, const StaticOptions& options) {
  StepReport report;
  const State& start = potential_.start();
  whole_ = whole_of(m);
  system_->bind(m, c, whole_, potential_.h());
  const bool predicted = potential_.is_static() && predict(m, c);
  if (predicted) {
    trial_ = {step_.x, start.frame_rotation};
    for (Index s = 0; s < m.segment_count(); ++s) trial_.q[s] = normalized(rotation_exp(step_.w[s]) * start.frame_rotation[s]);
    impose(m, c, start, trial_);
  }
  impose(m, c, start, z_);
  number_positions(m, c);
  factor_positions(m, z_.q);
  solve_positions(m, z_);

  double stiffest = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    stiffest = std::max(stiffest, m.segment_stiffness[s].largest() / m.segment_rest_length[s]);
  StepPotential::Residual residual;
  double scale = 0, floor = 0;
  const auto measure = [&] {
    potential_.set_torque_point(z_.q);
    potential_.gradient(z_, gradient_.x, gradient_.w);
    residual = potential_.residual(gradient_.x, gradient_.w);
    scale = std::max(potential_.force_scale(z_), std::numeric_limits<double>::min());
    floor = potential_.rounding_floor(z_.u, scale);
  };
  measure();
  if (predicted) {
    const double unpredicted = residual.value;
    std::swap(z_, trial_);
    solve_positions(m, z_);
    measure();
    if (!(residual.value < unpredicted)) {
      std::swap(z_, trial_);
      measure();
    }
  }
  double before = std::numeric_limits<double>::infinity();
  // Near an instability a small residual is a large displacement along the mode that is about to grow, and that moves the place
  // where it does.
  const double goal = (options.along_path ? 1e-3 : 1) * options.tolerance;
  for (report.iterations = 0; !system_->empty() && !(residual.value <= goal * scale); ++report.iterations) {
    // Iterates to the rounding floor of double, or at least to the tolerance.
    if ((residual.value <= floor || residual.value <= options.tolerance * scale) && residual.value > 0.5 * before) break;
    before = residual.value;
    if (report.iterations == options.max_iterations || !std::isfinite(residual.value)) {
      report.not_converged = true;
      break;
    }
    const double force = std::max(scale, 1e-9 * stiffest);
    Signature signature = system_->linearise(potential_, z_, {.curvature = Curvature::exact});
    const bool by_residual = (c.has_torque || options.along_path) && position_solvable_;
    bool accepted = by_residual && solve_residual(m, c) && descend_residual(m, c);
    if (by_residual && !accepted) signature = system_->factorise({});
    if (!accepted && !solve(signature, force)) {
      report.not_converged = true;
      break;
    }
    double slope = 0;
    for (Index s = 0; s < m.segment_count(); ++s) slope += dot(step_.w[s], gradient_.w[s]);
    for (Index v = 0; v < m.vertex_count(); ++v) slope += dot(step_.x[v], gradient_.x[v]);
    const EnergyTerms e0 = potential_.value(z_);
    double t = longest_step(m);
    for (int cut = 0; cut < (residual.value <= floor ? 2 : 40) && !accepted; ++cut, t *= 0.5) {
      move(m, t);
      const double rise = potential_.value(trial_).total() - e0.total();
      accepted = rise <= 1e-4 * t * slope;
      if (!accepted && rise <= 1e-14 * e0.magnitude + std::abs(1e-4 * t * slope)) {
        potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
        accepted = potential_.residual(gradient_trial_.x, gradient_trial_.w).value < residual.value;
      }
    }
    if (!accepted) {
      report.not_converged = residual.value > floor;
      break;
    }
    std::swap(z_, trial_);
    measure();
  }
  if (residual.value <= options.tolerance * scale) report.not_converged = false;
  report.residual = residual.value;
  report.residual_relative = residual.value / scale;
  report.worst_vertex = residual.vertex;
  report.worst_segment = residual.segment;
  report.non_finite = !std::isfinite(residual.value);
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    if (!std::isfinite(norm2(start.vertex_position[v] + z_.u[v]))) {
      report.non_finite = true;
      report.worst_vertex = v;
    }
  return report;
}

void Minimiser::store(const Model& m, const Control& c, State& state) const {
  for (Index v = 0; v < m.vertex_count(); ++v)  // what is held ends exactly where it was asked to be
    state.vertex_position[v] = c.vertex_fixed[v] ? c.vertex_target[v] : state.vertex_position[v] + z_.u[v];
  for (const HeldAxes& held : c.held_axes)
    if (m.vertex_alive[held.vertex]) state.vertex_position[held.vertex] = held_place(held, state.vertex_position[held.vertex]);
  state.frame_rotation = z_.q;
}

}  // namespace

std::unique_ptr<Solver> make_minimiser(std::unique_ptr<LinearSystem> system, const MinimiserOptions& options) {
  return std::make_unique<Minimiser>(options, std::move(system));
}

}  // namespace osier::systems
