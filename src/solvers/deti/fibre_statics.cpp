// Symbols: y unknowns, f force, K exact stiffness, s shift, M masses.
//
// A Newton step moves sections along straight lines, which stretches what turns, and the next one takes the stretch back: energy
// may rise for a few steps, but has to be lower after kMostRises of them, or the whole is taken back and turns are made smaller.
#include "solvers/deti/fibre_statics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "math/quat.hpp"
#include "solvers/deti/block_chain.hpp"
#include "solvers/deti/fibre_springs.hpp"

namespace osier::deti {

namespace {

constexpr int kMostRises = 4;
constexpr double kMostTurn = 0.3, kLeastTurn = 1e-4;  ///< of a section in one step [rad]

}  // namespace

Held held_unknowns(const Control& c, const Chain& chain, std::size_t k) {
  Held held;
  const Index v = chain.vertices[k];
  held.centre = c.vertex_fixed[v] != 0;
  Quatd frame{};
  if (const Index anchor = chain.anchor[k]; anchor >= 0 && c.frame_control[anchor] == FrameControl::fixed) {
    held.frame = true;
    frame = c.frame_target[anchor];
  }
  // A segment whose frame is held has the sections at both of its ends held.
  for (const std::size_t s : {k - 1, k}) {
    if (held.frame || s >= chain.segments.size() || c.frame_control[chain.segments[s]] != FrameControl::fixed) continue;
    held.frame = true;
    const Quatd first = chain.rest.frame[s], second = chain.rest.frame[s + 1];
    const Quatd rest = segment_frame(chain.rest.position[s], chain.rest.position[s + 1], first, second);
    frame = c.frame_target[chain.segments[s]] * conj(rest) * chain.rest.frame[k];
  }
  put_section(held.centre ? c.vertex_target[v] : Vec3d{}, frame, chain.fibre.side, held.target);
  return held;
}

FibreEquilibrium::FibreEquilibrium(const Fibre& fibre, Variant variant)
    : fibre_(fibre), model_(model_numbers(fibre.size(), 1), 0.0), step_(step_numbers(fibre.size(), 1, variant), 0.0) {
  view_ = view_of(fibre.size(), 1, variant, model_.data(), step_.data());
  load_fibre(fibre, view_, 0);
}

double FibreEquilibrium::energy() const {
  double work = 0;
  for (Index i = 0; i < view_.sections * kUnknowns; ++i) work += view_.load[i] * view_.y[i];
  return Springs<double>{view_}.energy() - work;
}

/// Held unknowns to their targets. What lies between is carried along by Newton's steps.
void FibreEquilibrium::turn_to_targets() {
  for (Index i = 0; i < view_.sections * kUnknowns; ++i)
    if (view_.free[i] == 0) view_.y[i] = view_.target[i];
}

/// The largest force left, of moments over half the side.
double FibreEquilibrium::residual(Index* worst) {
  Springs<double>{view_}.forces();
  double most = 0;
  for (Index i = 0; i < view_.sections * kUnknowns; ++i)
    if (!(std::abs(view_.force[i]) <= most)) {
      most = std::abs(view_.force[i]);
      if (worst) *worst = i / kUnknowns;
    }
  return most;
}

/// What rounding leaves of forces: the digits of springs' lengths.
double FibreEquilibrium::rounding() const {
  double most = 0;
  for (const Cuboid& c : fibre_.cuboids)
    for (const auto& [k, i] : {std::pair{c.k.k1, 0}, {c.k.kf, 1}, {c.k.kd, 2}, {c.k.kc, kCuboidSprings - 1}})
      most = std::max(most, std::abs(k) * c.rest[i]);
  for (const SectionSprings& s : fibre_.sections) most = std::max(most, s.k2 * s.rest[0]);
  return 16 * std::numeric_limits<double>::epsilon() * most;
}

/// The largest force at work: loads, what holds the fibre, and what sections pass on.
double FibreEquilibrium::scale() {
  AlignedArray<double> free(view_.free, view_.free + view_.sections * kUnknowns),
      load(view_.load, view_.load + view_.sections * kUnknowns);
  std::fill_n(view_.free, free.size(), 1.0);
  std::fill_n(view_.load, load.size(), 0.0);
  Springs<double>{view_}.forces();
  Vec3d sum{};
  double most = 0;
  for (Index k = 0; k < view_.sections; ++k) {
    const double* f = view_.force + k * kUnknowns;
    sum += {f[0], f[1], f[2]};
    for (int i = 0; i < kUnknowns; ++i)
      most = std::max({most, std::abs(f[i]), std::abs(load[static_cast<std::size_t>(k * kUnknowns + i)])});
    most = std::max(most, norm(sum));
  }
  std::copy(free.begin(), free.end(), view_.free);
  std::copy(load.begin(), load.end(), view_.load);
  return most;
}

/// K + s M; returns the number of negative pivots.
int FibreEquilibrium::factor(double shift) {
  Springs<double>{view_}.assemble<Stiffness::exact>(1);
  BlockChain<double> chain(view_.sections, view_.diagonal, view_.above);
  chain.factor([&](Index k, Block<double>& S, Block<double>& U) {
    for (int r = 0; r < kUnknowns; ++r) {
      const Index row = k * kUnknowns + r;
      for (int c = r; c < kUnknowns; ++c) S.a[r][c] = view_.diagonal[row * kUnknowns + c];
      S.a[r][r] += view_.free[row] == 0 ? 1 : shift * view_.mass[k];
      for (int c = 0; c < kUnknowns && k + 1 < view_.sections; ++c) U.a[r][c] = view_.above[row * kUnknowns + c];
    }
  });
  int negative = 0;
  for (Index k = 0; k < view_.sections; ++k)
    for (int j = 0; j < kUnknowns; ++j) negative += !(chain.inverse_pivot(k, j) > 0);
  return negative;
}

/// y <- y + (K + s M)^-1 f with the least shift that makes it go downhill, scaled back where sections turn far.
bool FibreEquilibrium::newton_step(double& shift, double least_shift, double most_turn) {
  constexpr int kMostShifts = 60;
  for (int i = 0; factor(shift) > 0; ++i) {
    shift = std::max(4 * shift, least_shift);
    if (i > kMostShifts) return false;
  }
  const Index n = view_.sections * kUnknowns;
  std::copy_n(view_.force, n, view_.r1);
  BlockChain<double>(view_.sections, view_.diagonal, view_.above).solve<1>({view_.r1});
  double turn = 0;
  for (Index k = 0; k < view_.sections; ++k)
    for (int i = 3; i < kUnknowns; ++i) turn = std::max(turn, std::abs(view_.r1[k * kUnknowns + i]) / (0.5 * fibre_.side));
  const double share = turn > most_turn ? most_turn / turn : 1;
  for (Index i = 0; i < n; ++i) view_.y[i] += share * view_.r1[i];
  return true;
}

void FibreEquilibrium::converge(const StaticOptions& options, double least_shift, StaticReport& report) {
  const Index n = view_.sections * kUnknowns;
  AlignedArray<double> best(view_.y, view_.y + n);
  double lowest = energy(), shift = 0, turn = kMostTurn;
  const double floor = rounding();
  int rises = 0;
  const int most = 20 * options.max_iterations;
  for (int i = 0; i < most; ++i, ++report.iterations) {
    Index worst = -1;
    report.residual = residual(&worst);
    const double size = scale();
    residual();
    report.residual_relative = report.residual > floor ? report.residual / size : 0;
    report.worst_vertex = worst;
    if (report.residual_relative <= options.tolerance) return;
    shift = shift <= least_shift ? 0 : shift / 8;
    if (!newton_step(shift, least_shift, turn)) break;
    const double now = energy();
    const double rounding = 1e-13 * (std::abs(lowest) + size * fibre_.side);
    if (now < lowest - rounding || (rises == 0 && now <= lowest + rounding)) {
      lowest = std::min(now, lowest);
      std::copy_n(view_.y, n, best.begin());
      rises = 0;
      turn = std::min(1.5 * turn, kMostTurn);
    } else if (!(++rises < kMostRises)) {
      std::copy(best.begin(), best.end(), view_.y);
      rises = 0;
      turn *= 0.4;
      if (turn < kLeastTurn) break;
    }
  }
  report.not_converged = true;
}

StaticReport FibreEquilibrium::solve(const StaticOptions& options, double EI, double length) {
  StaticReport report;
  double mass = 0;
  for (const double m : fibre_.mass) mass += m;
  const double least_shift = 1e-2 * EI / (mass * length * length * length);
  turn_to_targets();
  converge(options, least_shift, report);
  const auto count = [&] {
    // Modes that cost nothing, like the spin of a straight rod between pins, are not unstable, and neither is what rounding
    // makes.
    factor(0);
    double stiffest = 0, lightest = fibre_.mass[0];
    for (Index i = 0; i < view_.sections * kUnknowns; ++i)
      stiffest = std::max(stiffest, view_.free[i] / std::abs(BlockChain<double>(view_.sections, view_.diagonal, view_.above)
                                                                 .inverse_pivot(i / kUnknowns, i % kUnknowns)));
    for (const double m : fibre_.mass) lightest = std::min(lightest, m);
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    return factor(std::max(1e-3 * least_shift, kRounding * stiffest / lightest));
  };
  if (report.not_converged) return report;
  report.unstable_modes = count();
  constexpr int kMostBranches = 8, kInverseIterations = 12;
  const Index n = view_.sections * kUnknowns;
  while (options.leave_unstable && report.unstable_modes > 0 && report.branches_left < kMostBranches) {
    const AlignedArray<double> unstable(view_.y, view_.y + n);
    const double before = energy();
    double shift = least_shift;
    while (factor(shift) > 0) shift *= 2;
    // The softest mode, by inverse iteration from a vector without symmetries.
    for (Index i = 0; i < n; ++i) view_.r1[i] = view_.free[i] * std::sin(1 + 1.7 * static_cast<double>(i));
    const BlockChain<double> chain(view_.sections, view_.diagonal, view_.above);
    for (int i = 0; i < kInverseIterations; ++i) {
      chain.solve<1>({view_.r1});
      double most = 0;
      for (Index j = 0; j < n; ++j) most = std::max(most, std::abs(view_.r1[j]));
      for (Index j = 0; j < n; ++j) view_.r1[j] *= 0.02 * length / most;
    }
    for (Index i = 0; i < n; ++i) view_.y[i] += view_.r1[i];
    StaticReport lower;
    converge(options, least_shift, lower);
    lower.branches_left = report.branches_left + 1;
    lower.modes_left = report.branches_left > 0 ? report.modes_left : report.unstable_modes;
    lower.iterations += report.iterations;
    if (lower.not_converged || !(energy() < before)) {
      std::copy(unstable.begin(), unstable.end(), view_.y);
      report.iterations = lower.iterations;
      break;
    }
    lower.unstable_modes = count();
    report = lower;
  }
  return report;
}

}  // namespace osier::deti
