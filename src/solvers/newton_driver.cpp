#include "solvers/newton_driver.hpp"

namespace osier::systems {

/// With the exact curvature where it is positive, otherwise with what is positive of it. Where it is not, it will not be so soon.
void Engine::correct() {
  static constexpr int kLongestWait = 63;
  const bool exact = wait_ == 0 && solve(Curvature::exact);
  if (exact != was_exact_) outlook_.forget();
  was_exact_ = exact;
  if (exact) {
    next_wait_ = 0;
    return;
  }
  if (wait_ == 0) wait_ = next_wait_ = std::min(2 * next_wait_ + 1, kLongestWait);
  solve(Curvature::positive);
}

/// How far the rods reach from their first living vertex [m].
double Engine::extent() {
  const Model& m = step_.model();
  const std::vector<Vec3d>& x = step_.start().vertex_position;
  std::size_t first = 0;
  while (first + 1 < x.size() && !m.vertex_alive[first]) ++first;
  return largest(x.size(), [&](std::size_t v) { return m.vertex_alive[v] ? norm(x[v] - x[first]) : 0; });
}

/// Of the vertex that would move farthest if nothing were elastic [m].
double Engine::free_motion() {
  return largest(step_.u.size(), [&](std::size_t i) {
    const auto v = static_cast<Index>(i);
    const double weight = step_.vertex_weight(v);
    return step_.model().vertex_alive[v] && step_.is_free(v) && weight > 0 ? norm(step_.vertex_pull(v)) / weight : 0;
  });
}

/// A share of the corrections. Turns beyond a radian are where a quadratic model means nothing.
void Engine::move_to(double share) {
  move((share - share_) / std::max(1.0, turned_));
  share_ = share;
}

/// Positions to their minimum at the frames at hand; undone if rounding makes that no gain.
void Engine::settle_positions() {
  const Energy before = step_.energy(executor_);
  const std::vector<Vec3d> u = step_.u;
  solve_positions();
  if (std::isfinite(largest_correction())) move(1);
  if (!(step_.energy(executor_).value <= before.value + 1e-12 * before.magnitude)) step_.u = u;
}

/// The ladder: the whole correction; the same with positions settled at its frames; shares of it, halved, settled likewise: the
/// direction descends, so this ends. Settled positions are what makes large turns possible: along a straight line to where the
/// frames turn, vertices stretch their segments. False when rounding leaves nothing; everything is where it was then.
bool Engine::descend() {
  const Energy before = step_.energy(executor_);
  const double work = step_.control().has_torque ? torque_work() / std::max(1.0, turned_) : 0;
  const auto lower = [&](double share) {
    return step_.energy(executor_).value - share * work <= before.value + 1e-12 * before.magnitude;
  };
  move_to(1);
  if (lower(1)) return true;
  move_to(0);
  const Correction whole = correction();
  const std::vector<Vec3d> u = step_.u;
  const std::vector<Quatd> q = step_.q;
  double share = 1;
  for (int cut = 0; cut < 12; ++cut, share *= 0.5) {
    for (std::size_t v = 0; v < u.size(); ++v) step_.u[v] = u[v] + (share / std::max(1.0, turned_)) * whole.x[v];
    for (std::size_t f = 0; f < whole.w.size(); ++f)
      step_.q[f] = normalized(rotation_exp((share / std::max(1.0, turned_)) * whole.w[f]) * q[f]);
    if (cut > 0 && lower(share)) return true;
    settle_positions();
    if (lower(share)) return true;
  }
  step_.u = u, step_.q = q;
  return false;
}

StepReport Engine::step(const Model& m, const Control& c, State& state, double h) {
  step_.begin(m, c, state, h, executor_);
  given_up_ = false;
  StepReport report;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  double before = std::numeric_limits<double>::infinity();
  if (wait_ > 0) --wait_;
  outlook_.begin(h);
  couples_ = Couples::of_last_force;
  for (report.iterations = 0; report.iterations < limit;) {
    correct();
    share_ = 0;
    if (couples_ == Couples::of_last_force && !is_ordinary({largest_correction(), before, 0}, largest_turn()) && has_couples()) {
      if (!std::isfinite(largest_correction())) forget_forces();
      couples_ = Couples::of_strain;
      correct();
    }
    ++report.iterations;
    const double moved = largest_correction();
    if (!std::isfinite(moved)) {
      report.non_finite = true;
      locate_trouble(report);
      break;
    }
    turned_ = largest_turn();
    const auto progress = [&] {
      return Progress{moved, before, largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); })};
    };
    const auto is_settled = [&](const Progress& p) {
      if (moved <= options_.tolerance * p.motion) return true;
      return is_at_floor(p, free_motion(), extent(), options_.precision == Precision::single_precision);
    };
    // What rounding makes of a rod at rest needs no proof either.
    const bool ordinary = is_ordinary({moved, before, 0}, turned_) || (turned_ <= kSmallTurn && is_settled(progress()));
    bool better = true;
    if (ordinary) move_to(1), couples_ = Couples::of_last_force;
    else better = descend();
    const Progress now = progress();
    const bool enough = outlook_.is_enough(now, ordinary, options_.tolerance);
    const bool settled = was_solved() && (enough || is_settled(now));
    given_up_ = !better && !settled && options_.precision == Precision::single_precision;
    if (given_up_) return report;
    report.not_converged = by_tolerance && !settled;
    if (by_tolerance && (settled || !better)) break;
    before = moved;
  }
  store(state, report);
  // Forces of a step that went astray are no guess for the next.
  if (report.non_finite || report.not_converged) forget_forces(), outlook_.forget();
  return report;
}

void Engine::store(State& state, StepReport& report) {
  const Model& m = step_.model();
  const Control& c = step_.control();
  const double h = step_.h();
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  // By the squares: a state whose energy overflows is as lost as a NaN.
  const auto size = [&](std::size_t v) { return norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v]); };
  const double largest_size = largest(step_.u.size(), [&](std::size_t v) {
    state.vertex_position[v] += step_.u[v];
    if (c.vertex_fixed[v]) state.vertex_position[v] = c.vertex_target[v];
    state.vertex_velocity[v] = m.vertex_alive[v] ? (1 / h) * step_.u[v] : Vec3d{};
    return size(v);
  });
  for (Index v = 0; v < m.vertex_count() && !report.non_finite && !std::isfinite(largest_size); ++v)
    if (!std::isfinite(size(v))) report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(step_.q[s])) report.non_finite = true, report.worst_segment = s;
  state.frame_rotation.swap(step_.q);  // q is the start now
  update_frame_velocity(m, c, step_.q, h, state);
}

}  // namespace osier::systems
