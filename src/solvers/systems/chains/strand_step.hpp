// One time step of strands by coupled Gauss-Newton iterations, a strand for each thread of a graphics card: loaded from the
// state, iterated in rows that lie number by number across the strands (strand_rows.hpp), and stored. The recursion is
// chain_factor.hpp, the stop rule settling.hpp, and the formulas are those of lanes (chain_rows.hpp, chain_newton.hpp); strands
// hang from their first vertex, and their last is free.
#pragma once

#include "solvers/settling.hpp"
#include "solvers/systems/chains/strand_rows.hpp"
#include "solvers/systems/device/step_orders.hpp"

namespace osier::systems {

/// A chain as a strand.
struct HangingStrand {
  Index first_vertex, first_segment, first_joint;  ///< joint i leads from segment i to segment i + 1
  Index head, head_joint;                          ///< anchor frame before the first segment and the joint to it, or -1
  bool head_flipped;                               ///< the segment is the first frame of that joint
};

struct StrandOptions {
  int iterations = 0;  ///< fixed number, or 0: until the strand has settled
  int max_iterations = 50;
  double tolerance = 1e-3;
};

/// What became of a strand: marks of `outcome`.
enum StrandOutcome : std::uint8_t { kStrandRose = 1, kStrandUnsettled = 2 };

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
    s.carry_along();
    Factor factor(view.group, k);
    s.iterate(factor);
    factor.rows.store_head();
    if (s.rose_) s.forget();
    else s.store(factor.rows);
    view.outcome[k] = static_cast<std::uint8_t>((s.rose_ ? kStrandRose : 0) | (s.unsettled_ && !s.rose_ ? kStrandUnsettled : 0));
    raise(view.most_iterations, s.iterations_);
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
  OSIER_FN T constant(Index i, int what) const {
    const int per_row = lanes::constants_per_row(Link::kLaw, kDamped, lanes::ChainUse::direct);
    return v_.group.constants[(static_cast<std::ptrdiff_t>(i) * per_row + what) * v_.group.width + k_];
  }
  OSIER_FN T* row_at(Index i) const {
    return v_.group.row + static_cast<std::ptrdiff_t>(i) * Rows::kNumbers * v_.group.width + k_;
  }
  OSIER_FN Row load_row(Index i) const { return load_numbers<Row, T>(row_at(i), v_.group.width); }
  OSIER_FN void store_row(Index i, const Row& r) const { store_numbers<T>(r, row_at(i), v_.group.width); }

  // ------------------------------------------------------------------------------------------------ the start of the step

  /// The start of a link in double, as LinkStart::begin_lane() makes it.
  OSIER_FN static auto begin(double viscous, const typename Link::Springs&) {
    return typename IsotropicLink<T>::template Start<double>{viscous / (1 + viscous), {}, {}};
  }
  template <class Springs>
  OSIER_FN static auto begin(const Vec3d& viscous, const Springs& springs) {
    typename AnisotropicLink<T>::template Start<double> start{};
    start.share = {viscous.x / (1 + viscous.x), viscous.y / (1 + viscous.y), viscous.z / (1 + viscous.z)};
    start.K = cast<double>(springs.K);
    start.difference = {0, 0, 0, 0};
    return start;
  }
  OSIER_FN static double in_double(T x) { return static_cast<double>(x); }
  OSIER_FN static Vec3d in_double(const Vec3<T>& x) { return cast<double>(x); }
  template <class Start>
  OSIER_FN static void take(const Start& start, Row& r) {
    if constexpr (Link::kOwnAxes) r.difference0 = cast<T>(start.difference);
    else r.bend0 = cast<T>(start.bend);
  }

  OSIER_CALL void load() {
    const double h = step_.h;
    const T inverse_h = v_.group.inverse_h;
    length_ = 0;
    free_motion2_ = T(0);
    T next_stiffness(0);
    for (Index i = v_.group.rows; i-- > 0;) {
      const auto number = [&](int what) { return constant(i, what); };
      const typename Link::Springs springs = Link::springs(number, inverse_h, kDamped);
      const typename Link::Damping damping = Link::stretch_damping(number, inverse_h, kDamped);
      const T il = number(lanes::kInverseLength);
      Row r{};
      r.load_segment(number, select(il > T(0), inverse(il), T(0)), damping);
      r.load_joint(number, springs);
      const Index s = s_.first_segment + i, a = s_.first_vertex + i, b = a + 1;
      const Quatd q = step_.rotation[s];
      const double l = step_.rest_length[s];
      const Index before = i > 0 ? s - 1 : s_.head, joint = i > 0 ? s_.first_joint + i - 1 : s_.head_joint;
      const bool jointed = before >= 0 && joint >= 0 && r.joint_stiffness() > T(0);
      Quatd rest = jointed ? step_.joint_rest[joint] : Quatd{};
      if (i == 0 && s_.head_flipped) rest = conj(rest);
      auto start = begin(in_double(damping), springs);
      start.form(q, jointed ? step_.rotation[before] : q, rest, step_.position[b] - step_.position[a], l);
      r.arm0 = cast<T>(start.segment.arm), r.stretch0 = cast<T>(start.segment.stretch);
      take(start, r);
      if constexpr (Link::kOwnAxes) r.frame0 = cast<T>(q);
      r.turn = {T(0), T(0), T(0), T(1)};
      r.u = cast<T>(h * step_.velocity[b]);
      double drag;
      const Vec3d force = v_.orders.force_on(b, v_.step, drag);
      set_inertia(r, constant(i + 1, lanes::kMass), cast<T>(step_.velocity[b]), cast<T>(force), static_cast<T>(drag), h);
      if (i == 0) load_head(r, q, next_stiffness);
      next_stiffness = r.joint_stiffness();
      free_motion2_ = larger(free_motion2_, r.free_motion2());
      length_ += l;
      store_row(i, r);
    }
  }
  /// A first frame that is held gets a rigid joint to its target; a first frame without a joint turns freely.
  OSIER_FN void load_head(Row& first, const Quatd& q, T next_stiffness) {
    const double h = step_.h;
    Head head{};
    head.turn = head.frame0 = {T(0), T(0), T(0), T(1)};
    if constexpr (Link::kOwnAxes) head.frame0 = cast<T>(step_.rotation[s_.head >= 0 ? s_.head : s_.first_segment]);
    Quatd target;
    if (s_.head >= 0 && v_.orders.holds_frame(s_.head, v_.step, target))
      head.turn = cast<T>(turn_between(step_.rotation[s_.head], target));
    const Index v = s_.first_vertex;
    Vec3d place;
    const bool held = v_.orders.holds(v, v_.step, place);
    head.held = T(held ? 1 : 0);
    head.u = cast<T>(held ? place - step_.position[v] : h * step_.velocity[v]);
    double drag;
    const Vec3d force = v_.orders.force_on(v, v_.step, drag);
    const double mass = static_cast<double>(constant(0, lanes::kMass));
    head.rhs = cast<T>((mass / h) * step_.velocity[v] + force);
    head.weight = static_cast<T>(mass / (h * h) + drag / h);
    fixed_ = v_.orders.holds_frame(s_.first_segment, v_.step, target);
    if (fixed_) first.turn = cast<T>(turn_between(q, target));
    if (fixed_ || s_.head < 0) {
      if (!fixed_) {
        head.free_spin = T(1);
        head.spin_stiffness = T(1e-6) * next_stiffness;
      }
      first.replace_joint(0, fixed_ ? T(0) : kLoose<T>);
    }
    head_u_ = head.u;
    store_numbers<T>(head, v_.group.head + k_, v_.group.width);
  }
  /// Frames turn with their edges.
  OSIER_CALL void carry_along() {
    Vec3<T> near = head_u_;
    for (Index i = 0; i < v_.group.rows; ++i) {
      Row r = load_row(i);
      T free;
      const Quat<T> turn = carried_turn(r.arm0, r.u - near, free);
      near = r.u;
      if (free > T(0) && !(i == 0 && fixed_)) {
        r.turn = turn;
        store_row(i, r);
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ the iterations

  struct Energies {
    double energy, size;
  };
  OSIER_FN static Energies energies(const Factor& factor) {
    Energies out{in_double(factor.totals.energy), 0};
    out.size = out.energy + 2 * in_double(factor.totals.gained);
    const ChainHead<T>& head = factor.rows.head;
    if (head.held[0]) return out;
    // The first vertex is not the far vertex of any row.
    const Vec3d u = cast<double>(head.u);
    const double inertia = 0.5 * in_double(head.weight) * norm2(u), done = dot(cast<double>(head.rhs), u);
    out.energy += inertia - done;
    out.size += inertia + (done < 0 ? -done : done);
    return out;
  }

  /// As ChainStep does with every lane.
  OSIER_CALL void iterate(Factor& factor) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const StrandOptions& o = v_.options;
    const int limit = o.iterations > 0 ? o.iterations : o.max_iterations;
    const double noise = kFloat ? 1e-5 : 1e-11;
    Outlook outlook = v_.outlook[k_];
    outlook.begin(step_.h);
    double last = 0, before = kNone;
    bool ordinary = false;
    for (;;) {
      factor.template linearise<false, kDamped>();
      const Energies here = energies(factor);
      if (iterations_ > 0 && !ordinary && unsettled_ && !(here.energy <= last + noise * here.size)) rose_ = true;
      if (!std::isfinite(here.energy)) rose_ = true;
      if constexpr (Link::kOwnAxes) rose_ = rose_ || factor.totals.pole_margin < T(0);
      last = here.energy;
      if (iterations_ == limit || rose_) break;
      factor.template solve_residual<false>();
      factor.template advance<false>();
      ++iterations_;
      const RowMotion<T>& motion = factor.motion;
      if (!(motion.turn2 <= T(1) && motion.move2 < std::numeric_limits<T>::infinity())) rose_ = true;
      const Progress now{std::sqrt(in_double(motion.move2)), before, std::sqrt(in_double(motion.motion2))};
      ordinary = is_ordinary(now, std::sqrt(in_double(motion.turn2)));
      before = now.moved;
      if (o.iterations == 0 && unsettled_) {
        const bool enough = outlook.is_enough(now, motion.turn2 <= T(0.01), o.tolerance);
        if (enough || now.moved <= o.tolerance * now.motion ||
            is_at_floor(now, std::sqrt(in_double(free_motion2_)), length_, kFloat))
          unsettled_ = false;
      }
      if (rose_ || (o.iterations == 0 && !unsettled_) || (o.iterations > 0 && iterations_ == limit)) break;
    }
    if (o.iterations > 0) unsettled_ = false;
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
      const Row r = load_row(i);
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
  double length_ = 0;
  T free_motion2_{};
  Vec3<T> head_u_;
  bool fixed_ = false;  ///< the first frame
  int iterations_ = 0;
  bool unsettled_ = true, rose_ = false;
};

}  // namespace osier::systems
