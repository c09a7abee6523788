// The iterations of a time step of strands, coupled Gauss-Newton, a strand for each thread of a graphics card, in rows that lie
// number by number across the strands (systems/chains/strand_rows.hpp). The recursion is chain_factor.hpp and the stop rule
// strand_watch.hpp; row_kernels.hpp loads the rows from the state and stores them. Strands hang from their first vertex, and
// their last is free.
#pragma once

#include "solvers/systems/device/row_kernels.hpp"

namespace osier::systems {

template <class T>
struct StrandStepView {
  RowsView<T> rows;
  double h;
  const double* rest_length;  ///< of segments
  StrandOptions options;
  Outlook* outlook;       ///< kept from step to step
  std::uint8_t* outcome;  ///< per strand
  std::int32_t* most_iterations;
};

template <class T, template <class> class Law, bool kDamped>
class StrandStep {
 public:
  OSIER_CALL static void run(const StrandStepView<T>& view, Index k) {
    Factor factor(view.rows.group, k);
    StrandWatch watch;
    iterate(view, k, factor, watch);
    factor.rows.store_head();
    view.outcome[k] = watch.outcome(view.options);
    raise(view.most_iterations, watch.iterations);
  }

 private:
  using Link = Law<T>;
  using Factor = ChainFactor<StrandRows<T, Law>>;
  using Kernels = RowKernels<T, Law, kDamped, false>;
  static constexpr bool kFloat = sizeof(T) == 4;

  OSIER_FN static void raise(std::int32_t* most, std::int32_t value) {
#if defined(__CUDA_ARCH__)
    atomicMax(most, value);
#else
    if (value > *most) *most = value;
#endif
  }
  OSIER_FN static double in_double(T x) { return static_cast<double>(x); }

  OSIER_FN static void see_energy(const Factor& factor, StrandWatch& watch) {
    double energy = in_double(factor.totals.energy), size = energy + 2 * in_double(factor.totals.gained);
    const ChainHead<T>& head = factor.rows.head;
    if (!head.held[0]) {
      // The first vertex is not the far vertex of any row.
      const Vec3d u = cast<double>(head.u);
      const double inertia = 0.5 * in_double(head.weight) * norm2(u), done = dot(cast<double>(head.rhs), u);
      energy += inertia - done;
      size += inertia + (done < 0 ? -done : done);
    }
    watch.see_energy(energy, size, Link::kOwnAxes && factor.totals.pole_margin < T(0), kFloat);
  }
  OSIER_CALL static void iterate(const StrandStepView<T>& view, Index k, Factor& factor, StrandWatch& watch) {
    const StrandOptions& o = view.options;
    Outlook outlook = view.outlook[k];
    outlook.begin(view.h);
    if (o.iterations == 0) {
      double free2;
      Kernels::measure(view.rows, view.rest_length, k, free2, watch.length);
      watch.free_motion = std::sqrt(free2);
    }
    do {
      factor.template linearise<false, kDamped>();
      see_energy(factor, watch);
      if (watch.iterations == o.limit() || watch.rose) break;
      factor.template solve_residual<false>();
      factor.template advance<false>();
      const RowMotion<T>& motion = factor.motion;
      watch.see_motion(in_double(motion.turn2), in_double(motion.move2), in_double(motion.motion2), o, kFloat, outlook);
    } while (!watch.is_done(o));
    if (watch.rose) outlook.forget();
    view.outlook[k] = outlook;
  }
};

}  // namespace osier::systems
