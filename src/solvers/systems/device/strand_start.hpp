// The rows of strands at the start of a step, and the first guess of its motion, for kernels: the formulas are those of lanes
// (chain_rows.hpp), for one row at a time.
//
// A strand is a whole chain, or a piece of one that begins where another piece ends. Nothing inside it is held; its first vertex
// may be, its first frame if it does not continue another piece, and, if kTails, its last vertex and frame.
#pragma once

#include "solvers/systems/chains/strand_rows.hpp"
#include "solvers/systems/device/step_orders.hpp"

namespace osier::systems {

/// A chain, or a piece of one, as a strand.
struct HangingStrand {
  Index first_vertex, first_segment, first_joint;  ///< joint i leads from segment i to segment i + 1
  Index head, head_joint;                          ///< frame before the first segment, and the joint to it, or -1
  bool head_flipped;                               ///< the segment is the first frame of that joint
  bool continues = false;                          ///< `head` is the last segment of the piece before, and no anchor
};

template <class T, template <class> class Law, bool kDamped, bool kTails>
class StrandStart {
 public:
  using Link = Law<T>;
  using Row = ChainLinkRow<T, Law>;
  using Head = StrandHead<T>;

  OSIER_FN StrandStart(const StrandGroup<T>& group, const StepOrders& orders, Index step, const HangingStrand& strand, Index k)
      : g_(group), orders_(orders), step_(orders.step), number_(step), s_(strand), k_(k) {}

  /// The displacement of a vertex if it keeps its velocity, or to where it is held.
  OSIER_FN Vec3<T> guess(Index vertex) const {
    Vec3d place;
    if ((kTails || vertex == s_.first_vertex) && orders_.holds(vertex, number_, place))
      return cast<T>(place - step_.position[vertex]);
    return cast<T>(step_.h * step_.velocity[vertex]);
  }
  /// Row i, whose frame turns with its edge. `near`: the displacement of its near end.
  OSIER_FN Row row(Index i, const Vec3<T>& near) const {
    const double h = step_.h;
    const auto number = [&](int what) { return constant(i, what); };
    const typename Link::Springs springs = Link::springs(number, g_.inverse_h, kDamped);
    const typename Link::Damping damping = Link::stretch_damping(number, g_.inverse_h, kDamped);
    const T il = number(lanes::kInverseLength);
    Row r{};
    r.load_segment(number, select(il > T(0), inverse(il), T(0)), damping);
    r.load_joint(number, springs);
    const Index s = s_.first_segment + i, a = s_.first_vertex + i, b = a + 1;
    const Quatd q = step_.rotation[s];
    const Index before = i > 0 ? s - 1 : s_.head, joint = i > 0 ? s_.first_joint + i - 1 : s_.head_joint;
    const bool jointed = before >= 0 && joint >= 0 && r.joint_stiffness() > T(0);
    Quatd rest = jointed ? step_.joint_rest[joint] : Quatd{};
    if (i == 0 && s_.head_flipped) rest = conj(rest);
    auto start = begin(in_double(damping), springs);
    start.form(q, jointed ? step_.rotation[before] : q, rest, step_.position[b] - step_.position[a], step_.rest_length[s]);
    r.arm0 = cast<T>(start.segment.arm), r.stretch0 = cast<T>(start.segment.stretch);
    take(start, r);
    if constexpr (Link::kOwnAxes) r.frame0 = cast<T>(q);
    r.u = guess(b);
    double drag;
    const Vec3d force = orders_.force_on(b, number_, drag);
    set_inertia(r, constant(i + 1, lanes::kMass), cast<T>(step_.velocity[b]), cast<T>(force), static_cast<T>(drag), h);
    Quatd target;
    if ((kTails || i == 0) && orders_.holds_frame(s, number_, target)) {
      r.turn = cast<T>(turn_between(q, target));
      if (i == 0 && !s_.continues) r.replace_joint(0, T(0));  // a rigid joint to the target
    } else {
      T free;
      r.turn = carried_turn(r.arm0, r.u - near, free);
      if (i == 0 && s_.head < 0) r.replace_joint(0, kLoose<T>);
    }
    return r;
  }
  OSIER_FN Head head() const {
    Head head{};
    head.turn = head.frame0 = {T(0), T(0), T(0), T(1)};
    if constexpr (Link::kOwnAxes) head.frame0 = cast<T>(step_.rotation[s_.head >= 0 ? s_.head : s_.first_segment]);
    Quatd target;
    Vec3d place;
    if (!s_.continues && s_.head >= 0 && orders_.holds_frame(s_.head, number_, target))
      head.turn = cast<T>(turn_between(step_.rotation[s_.head], target));
    const Index v = s_.first_vertex;
    head.held = T(orders_.holds(v, number_, place) ? 1 : 0);
    head.u = guess(v);
    double drag;
    const Vec3d force = orders_.force_on(v, number_, drag);
    const double h = step_.h, mass = in_double(constant(0, lanes::kMass));
    head.rhs = cast<T>((mass / h) * step_.velocity[v] + force);
    head.weight = static_cast<T>(mass / (h * h) + drag / h);
    // A first frame without a joint turns freely.
    if (s_.head < 0 && !orders_.holds_frame(s_.first_segment, number_, target)) {
      head.free_spin = T(1);
      Row next;
      const auto number = [&](int what) { return constant(1, what); };
      next.load_joint(number, Link::springs(number, g_.inverse_h, kDamped));
      head.spin_stiffness = T(1e-6) * next.joint_stiffness();
    }
    return head;
  }
  OSIER_FN double length(Index i) const { return step_.rest_length[s_.first_segment + i]; }

 private:
  OSIER_FN T constant(Index i, int what) const {
    const int per_row = lanes::constants_per_row(Link::kLaw, kDamped, lanes::ChainUse::direct);
    return g_.constants[place_in_tiles(g_.rows + 1, i, per_row, k_) + std::ptrdiff_t{what} * kTile];
  }
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

  const StrandGroup<T>& g_;
  const StepOrders& orders_;
  const lanes::StepView& step_;
  const Index number_;  ///< of the step in the orders
  const HangingStrand& s_;
  const Index k_;
};

}  // namespace osier::systems
