// One time step of strands by coupled Gauss-Newton iterations, a strand for each thread of a graphics card: loaded from the
// state, iterated in rows that lie number by number across the strands (strand_rows.hpp), and stored. The recursion is
// chain_factor.hpp, the stop rule settling.hpp, and the formulas are those of lanes (chain_rows.hpp, chain_newton.hpp); strands
// hang from their first vertex, and their last is free.
#pragma once

#include "solvers/systems/chains/strand_start.hpp"
#include "solvers/systems/chains/strand_watch.hpp"

namespace osier::systems {

template <class T>
struct StrandStepView {
  StrandGroup<T> group;
  const HangingStrand* strand;
  StepOrders orders;
  StrandOptions options;
  Outlook* outlook;       ///< kept from step to step
  std::uint8_t* outcome;  ///< per strand
  std::int32_t* most_iterations;
  Index step;  ///< of the orders
};

template <class T, template <class> class Law, bool kDamped>
class StrandStep {
 public:
  OSIER_CALL static void run(const StrandStepView<T>& view, Index k) {
    StrandStep s(view, k);
    s.load();
    Factor factor(view.group, k);
    s.iterate(factor);
    factor.rows.store_head();
    if (s.watch_.rose) s.forget();
    else s.store(factor.rows);
    view.outcome[k] = s.watch_.outcome(view.options);
    raise(view.most_iterations, s.watch_.iterations);
  }

 private:
  using Link = Law<T>;
  using Rows = StrandRows<T, Law>;
  using Row = ChainLinkRow<T, Law>;
  using Factor = ChainFactor<Rows>;
  using Head = StrandHead<T>;
  static constexpr bool kFloat = sizeof(T) == 4;

  OSIER_FN StrandStep(const StrandStepView<T>& view, Index k) : v_(view), s_(view.strand[k]), k_(k), step_(view.orders.step) {}

  OSIER_FN static void raise(std::int32_t* most, std::int32_t value) {
#if defined(__CUDA_ARCH__)
    atomicMax(most, value);
#else
    if (value > *most) *most = value;
#endif
  }
  OSIER_FN T* row_at(Index i) const {
    return v_.group.row + static_cast<std::ptrdiff_t>(i) * Rows::kNumbers * v_.group.width + k_;
  }
  OSIER_FN static double in_double(T x) { return static_cast<double>(x); }

  OSIER_CALL void load() {
    const StrandStart<T, Law, kDamped, false> start(v_.group, v_.orders, v_.step, s_, k_);
    const Head head = start.head();
    store_numbers<T>(head, v_.group.head + k_, v_.group.width);
    T free_motion2(0);
    Vec3<T> near = head.u;
    for (Index i = 0; i < v_.group.rows; ++i) {
      const Row r = start.row(i, near);
      near = r.u;
      free_motion2 = larger(free_motion2, r.free_motion2());
      watch_.length += start.length(i);
      store_numbers<T>(r, row_at(i), v_.group.width);
    }
    watch_.free_motion = std::sqrt(in_double(free_motion2));
  }

  // ------------------------------------------------------------------------------------------------ the iterations

  OSIER_FN void see_energy(const Factor& factor) {
    double energy = in_double(factor.totals.energy), size = energy + 2 * in_double(factor.totals.gained);
    const ChainHead<T>& head = factor.rows.head;
    if (!head.held[0]) {
      // The first vertex is not the far vertex of any row.
      const Vec3d u = cast<double>(head.u);
      const double inertia = 0.5 * in_double(head.weight) * norm2(u), done = dot(cast<double>(head.rhs), u);
      energy += inertia - done;
      size += inertia + (done < 0 ? -done : done);
    }
    watch_.see_energy(energy, size, Link::kOwnAxes && factor.totals.pole_margin < T(0), kFloat);
  }
  OSIER_CALL void iterate(Factor& factor) {
    const StrandOptions& o = v_.options;
    Outlook outlook = v_.outlook[k_];
    outlook.begin(step_.h);
    do {
      factor.template linearise<false, kDamped>();
      see_energy(factor);
      if (watch_.iterations == o.limit() || watch_.rose) break;
      factor.template solve_residual<false>();
      factor.template advance<false>();
      const RowMotion<T>& motion = factor.motion;
      watch_.see_motion(in_double(motion.turn2), in_double(motion.move2), in_double(motion.motion2), o, kFloat, outlook);
    } while (!watch_.is_done(o));
    v_.outlook[k_] = outlook;
  }

  // ------------------------------------------------------------------------------------------------ the end

  OSIER_FN void put_vertex(Index v, const Vec3<T>& moved) const {
    const Vec3d u = cast<double>(moved);
    Vec3d target;
    const bool held = v == s_.first_vertex && v_.orders.holds(v, v_.step, target);
    step_.position[v] = held ? target : step_.position[v] + u;
    step_.velocity_previous[v] = (1 / step_.h) * u;
  }
  OSIER_CALL void store(const Rows& rows) const {
    put_vertex(s_.first_vertex, rows.head.u);
    for (Index i = 0; i < v_.group.rows; ++i) {
      const Row r = load_numbers<Row, T>(row_at(i), v_.group.width);
      put_vertex(s_.first_vertex + i + 1, r.u);
      Quatd& q = step_.rotation[s_.first_segment + i];
      Quatd target;
      q = i == 0 && v_.orders.holds_frame(s_.first_segment, v_.step, target)
              ? target
              : strain_since_start::turned(cast<double>(r.turn), q);
    }
    Quatd target;
    if (s_.head >= 0 && v_.orders.holds_frame(s_.head, v_.step, target)) step_.rotation[s_.head] = target;
  }
  /// Discards the link forces of a rejected step; they would poison the next warm start.
  OSIER_FN void forget() const {
    v_.outlook[k_].forget();
    for (Index i = 0; i < v_.group.rows; ++i)
      for (int a = 0; a < Link::kForces; ++a)
        v_.group.force[(static_cast<std::ptrdiff_t>(i) * Link::kForces + a) * v_.group.width + k_] = T(0);
  }

  const StrandStepView<T>& v_;
  const HangingStrand s_;
  const Index k_;
  const lanes::StepView& step_;
  StrandWatch watch_;
};

}  // namespace osier::systems
