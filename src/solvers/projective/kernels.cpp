// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/projective/kernels.hpp"

#include "exec/simd_target.hpp"
#include "solvers/projective/acceleration.hpp"
#include "solvers/projective/paper_sweep.hpp"

namespace osier::projective {

/// Algorithm 1 between prediction and update of velocities.
template <class P>
struct RodStep {
  using T = ScalarOf<P>;
  using Outcome = RodOutcome<T>;

  static void begin(const RodView<T>& rod, const RodGoal& goal) { RodSweep<P>(rod).begin(goal.paper); }

  static void sweep(const RodView<T>& rod, const RodGoal& goal, Outcome& outcome) {
    RodSweep<P> sweeps(rod);
    one_sweep(sweeps, goal, outcome);
  }

  static void step(const RodView<T>& rod, const RodGoal& goal, Outcome& outcome) {
    RodSweep<P> sweeps(rod);
    sweeps.begin(goal.paper);
    Acceleration<P> acceleration(sweeps);
    for (outcome.iterations = 0; outcome.iterations < goal.iterations;) {
      if (goal.accelerated) acceleration.remember();
      const bool settled = one_sweep(sweeps, goal, outcome);
      ++outcome.iterations;
      const bool enough = settled || outcome.iterations == goal.iterations;
      if (goal.accelerated) acceleration.advance(enough);
      if (enough) break;
    }
  }

 private:
  /// Returns whether all lanes have met the tolerance, if there is one.
  static bool one_sweep(RodSweep<P>& sweeps, const RodGoal& goal, Outcome& outcome) {
    if (goal.paper) {
      PaperSweep<P>(sweeps).sweep(goal.jacobi);
      return false;
    }
    typename RodSweep<P>::Measure measure;
    sweeps.sweep(goal.tolerance > 0 ? &measure : nullptr);
    if (!(goal.tolerance > 0)) return false;
    store_lanes(measure.residual, outcome.residual);
    store_lanes(measure.scale, outcome.scale);
    return !any(measure.residual > P(static_cast<T>(goal.tolerance)) * measure.scale);
  }
};

template <class P>
constexpr RodKernel<ScalarOf<P>> kRodKernel{lanes_of<P>, &RodStep<P>::step, &RodStep<P>::begin, &RodStep<P>::sweep};

template <class T, Simd S>
const RodKernel<T>& rod_kernel_for() {
  return kRodKernel<NumberOf<T, S>>;
}
template const RodKernel<float>& rod_kernel_for<float, kSimdTarget>();
template const RodKernel<double>& rod_kernel_for<double, kSimdTarget>();

}  // namespace osier::projective
