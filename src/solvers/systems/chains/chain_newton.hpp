// One time step of chains in lanes by coupled Gauss-Newton iterations, from the state to the state: rows are loaded once
// (chain_rows.hpp), all iterations run in the cache (chain_factor.hpp), and rows are stored once. A lane is done when its
// corrections are small enough (settling.hpp); a lane whose energy rises is not stored and left to safer means.
#pragma once

#include <algorithm>
#include <limits>

#include "solvers/settling.hpp"
#include "solvers/systems/chains/chain_rows.hpp"

namespace osier::systems {

struct ChainOptions {
  int iterations = 0;  ///< fixed number, or 0: until every lane has settled
  int max_iterations = 50;
  double tolerance = 1e-3;  ///< error over the motion of the lane
};

/// What a group's lanes have learnt about their convergence, kept from step to step.
struct ChainOutlook {
  Outlook lane[kMostLanes];
};

struct ChainOutcome {
  int iterations = 0;
  std::uint32_t unsettled = 0;    ///< lanes that met no tolerance
  std::uint32_t energy_rose = 0;  ///< lanes whose energy rose or is not finite: not stored, to be done by safer means
  void operator+=(const ChainOutcome& o) {
    iterations = iterations > o.iterations ? iterations : o.iterations;
    unsettled |= o.unsettled;
    energy_rose |= o.energy_rose;
  }
};

template <class P, template <class> class Law>
class ChainStep {
 public:
  using Rows = ChainRows<P, Law>;
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  static std::size_t scratch_bytes(Index rows) { return Rows::scratch_bytes(rows); }
  /// `force` through every row and lane, Law::kForces numbers each, and `outlook`, kept from step to step. `next`: the group
  /// after this one, or null.
  static ChainOutcome step(const ChainGroup& g, const ChainGroup* next, const T* constants, bool damped, const StepView& view,
                           const ChainOptions& options, T* force, ChainOutlook& outlook, void* scratch) {
    [[maybe_unused]] const FlushDenormals flush;
    ChainStep s({g, next, constants, damped, view, force, scratch}, outlook);
    s.rows().load_step();
    const bool columns = s.factor_.needs_columns();
    ChainOutcome outcome;
    if (columns && damped) outcome = s.template iterate<true, true>(options);
    else if (columns) outcome = s.template iterate<true, false>(options);
    else if (damped) outcome = s.template iterate<false, true>(options);
    else outcome = s.template iterate<false, false>(options);
    s.rows().store_step(outcome.energy_rose);
    s.forget(outcome.energy_rose);
    return outcome;
  }

 private:
  ChainStep(const typename Rows::Group& group, ChainOutlook& outlook) : factor_(group), outlook_(outlook) {}

  /// The energy of every lane, of a cut chain in all lanes together; `size`: of the numbers that it is the sum of; `work`: of the
  /// torques in the last iteration.
  struct Energies {
    double energy[W], size[W], work[W];
  };

  OSIER_FN Rows& rows() { return factor_.rows; }
  template <bool kColumns, bool kDamped>
  ChainOutcome iterate(const ChainOptions& options);
  Energies energies(bool moved);
  std::uint32_t lanes_with_segments();
  std::uint32_t lanes_gone_astray();
  void settle(const ChainOptions& options, std::uint32_t& unsettled);
  void forget(std::uint32_t lanes);

  ChainFactor<Rows> factor_;
  ChainOutlook& outlook_;
  double before_[W];  ///< how far the correction before moved [m]
  bool ordinary_[W];  ///< the last correction needs no proof that the energy falls
};

template <class P, template <class> class Law>
std::uint32_t ChainStep<P, Law>::lanes_with_segments() {
  std::uint32_t lanes = 0;
  for (int k = 0; k < W; ++k)
    if (rows().segments(k) > 0) lanes |= 1u << k;
  return lanes;
}

template <class P, template <class> class Law>
auto ChainStep<P, Law>::energies(bool moved) -> Energies {
  const ChainHead<P>& head = rows().head;
  const bool cut = rows().is_cut();
  Energies out;
  for (int k = 0; k < W; ++k) {
    out.energy[k] = static_cast<double>(lane(factor_.totals.energy, k));
    out.size[k] = out.energy[k] + 2 * static_cast<double>(lane(factor_.totals.gained, k));
    out.work[k] = rows().is_driven() && moved ? static_cast<double>(lane(factor_.motion.work, k)) : 0;
    if (head.held[k] || (cut && k > 0)) continue;
    // The first vertex is not the far vertex of any row.
    const Vec3d u = cast<double>(lane_of(head.u, k));
    const double inertia = 0.5 * static_cast<double>(lane(head.weight, k)) * norm2(u);
    const double done = dot(cast<double>(lane_of(head.rhs, k)), u);
    out.energy[k] += inertia - done;
    out.size[k] += inertia + std::abs(done);
  }
  if (!cut) return out;
  for (int k = 1; k < W; ++k) {
    out.energy[0] += out.energy[k];
    out.size[0] += out.size[k];
    out.work[0] += out.work[k];
  }
  for (int k = 1; k < W; ++k) {
    out.energy[k] = out.energy[0];
    out.size[k] = out.size[0];
    out.work[k] = out.work[0];
  }
  return out;
}

/// Lanes whose last correction is no number, or turned a frame by more than a radian.
template <class P, template <class> class Law>
std::uint32_t ChainStep<P, Law>::lanes_gone_astray() {
  std::uint32_t lanes = 0;
  const RowMotion<P>& motion = factor_.motion;
  for (int k = 0; k < W; ++k)
    if (rows().segments(k) > 0 && !(lane(motion.turn2, k) <= T(1) && lane(motion.move2, k) < std::numeric_limits<T>::infinity()))
      lanes |= 1u << k;
  return lanes;
}

template <class P, template <class> class Law>
template <bool kColumns, bool kDamped>
ChainOutcome ChainStep<P, Law>::iterate(const ChainOptions& options) {
  ChainOutcome out;
  const int limit = options.iterations > 0 ? options.iterations : options.max_iterations;
  const double noise = sizeof(T) == 4 ? 1e-5 : 1e-11;
  double last[W] = {};
  for (int k = 0; k < W; ++k) {
    outlook_.lane[k].begin(rows().view().h);
    before_[k] = std::numeric_limits<double>::infinity();
    ordinary_[k] = false;
  }
  const std::uint32_t present = lanes_with_segments();
  out.unsettled = present;
  for (;;) {
    factor_.template linearise<kColumns, kDamped>();
    // The energy of the state that this iteration starts from.
    const Energies here = energies(out.iterations > 0);
    for (int k = 0; k < W; ++k) {
      if (rows().segments(k) == 0) continue;
      // Lanes that have settled wait for the others; what rounding does to them meanwhile says nothing.
      const bool watched = !ordinary_[k] && (out.unsettled >> k & 1u) != 0;
      const bool fell = here.energy[k] - here.work[k] <= last[k] + noise * here.size[k];
      if (out.iterations > 0 && watched && !fell) out.energy_rose |= 1u << k;
      if (!std::isfinite(here.energy[k])) out.energy_rose |= 1u << k;
      if constexpr (Law<P>::kOwnAxes)
        if (lane(factor_.totals.pole_margin, k) < T(0)) out.energy_rose |= 1u << k;
      last[k] = here.energy[k];
    }
    if (out.iterations == limit || (present & ~out.energy_rose) == 0) break;
    factor_.template solve_residual<kColumns>();
    factor_.template advance<kColumns>();
    ++out.iterations;
    out.energy_rose |= lanes_gone_astray();
    settle(options, out.unsettled);
    if ((out.unsettled & ~out.energy_rose) == 0 && options.iterations == 0) break;
    if (options.iterations > 0 && out.iterations == limit) break;
  }
  if (options.iterations > 0) out.unsettled = 0;
  out.unsettled &= ~out.energy_rose;  // whether those converge is for others to say
  return out;
}

/// Looks at the last correction. Takes lanes that are done out of `unsettled`, unless the number of iterations is fixed: a lane
/// at the floor may well seem to leave it again while others go on.
template <class P, template <class> class Law>
void ChainStep<P, Law>::settle(const ChainOptions& options, std::uint32_t& unsettled) {
  double moved[W], motion[W], length = 0;
  for (int k = 0; k < W; ++k) {
    moved[k] = std::sqrt(static_cast<double>(lane(factor_.motion.move2, k)));
    motion[k] = std::sqrt(static_cast<double>(lane(factor_.motion.motion2, k)));
    length += rows().length(k);
  }
  if (rows().is_cut()) {
    std::fill_n(moved, W, *std::max_element(moved, moved + W));
    std::fill_n(motion, W, *std::max_element(motion, motion + W));
  }
  for (int k = 0; k < W; ++k) {
    const T turn2 = lane(factor_.motion.turn2, k);
    const Progress now{moved[k], before_[k], motion[k]};
    ordinary_[k] = is_ordinary(now, std::sqrt(static_cast<double>(turn2)));
    before_[k] = moved[k];
    if (options.iterations > 0) continue;
    const bool enough = outlook_.lane[k].is_enough(now, turn2 <= T(0.01), options.tolerance);
    const double reach = rows().is_cut() ? length : rows().length(k);
    if (enough || moved[k] <= options.tolerance * motion[k] || is_at_floor(now, rows().free_motion(k), reach, sizeof(T) == 4))
      unsettled &= ~(1u << k);
  }
}

/// Discards the link forces of a rejected step; they would poison the next warm start.
template <class P, template <class> class Law>
void ChainStep<P, Law>::forget(std::uint32_t lanes) {
  if (lanes == 0) return;
  if (rows().is_cut()) lanes = Rows::kAll;
  for (int k = 0; k < W; ++k)
    if (lanes >> k & 1u) outlook_.lane[k].forget();
  rows().forget_forces(lanes);
}

}  // namespace osier::systems
