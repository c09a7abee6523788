// The iterations of a step with contact. They differ from those without it (newton_driver.cpp) in three ways.
//
//  - A correction goes through the guard, vertex by vertex, and then has to lower the energy: without a search, piles and wound
//    strands go to and fro between two states for ever. Where the guard has bent the correction so much that it leads uphill, all
//    of it is shortened alike.
//  - Contacts that are squeezed almost to their core are stiffened, which changes the potential.
//  - A step has converged when a whole correction, one that the guard has not shortened, is small against the motion or against
//    the range of the barriers, and everything prescribed has arrived. What would tear rods through each other never arrives: it
//    is held back, and the step says so.
#include "solvers/guarded_descent.hpp"
#include "solvers/newton_driver.hpp"

namespace osier::systems {

using namespace guarded;

NewtonDriver::Descent NewtonDriver::descend_guarded(contact::ContactStep& contact) {
  const Model& m = potential_.model();
  const Unknowns start = z_;
  const double size = 1 / std::max(1.0, turned_);
  std::vector<Vec3d> whole(z_.u.size()), turn(z_.q.size());
  executor_.for_each(subset_->vertices.size(), [&](std::size_t i) {
    const Index v = subset_->vertices[i];
    whole[v] = size * system_->displacement(v);
  });
  std::vector<Vec3d> du = whole;
  contact::ContactStep::Guarded guarded = contact.guard(start.u, du);
  // The guard may have made a new list of pairs: the energy comes after it.
  potential_.set_torque_point(z_.q);
  const EnergyTerms before = potential_.value(z_, &executor_);
  const auto lower = [&] { return potential_.value(z_, &executor_).total() <= before.total() + 1e-12 * before.magnitude; };
  // A segment turns as far as the more hindered one of its ends moves.
  executor_.for_each(subset_->segments.size(), [&](std::size_t i) {
    const Index s = subset_->segments[i];
    if (!m.segment_alive[s]) return;
    const auto [a, b] = m.segment_vertices[s];
    turn[s] = (size * std::min(contact.share(a), contact.share(b))) * system_->turn(s);
  });
  const auto go = [&](double share) {
    const std::size_t vertices = subset_->vertices.size();
    executor_.for_each(vertices + subset_->segments.size(), [&](std::size_t i) {
      if (i < vertices) {
        const Index v = subset_->vertices[i];
        z_.u[v] = start.u[v] + share * du[v];
        return;
      }
      const Index s = subset_->segments[i - vertices];
      if (norm2(turn[s]) > 0) z_.q[s] = normalized(rotation_exp(share * turn[s]) * start.q[s]);
    });
  };
  double share = 1;
  for (int cut = 0; cut < kMostHalvings; ++cut, share *= 0.5) {
    if (cut == 3 && guarded.cut > 0) {
      du = whole;
      guarded = contact.guard_alike(start.u, du);
      for (std::size_t i = 0; i < subset_->segments.size(); ++i) {
        const Index s = subset_->segments[i];
        turn[s] = (size * guarded.share) * system_->turn(s);
      }
      share = 1;
      if (guarded.share == 0) break;
    }
    go(share);
    if (!lower()) continue;
    contact.passed(z_.u);
    return {.lower = true, .whole = share == 1 && size == 1 && guarded.cut == 0};
  }
  z_ = start;
  return {};
}

StepReport NewtonDriver::solve(const Model& m, const Control& c, const State& state, double h, const Subset& subset,
                               contact::ContactStep& contact) {
  begin(m, c, state, h, subset, &contact);
  given_up_ = false;
  StepReport report;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  couples_ = Couples::of_last_force;
  int stuck = 0, since = 0;
  double before = std::numeric_limits<double>::infinity();
  while (report.iterations < limit) {
    contact.hold(z_.u);
    if (since == kRound) since = 0;
    const double fresh = freshness(since++);
    contact.linearise(z_.u, fresh);
    if (report.iterations >= kFirstStiffening && report.iterations % 2 == 0 && contact.stiffen()) contact.linearise(z_.u, fresh);
    solve_linear(Curvature::positive);
    share_ = 0;
    measure_correction();
    ++report.iterations;
    if (!std::isfinite(moved_)) {
      system_->forget_forces();
      if (couples_ == Couples::of_last_force) {
        couples_ = Couples::of_strain;
        continue;
      }
      report.non_finite = true;
      locate_trouble(report);
      break;
    }
    const double moved = moved_, range = contact.smallest_range();
    if (moved == 0 && !system_->was_solved()) {  // nothing will change any more
      report.not_converged = by_tolerance;
      break;
    }
    const Descent descent = descend_guarded(contact);
    const double bearable = std::isfinite(range) ? kShareOfRange * options_.tolerance * range : 0;
    const Progress now{moved, before, motion()};
    const bool small =
        moved <= std::max(options_.tolerance * now.motion, bearable) || is_at_floor(now, free_motion(), extent(), false);
    // Where the search finds nothing lower, a small correction is one of rounding or of the kink of friction.
    const bool rounding = !descent.lower && std::isfinite(range) && moved <= 0.1 * range;
    stuck = contact.has_arrived() || !contact.is_stuck() ? 0 : stuck + 1;
    const bool held = contact.has_arrived() || stuck > kMostStuck;
    const bool settled = held && system_->was_solved() && ((small && descent.whole) || rounding);
    report.not_converged = by_tolerance && !settled;
    if (by_tolerance && settled && fresh < 1) since = 0;  // with the friction of earlier iterations: not yet with its own
    else if (by_tolerance && (settled || !descent.lower)) break;
    before = moved;
  }
  has_arrived_ = contact.has_arrived();
  report.held_back = !has_arrived_;
  if (report.non_finite || report.not_converged) system_->forget_forces();
  return report;
}

}  // namespace osier::systems
