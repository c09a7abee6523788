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
//  5. Forces in segments are those of positions that balance at the present frames, to the last digit. The share of an edge that
//     the coordinates cannot hold is kept apart (Unknowns::lost_edge): a rod of EA = 1e14 EI/L^2 would otherwise turn the
//     rounding errors of its strains into forces of a hundredth of its weight. In Hessians a segment is no more than 1e5 times as
//     stiff as the joints at it: for directions that is rigid, and the digits of bending survive.
//  6. Arc-length continuation (Riks 1979, Crisfield 1981; docs/theory/arc_length.md). Along a path of equilibria g(z, load) = 0
//     the load factor is an unknown, too. With the same factor of H, a = -H^-1 g and b = -H^-1 dg/dload, the correction is
//     a + d b, d such that it is across the tangent of the path: at a limit point H is singular, and the pair is not.
#include "solvers/minimiser.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/archive.hpp"
#include "math/quat.hpp"
#include "model/held_axes.hpp"
#include "osier/error.hpp"
#include "solvers/step_potential.hpp"

namespace osier::systems {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double kNearFloor = 1e2;  ///< times the rounding floor: what is left may be rounding
constexpr int kMostAlongPath = 25;  ///< iterations
constexpr double kHoldStill = 1e3;  ///< times what a turn that costs nothing may cost; keeps a path from drifting along it
constexpr int kPatience = 12;       ///< iterations after which directions without stiffness are held
constexpr double kHoldSoft = 1e-2;  ///< shift that does it for soft modes
constexpr int kMostBends = 2;       ///< corrections of a straight move
constexpr double kFarTurn = 0.1;    ///< of a frame by one solve [rad]: beyond, another branch may have been met

class Minimiser final : public Solver {
 public:
  Minimiser(const MinimiserOptions& options, std::unique_ptr<LinearSystem> system)
      : options_(options), system_(std::move(system)) {}

  void rebind(const Model&, State&) override {
    system_->forget();
    shift_ = 0;
  }
  void carry(const Model&, Archive& archive) override { archive(shift_); }

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

  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override {
    const Model& m = input.model;
    const Control& c = input.end;
    potential_.begin(m, c, state, 0);
    z_.u.assign(state.vertex_position.size(), {});
    z_.q = state.frame_rotation;
    was_indefinite_ = false;
    StaticReport report{minimise(m, c, options)};
    report.may_have_jumped = was_indefinite_ || farthest_turn(m, state.frame_rotation) > kFarTurn;
    const auto solved = [&] { return !report.not_converged && !report.non_finite; };
    if (solved()) report.unstable_modes = count_unstable(m);
    if (options.along_path && solved()) report.off_path = is_off_path(m, true);
    constexpr int kMostBranches = 8;
    // The energy of a dead couple depends on the way, so that downhill is not defined.
    while (options.leave_unstable && !c.has_torque && report.unstable_modes > 0 && report.branches_left < kMostBranches) {
      const Unknowns unstable = z_;
      const double energy = potential_.value(z_).total();
      if (!leave(m)) break;
      StaticReport lower{iterate(m, c, options)};
      lower.branches_left = report.branches_left + 1;
      lower.may_have_jumped = report.may_have_jumped;
      lower.modes_left = report.branches_left > 0 ? report.modes_left : report.unstable_modes;
      lower.iterations += report.iterations;
      const bool good = !lower.not_converged && !lower.non_finite && potential_.value(z_).total() < energy;
      if (!good) {
        report.iterations = lower.iterations;
        z_ = unstable;
        break;
      }
      report = lower;
      report.unstable_modes = count_unstable(m);
    }
    store(m, c, state);
    return report;
  }

  PathReport follow_path(const Model& m, LoadPath& path, State& state, const StaticOptions& options,
                         const PathStep& step) override;

 private:
  /// A direction in which a path goes, of length 1.
  struct Tangent {
    std::vector<Vec3d> turn;  ///< per segment, without its spin, which a rod may be free to do
    double load = 0;
  };
  /// Takes loads and targets of a place on a path.
  void set_load(const Model& m, LoadPath& path, const State& start, double load);
  /// Finds how z_ changes with the load factor, into rate_; false where the Hessian is singular.
  bool find_rate(const Model& m, LoadPath& path, double load);
  /// step_ = -H^-1 gradient, for the matrix of find_rate().
  bool solve_on_path(const Model& m, const Control& c, const Field& gradient);
  /// Of the path at z_, after find_rate(), in the direction that has a positive product with `ahead`; null: growing load.
  Tangent tangent(const Model& m, const Tangent* ahead) const;
  double product(const Model& m, const Tangent& t, const std::vector<Vec3d>& turn) const;
  /// Adds `amount` of a direction to the unknowns, and takes what is prescribed.
  void advance(const Model& m, const Field& direction, double amount);
  void measure();
  double farthest_turn(const Model& m, const std::vector<Quatd>& from) const;
  /// Imposes what is prescribed on the unknowns z_, and iterates from there.
  StepReport minimise(const Model& m, const Control& c, const StaticOptions& options);
  StepReport iterate(const Model& m, const Control& c, const StaticOptions& options);
  bool is_off_path(const Model& m, bool spins_count) const;
  void store(const Model& m, const Control& c, State& state) const;
  void number_positions(const Model& m, const Control& c);
  /// Matrix of the positions alone; it depends on the frames only when stretching and shearing differ.
  void factor_positions(const Model& m, const std::vector<Quatd>& q);
  void solve_positions(const Model& m, Unknowns& z);
  /// Direction into step_, from a factor without shift of this signature on; false when no shift makes the matrix positive
  /// definite (non-finite entries).
  bool solve(Signature signature, double force);
  bool solve_for(const Field& gradient);
  /// The number of directions of falling energy at z_: by Sylvester's law that of negative pivots. Directions that cost no
  /// energy are met by rounding errors of either sign, so only what falls faster than those counts.
  int count_unstable(const Model& m);
  enum class For : std::uint8_t { direction, signs };
  void limit_stiffness(const Model& m, double force, For what);
  void set_null_stiffness(const Model& m, double residual);
  /// Finds the softest mode of the Hessian linearised last, as a unit turn of the frame that turns most; false where none falls.
  bool find_softest_mode(const Model& m, double force, Field& mode);
  /// Leaves an unstable equilibrium; false when no lower energy is found.
  bool leave(const Model& m);
  bool judge_floor(const Model& m, double force);
  bool is_rounding_of_lengths(const Model& m, double residual) const;
  /// Finds the direction by the unsymmetric Jacobian of the residual, after linearise(). False when it is singular.
  bool solve_residual(const Model& m, const Control& c);
  void set_turns(const Model& m, const Control& c);
  bool bend_back(const Model& m, double t);
  bool descend_residual(const Model& m, const Control& c);
  bool predict(const Model& m, const Control& c, bool along_path);
  double longest_step(const Model& m) const;
  double rotation_residual(const Model& m, const Control& c, const std::vector<Vec3d>& gw) const;
  void move(const Model& m, double t);

  MinimiserOptions options_;
  StepPotential potential_;
  Subset whole_;
  std::unique_ptr<LinearSystem> system_;
  Field step_, gradient_, gradient_trial_, right_, back_;
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
  std::vector<double> null_stiffness_;  ///< per segment [N m]: a turn that costs less costs nothing
  double force_ = 0;                    ///< the largest at work, of the last minimise()
  double residual_ = 0;                 ///< likewise
  Unknowns at_start_;                   ///< of the step, with no displacement; systems refer to it
  Unknowns predicted_;                  ///< by the tangent of the path
  double predicted_turn_ = 0;
  double length_ = 0;  ///< of the longest connected piece [m]
  bool was_indefinite_ = false;
  // Of z_, by measure():
  StepPotential::Residual left_;  ///< over
  double scale_ = 0, floor_ = 0;  ///< the largest force at work, and rounding
  // Along a path:
  Control here_, ahead_;  ///< at the load of z_, and next to it
  StepPotential ahead_potential_;
  Field rate_, rate_gradient_;
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
  const int most_passes = potential_.is_static() ? 5 : 1;
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  z.lost_edge.clear();
  if (!one_stiffness_) factor_positions(m, z.q);
  if (!position_solvable_) return;
  for (int pass = 0; pass < most_passes; ++pass) {
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
    const auto moved = [&](Index v) {
      const Index i = position_unknown_[v];
      return i < 0 ? Vec3d{} : Vec3d{position_step_(i, 0), position_step_(i, 1), position_step_(i, 2)};
    };
    double size = length_;
    for (const Vec3d& u : z.u) size = std::max(size, norm(u));
    if (pass > 0 && position_step_.cwiseAbs().maxCoeff() <= kRounding * size) {
      // What is left is below the last digit of the coordinates.
      z.lost_edge.resize(m.segment_count());
      for (Index s = 0; s < m.segment_count(); ++s) {
        const auto [from, to] = m.segment_vertices[s];
        z.lost_edge[s] = (1 / m.segment_rest_length[s]) * (moved(to) - moved(from));
      }
      return;
    }
    for (Index v = 0; v < m.vertex_count(); ++v) z.u[v] += moved(v);
  }
}

/// A segment that is many orders stiffer than what bends beside it is rigid; see deviation 5. The signs of pivots need the digits
/// more, and may have segments a good deal softer: a direction must not, or it overshoots where stiff segments close a loop.
void Minimiser::limit_stiffness(const Model& m, double force, For what) {
  constexpr double kOfBending = 1e12, kOfJoints = 1e4, kOfInertia = 1e8, kOfForces = 1e6, kOfItself = 1e-9;
  std::vector<double> most(m.segment_count());
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double l = m.segment_rest_length[s];
    double joints = 0, bending = 0, inertia = 0;
    for (const Index e : m.frame_joints.of(s)) {
      joints = std::max(joints, 0.25 * m.joint_stiffness[e / 2].largest());
      bending = std::max(bending, 0.25 * m.joint_stiffness[e / 2].largest() * m.joint_length[e / 2]);
    }
    for (const Index v : m.segment_vertices[s]) inertia = std::max(inertia, potential_.vertex_weight(v) * l * l);
    const double elastic = what == For::direction ? kOfBending * bending * l / (length_ * length_) : 0;
    most[s] = std::max({elastic, kOfJoints * joints, kOfInertia * inertia, kOfForces * force * l,
                        kOfItself * l * l * potential_.position_stiffness(s).largest()});
  }
  potential_.limit_stiffness(std::move(most));
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

/// What a turn may cost without being told from one that costs nothing: a share of the softest bending that the rods have, the
/// rounding errors of the Hessian, and what the forces left over do to a turn of the whole.
void Minimiser::set_null_stiffness(const Model& m, double residual) {
  constexpr double kShare = 1e-8, kRounding = 2 * std::numeric_limits<double>::epsilon(), kResidual = 4;
  null_stiffness_.assign(m.segment_count(), 0);
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double l = m.segment_rest_length[s];
    double bending = 0;
    for (const Index e : m.frame_joints.of(s)) {
      const Index j = e / 2;
      const double softest = 0.25 * m.joint_stiffness[j].smallest() * m.joint_length[j];
      bending = bending > 0 ? std::min(bending, softest) : softest;
    }
    const double stiff = std::min(potential_.stiffness_limit(s), l * l * potential_.position_stiffness(s).largest());
    null_stiffness_[s] = kShare * bending * l / (length_ * length_) + kRounding * stiff + kResidual * residual * l;
  }
}

int Minimiser::count_unstable(const Model& m) {
  if (system_->empty()) return 0;
  limit_stiffness(m, force_, For::signs);
  set_null_stiffness(m, residual_);
  return system_->linearise(potential_, z_, {.curvature = Curvature::exact, .shift = {.size = 1, .frames = null_stiffness_}})
      .negative;
}

/// Inverse iteration with a shift that just makes the Hessian positive definite.
bool Minimiser::find_softest_mode(const Model& m, double force, Field& mode) {
  constexpr int kBisections = 8, kIterations = 12;
  double low = 0, high = 1e-9;
  const auto is_definite = [&](double size) { return system_->factorise({.size = size, .force = force}).definite; };
  while (!is_definite(high)) {
    low = high, high *= 10;
    if (!(high < 1e12)) return false;
  }
  for (int i = 0; i < kBisections && high > 1.1 * low; ++i) {
    const double middle = low > 0 ? std::sqrt(low * high) : 0.1 * high;
    (is_definite(middle) ? high : low) = middle;
  }
  if (!is_definite(high)) return false;
  mode = gradient_;
  // Any start serves that is not orthogonal to the mode; this one prefers no plane.
  for (Vec3d& x : mode.x) x = {};
  for (Index f = 0; f < m.frame_count(); ++f) {
    const double a = 1 + 0.3 * std::sin(0.7 * f), b = 0.6 + 0.3 * std::cos(1.3 * f);
    mode.w[f] = {a, b, 0.35 * a - 0.2 * b};
  }
  for (int i = 0; i < kIterations; ++i) {
    double largest = 0;
    for (Index s = 0; s < m.segment_count(); ++s) largest = std::max(largest, norm(mode.w[s]));
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    right_ = mode;
    for (Vec3d& x : right_.x) x = {};
    for (Index f = 0; f < m.frame_count(); ++f)
      right_.w[f] = f < m.segment_count() ? (m.segment_rest_length[f] / largest) * right_.w[f] : Vec3d{};
    if (!system_->solve(right_, mode)) return false;
  }
  double largest = 0;
  for (Index s = 0; s < m.segment_count(); ++s) largest = std::max(largest, norm(mode.w[s]));
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  for (Vec3d& x : mode.x) x = (1 / largest) * x;
  for (Vec3d& w : mode.w) w = (1 / largest) * w;
  return true;
}

bool Minimiser::leave(const Model& m) {
  Field mode;
  if (!find_softest_mode(m, force_, mode)) return false;
  step_ = mode;
  const double before = potential_.value(z_).total();
  double lowest = before;
  Unknowns best;
  // Far enough to be seen, and not so far that another branch is met: the way that falls furthest.
  for (const double amount : {1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.2})
    for (const double side : {1.0, -1.0}) {
      move(m, side * amount);
      const double energy = potential_.value(trial_).total();
      if (energy < lowest) lowest = energy, best = trial_;
    }
  if (best.q.empty()) return false;
  z_ = best;
  return true;
}

/// A turn without the spin of a segment about itself.
Vec3d across_segment(const Quatd& q, const Vec3d& turn) {
  const Vec3d d = director3(q);
  return turn - dot(turn, d) * d;
}

/// Whether the equilibrium is another one than the tangent of the path leads to: for a short enough step the difference is of
/// second order, while a path that ends or turns leaves the solver to find whatever lies beyond.
bool Minimiser::is_off_path(const Model& m, bool spins_count) const {
  constexpr double kShare = 0.3, kLargest = 0.5, kLeast = 1e-5;
  if (predicted_.q.empty()) return true;
  double apart = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const Vec3d turn = rotation_log(z_.q[s] * conj(predicted_.q[s]));
    apart = std::max(apart, norm(spins_count ? turn : across_segment(z_.q[s], turn)));
  }
  return apart > std::max(kLeast, kShare * std::min(predicted_turn_, kLargest));
}

/// The part of the residual's Jacobian that is not symmetric.
void Minimiser::set_turns(const Model& m, const Control& c) {
  turn_.resize(m.segment_count());
  for (Index s = 0; s < m.segment_count(); ++s) {
    const Vec3d follower = c.has_torque ? rotate(z_.q[s], c.frame_torque_material[s]) : Vec3d{};
    const Vec3d g = gradient_.w[s] + potential_.torque(s, z_.q[s]);  // without the torque's own share
    turn_[s] = -0.5 * g + follower;
  }
}

bool Minimiser::solve_residual(const Model& m, const Control& c) {
  set_turns(m, c);
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

/// Moves the trial, a share t along the direction, back to where stiff segments keep their lengths: by the correction that the
/// present factor has for what the straight move has added to the gradient. An arch of stiff material between two clamps can
/// bend only along a curve, and a line search along straight lines would creep. False when the correction is not small.
bool Minimiser::bend_back(const Model& m, double t) {
  constexpr double kFarthest = 0.5;
  potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
  for (std::size_t v = 0; v < right_.x.size(); ++v) right_.x[v] = (1 - t) * gradient_.x[v] - gradient_trial_.x[v];
  for (std::size_t f = 0; f < right_.w.size(); ++f) right_.w[f] = (1 - t) * gradient_.w[f] - gradient_trial_.w[f];
  if (!system_->solve(right_, back_)) return false;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (!(norm(back_.w[s]) <= kFarthest)) return false;
  for (Index v = 0; v < m.vertex_count(); ++v) trial_.u[v] += back_.x[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(back_.w[s]) > 0) trial_.q[s] = normalized(rotation_exp(back_.w[s]) * trial_.q[s]);
  solve_positions(m, trial_);
  return true;
}

bool Minimiser::descend_residual(const Model& m, const Control& c) {
  const double before = rotation_residual(m, c, gradient_.w);
  double t = longest_step(m);
  for (int cut = 0; cut < 8; ++cut, t *= 0.5) {
    move(m, t);
    for (int bent = 0; bent <= kMostBends; ++bent) {
      if (bent > 0 && (c.has_torque || !bend_back(m, t))) break;
      potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
      if (rotation_residual(m, c, gradient_trial_.w) <= (1 - 1e-3 * t) * before) return true;
    }
  }
  return false;
}

/// First guess where clamps move: the linear response of the whole rod, step_.w and step_.x. It is found before the motion is
/// imposed: a clamp that turns by 30 degrees at once would bend a single joint so far that Newton's method fails, while all
/// joints together bend by little. Along a path it is the tangent, also where only loads change. Returns false when nothing moves
/// or the response is not usable.
bool Minimiser::predict(const Model& m, const Control& c, bool along_path) {
  const State& start = potential_.start();
  at_start_ = {std::vector<Vec3d>(start.vertex_position.size()), start.frame_rotation};
  Field imposed{std::vector<Vec3d>(start.vertex_position.size()), std::vector<Vec3d>(start.frame_rotation.size())};
  double moved = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!c.vertex_fixed[v] || !m.vertex_alive[v]) continue;
    imposed.x[v] = c.vertex_target[v] - start.vertex_position[v];
    moved = std::max(moved, norm(imposed.x[v]));
  }
  for (const HeldAxes& held : c.held_axes) {
    if (!m.vertex_alive[held.vertex]) continue;
    imposed.x[held.vertex] = along(held, held.target - start.vertex_position[held.vertex]);
    moved = std::max(moved, norm(imposed.x[held.vertex]));
  }
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] != FrameControl::fixed) continue;
    imposed.w[f] = rotation_log(c.frame_target[f] * conj(at_start_.q[f]));
    moved = std::max(moved, norm(imposed.w[f]));
  }
  if (moved == 0 && !along_path) return false;
  limit_stiffness(m, potential_.force_scale(at_start_), For::direction);
  set_null_stiffness(m, 0);
  const Shift hold_still{.size = kHoldStill, .frames = null_stiffness_};
  system_->linearise(potential_, at_start_, {.curvature = Curvature::exact, .shift = along_path ? hold_still : Shift{}});
  trial_ = at_start_;
  solve_positions(m, trial_);  // what is left of the last equilibrium is rounding, and in stiff segments that is no small force
  potential_.gradient(trial_, gradient_.x, gradient_.w);
  Field change;
  system_->product(imposed, change);
  for (std::size_t v = 0; v < gradient_.x.size(); ++v) gradient_.x[v] += change.x[v];
  for (std::size_t f = 0; f < gradient_.w.size(); ++f) gradient_.w[f] += change.w[f];
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

/// The largest sum of rest lengths over what hangs together.
double longest_piece(const Model& m) {
  std::vector<Index> leader(m.vertex_count());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](Index v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) leader[find(m.segment_vertices[s][0])] = find(m.segment_vertices[s][1]);
  std::vector<double> sum(m.vertex_count(), 0);
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) sum[find(m.segment_vertices[s][0])] += m.segment_rest_length[s];
  return sum.empty() ? 0 : *std::max_element(sum.begin(), sum.end());
}

StepReport Minimiser::minimise(const Model& m, const Control& c, const StaticOptions& options) {
  const State& start = potential_.start();
  whole_ = whole_of(m);
  system_->bind(m, c, whole_, potential_.h());
  length_ = longest_piece(m);
  number_positions(m, c);
  factor_positions(m, start.frame_rotation);
  predicted_.q.clear();
  const bool predicted = potential_.is_static() && predict(m, c, options.along_path);
  if (predicted) {
    predicted_turn_ = 0;
    trial_ = {step_.x, start.frame_rotation};
    for (Index s = 0; s < m.segment_count(); ++s) {
      predicted_turn_ = std::max(predicted_turn_, norm(step_.w[s]));
      trial_.q[s] = normalized(rotation_exp(step_.w[s]) * start.frame_rotation[s]);
    }
    impose(m, c, start, trial_);
  }
  impose(m, c, start, z_);
  factor_positions(m, z_.q);
  solve_positions(m, z_);
  if (predicted) {
    const auto left = [&](const Unknowns& z) {
      potential_.set_torque_point(z.q);
      potential_.gradient(z, gradient_trial_.x, gradient_trial_.w);
      return potential_.residual(gradient_trial_.x, gradient_trial_.w).value;
    };
    const double unpredicted = left(z_);
    right_ = gradient_;
    solve_positions(m, trial_);
    double best = left(trial_);
    Unknowns guess = trial_;
    // Turns along straight lines stretch what is stiff.
    for (int bent = 0; bent < kMostBends && !c.has_torque && bend_back(m, 1); ++bent)
      if (const double now = left(trial_); now < best) best = now, guess = trial_;
    if (options.along_path) predicted_ = guess;
    if (best < unpredicted) std::swap(z_, guess);
  }
  return iterate(m, c, options);
}

/// Whether what is left at the rounding floor moves nothing that coordinates could hold much better.
bool Minimiser::judge_floor(const Model& m, double force) {
  constexpr double kNothing = 1e-10;
  limit_stiffness(m, force, For::direction);
  if (!solve(system_->linearise(potential_, z_, {.curvature = Curvature::exact}), force)) return false;
  double moved = 0;
  for (const Vec3d& x : step_.x) moved = std::max(moved, norm(x));
  for (Index s = 0; s < m.segment_count(); ++s) moved = std::max(moved, m.segment_rest_length[s] * norm(step_.w[s]));
  return moved <= kNothing * length_;
}

/// What is left of the equations at z_.
void Minimiser::measure() {
  potential_.set_torque_point(z_.q);
  potential_.gradient(z_, gradient_.x, gradient_.w);
  left_ = potential_.residual(gradient_.x, gradient_.w);
  scale_ = std::max(potential_.force_scale(z_), std::numeric_limits<double>::min());
  floor_ = potential_.rounding_floor(z_, scale_);
}

double Minimiser::farthest_turn(const Model& m, const std::vector<Quatd>& from) const {
  double most = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) most = std::max(most, norm(rotation_log(z_.q[s] * conj(from[s]))));
  return most;
}

/// Whether a residual of statics may be what stiff segments make of the last digits of frames: those of an arch between two
/// clamps add up to its span no better than to 1e-16, and EA times that is a force. judge_floor() says whether it matters.
bool Minimiser::is_rounding_of_lengths(const Model& m, double residual) const {
  constexpr double kDigits = 64 * std::numeric_limits<double>::epsilon();
  double stiffest = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    stiffest = std::max(stiffest, potential_.position_stiffness(s).largest() * m.segment_rest_length[s]);
  return potential_.is_static() && residual <= kDigits * stiffest;
}

StepReport Minimiser::iterate(const Model& m, const Control& c, const StaticOptions& options) {
  StepReport report;
  const State& start = potential_.start();
  double stiffest = 0;
  for (Index s = 0; s < m.segment_count(); ++s)
    stiffest = std::max(stiffest, m.segment_stiffness[s].largest() / m.segment_rest_length[s]);
  const StepPotential::Residual& residual = left_;
  const double &scale = scale_, &floor = floor_;
  measure();
  double before = std::numeric_limits<double>::infinity();
  // Near an instability a small residual is a large displacement along the mode that is about to grow, and that moves the place
  // where it does.
  const double goal = (options.along_path ? 1e-3 : 1) * options.tolerance;
  // A path is followed in steps that need few iterations; one that wanders about has lost it.
  const int limit = options.along_path ? std::min(options.max_iterations, kMostAlongPath) : options.max_iterations;
  for (report.iterations = 0; !system_->empty() && !(residual.value <= goal * scale); ++report.iterations) {
    // Iterates to the rounding floor of double, or at least to the tolerance.
    if ((residual.value <= floor || residual.value <= options.tolerance * scale) && residual.value > 0.5 * before) break;
    before = residual.value;
    if (report.iterations == limit || !std::isfinite(residual.value)) {
      report.not_converged = true;
      break;
    }
    const double force = std::max(scale, 1e-9 * stiffest);
    limit_stiffness(m, scale, For::direction);
    Signature signature = system_->linearise(potential_, z_, {.curvature = Curvature::exact});
    was_indefinite_ = was_indefinite_ || !signature.definite;
    // A buckled round rod may roll about the line between its clamps at no cost: Newton's method would go on rolling it for ever.
    if (potential_.is_static() && signature.definite && report.iterations >= kPatience) {
      set_null_stiffness(m, 0);
      signature = system_->factorise({.size = kHoldStill, .frames = null_stiffness_});
    }
    const bool by_residual = (c.has_torque || options.along_path) && position_solvable_;
    bool accepted = false;
    if (by_residual && !c.has_torque) {
      // Directions that cost nothing are held by next to nothing, so that the path does not drift along them.
      set_null_stiffness(m, 0);
      system_->factorise({.size = kHoldStill, .frames = null_stiffness_});
      accepted = solve_for(gradient_) && descend_residual(m, c);
    }
    if (by_residual && !accepted) accepted = solve_residual(m, c) && descend_residual(m, c);
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
      for (int bent = 0; bent <= kMostBends && !accepted; ++bent) {
        // Soft modes are held while stiff segments get their lengths back: only those are to be corrected.
        if (bent == 1 && cut == 0 && report.iterations >= kPatience) system_->factorise({.size = kHoldSoft, .force = force});
        if (bent > 0 && !bend_back(m, t)) break;
        const double rise = potential_.value(trial_).total() - e0.total();
        accepted = rise <= 1e-4 * t * slope;
        if (!accepted && rise <= 1e-14 * e0.magnitude + std::abs(1e-4 * t * slope)) {
          potential_.gradient(trial_, gradient_trial_.x, gradient_trial_.w);
          accepted = potential_.residual(gradient_trial_.x, gradient_trial_.w).value < residual.value;
        }
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
  else if ((residual.value <= kNearFloor * floor || is_rounding_of_lengths(m, residual.value)) && !system_->empty() &&
           (potential_.is_static() || report.not_converged))
    report.not_converged = !judge_floor(m, std::max(scale, 1e-9 * stiffest));
  force_ = scale, residual_ = residual.value;
  report.residual = residual.value;
  // What rounding leaves of forces is no force: rods at rest.
  report.residual_relative = residual.value <= floor && scale <= floor ? 0 : residual.value / scale;
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

// ---- along a path ----

void Minimiser::set_load(const Model& m, LoadPath& path, const State& start, double load) {
  here_ = path.at(load);
  potential_.begin(m, here_, start, 0);
}

/// The turns of a direction, weighted by lengths: 1 when all segments turn by one radian.
double Minimiser::product(const Model& m, const Tangent& t, const std::vector<Vec3d>& turn) const {
  double sum = 0, length = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    sum += m.segment_rest_length[s] * dot(t.turn[s], turn[s]);
    length += m.segment_rest_length[s];
  }
  return length > 0 ? sum / length : 0;
}

bool Minimiser::solve_on_path(const Model& m, const Control& c, const Field& gradient) {
  if (!c.has_torque) return solve_for(gradient);
  right_ = gradient;
  for (Vec3d& f : right_.x) f = -f;
  for (Vec3d& f : right_.w) f = -f;
  set_turns(m, c);
  return system_->solve_skew(right_, turn_, step_);
}

/// By a difference of the gradient between two loads, which is exact where loads grow in proportion to the factor.
bool Minimiser::find_rate(const Model& m, LoadPath& path, double load) {
  constexpr double kDifference = 1e-4;
  const double d = load > 0.5 ? -kDifference : kDifference;  // keyframes end at 1
  ahead_ = path.at(load + d);
  const State& start = potential_.start();
  ahead_potential_.begin(m, ahead_, start, 0);
  ahead_potential_.set_torque_point(z_.q);
  ahead_potential_.gradient(z_, rate_gradient_.x, rate_gradient_.w);
  for (std::size_t v = 0; v < rate_gradient_.x.size(); ++v)
    rate_gradient_.x[v] = (1 / d) * (rate_gradient_.x[v] - gradient_.x[v]);
  for (std::size_t f = 0; f < rate_gradient_.w.size(); ++f)
    rate_gradient_.w[f] = (1 / d) * (rate_gradient_.w[f] - gradient_.w[f]);
  Field imposed{std::vector<Vec3d>(start.vertex_position.size()), std::vector<Vec3d>(start.frame_rotation.size())};
  bool moves = false;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (here_.vertex_fixed[v] && m.vertex_alive[v]) imposed.x[v] = (1 / d) * (ahead_.vertex_target[v] - here_.vertex_target[v]);
  for (std::size_t i = 0; i < here_.held_axes.size(); ++i)
    if (const HeldAxes& held = here_.held_axes[i]; m.vertex_alive[held.vertex])
      imposed.x[held.vertex] = (1 / d) * along(held, ahead_.held_axes[i].target - held.target);
  for (Index f = 0; f < m.frame_count(); ++f)
    if (here_.frame_control[f] == FrameControl::fixed)
      imposed.w[f] = (1 / d) * rotation_log(ahead_.frame_target[f] * conj(here_.frame_target[f]));
  for (const Vec3d& x : imposed.x) moves = moves || norm2(x) > 0;
  for (const Vec3d& w : imposed.w) moves = moves || norm2(w) > 0;
  // At the beginning there are no forces yet, and those that come are what a segment has to be stiff against.
  const double coming = potential_.residual(rate_gradient_.x, rate_gradient_.w).value;
  limit_stiffness(m, std::max(scale_, coming), For::direction);
  system_->linearise(potential_, z_, {.curvature = Curvature::exact});
  set_null_stiffness(m, 0);
  system_->factorise({.size = kHoldStill, .frames = null_stiffness_});
  if (moves) {
    Field change;
    system_->product(imposed, change);
    for (std::size_t v = 0; v < change.x.size(); ++v) rate_gradient_.x[v] += change.x[v];
    for (std::size_t f = 0; f < change.w.size(); ++f) rate_gradient_.w[f] += change.w[f];
  }
  if (!solve_on_path(m, here_, rate_gradient_)) return false;
  rate_ = step_;
  for (std::size_t v = 0; v < imposed.x.size(); ++v) rate_.x[v] += imposed.x[v];
  for (std::size_t f = 0; f < imposed.w.size(); ++f) rate_.w[f] += imposed.w[f];
  return true;
}

Minimiser::Tangent Minimiser::tangent(const Model& m, const Tangent* ahead) const {
  Tangent t{std::vector<Vec3d>(m.segment_count()), 1};
  for (Index s = 0; s < m.segment_count(); ++s) t.turn[s] = across_segment(z_.q[s], rate_.w[s]);
  double size = std::sqrt(1 + product(m, t, t.turn));
  if (ahead && product(m, *ahead, t.turn) + ahead->load < 0) size = -size;
  for (Vec3d& w : t.turn) w = (1 / size) * w;
  t.load /= size;
  return t;
}

void Minimiser::advance(const Model& m, const Field& direction, double amount) {
  for (Index v = 0; v < m.vertex_count(); ++v) z_.u[v] += amount * direction.x[v];
  for (Index s = 0; s < m.segment_count(); ++s)
    if (norm2(direction.w[s]) > 0) z_.q[s] = normalized(rotation_exp(amount * direction.w[s]) * z_.q[s]);
  impose(m, here_, potential_.start(), z_);
  if (!one_stiffness_) factor_positions(m, z_.q);
  solve_positions(m, z_);
}

PathReport Minimiser::follow_path(const Model& m, LoadPath& path, State& state, const StaticOptions& options,
                                  const PathStep& step) {
  constexpr int kMostCorrections = 12;
  constexpr double kLongestTurn = 0.5, kLoadShare = 0.5, kAccuracy = 1e-3;
  constexpr double kSameWay = 0.98;  ///< least cosine of the angle between the directions at the two ends of a step
  PathReport report;
  report.load = step.load;
  report.not_converged = true;
  z_.u.assign(state.vertex_position.size(), {});
  z_.q = state.frame_rotation;
  set_load(m, path, state, step.load);
  whole_ = whole_of(m);
  system_->bind(m, here_, whole_, 0);
  length_ = longest_piece(m);
  number_positions(m, here_);
  factor_positions(m, z_.q);
  solve_positions(m, z_);
  measure();
  if (!find_rate(m, path, step.load)) return report;
  Tangent behind;
  if (step.before) {
    behind.turn.resize(m.segment_count());
    for (Index s = 0; s < m.segment_count(); ++s) behind.turn[s] = rotation_log(z_.q[s] * conj(step.before->frame_rotation[s]));
    behind.load = step.load - step.load_before;
  }
  const Tangent along = tangent(m, step.before ? &behind : nullptr);
  double load = step.load + step.length * along.load;
  const double predicted_load = load;
  predicted_turn_ = 0;
  for (const Vec3d& w : along.turn) predicted_turn_ = std::max(predicted_turn_, step.length * norm(w));
  if (!(predicted_turn_ <= kLongestTurn)) return report;
  set_load(m, path, state, load);
  const Field rate = rate_;
  advance(m, rate, step.length * along.load);
  predicted_ = z_;
  measure();
  double before = std::numeric_limits<double>::infinity();
  const double goal = kAccuracy * options.tolerance;
  for (; !(left_.value <= goal * scale_); ++report.iterations) {
    if ((left_.value <= floor_ || left_.value <= options.tolerance * scale_) && left_.value > 0.5 * before) break;
    before = left_.value;
    if (report.iterations == kMostCorrections || !std::isfinite(left_.value) || !find_rate(m, path, load)) return report;
    if (!solve_on_path(m, here_, gradient_)) return report;
    Field correction = step_;
    const double change = -product(m, along, correction.w) / (product(m, along, rate_.w) + along.load);
    for (std::size_t v = 0; v < correction.x.size(); ++v) correction.x[v] += change * rate_.x[v];
    for (std::size_t f = 0; f < correction.w.size(); ++f) correction.w[f] += change * rate_.w[f];
    load += change;
    if (!(std::abs(load - predicted_load) <= kLoadShare * step.length)) return report;
    for (Index s = 0; s < m.segment_count(); ++s)
      if (!(norm(correction.w[s]) <= kLongestTurn)) return report;
    set_load(m, path, state, load);
    advance(m, correction, 1);
    measure();
  }
  report.load = load;
  report.residual = left_.value;
  report.residual_relative = left_.value <= floor_ && scale_ <= floor_ ? 0 : left_.value / scale_;
  report.worst_vertex = left_.vertex, report.worst_segment = left_.segment;
  force_ = scale_, residual_ = left_.value;
  report.not_converged = left_.value > options.tolerance * scale_ && left_.value > kNearFloor * floor_;
  report.off_path = is_off_path(m, false);
  if (report.not_converged || report.off_path || !find_rate(m, path, load)) {
    report.not_converged = true;
    return report;
  }
  const Tangent end = tangent(m, &along);
  report.slope = end.load;
  // Another path that crosses this one, or passes near, goes another way.
  if (!(product(m, along, end.turn) + along.load * end.load >= kSameWay)) {
    report.off_path = report.not_converged = true;
    return report;
  }
  report.unstable_modes = count_unstable(m);
  here_ = path.at(load);
  store(m, here_, state);
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
