// One time step of trees in lanes (forest_plan.hpp) by coupled Gauss-Newton iterations: the recursion of link_algebra.hpp over
// rows of nodes, none of which is above another. The arithmetic of a row is that of link_row.hpp, as for chains. Nodes pass
// numbers to each other through records in memory, one for each slot:
//
//   on the way up     S and f, the stiffness and force on the node's parent, world axes
//   on the way down   z, the correction of the node, then its turn and u, which its children read on the next way up
//
// A tie is a joint between siblings. It acts on the frame of each by an unknown couple tau. Three columns are
// carried through its link, w = B^T z + D tau + d, and the node above both closes them: with C, e the compliance and strain of
// the joint between a and b, lambda the couple it passes on, tau_a = lambda = -tau_b,
//
//   M lambda = dB^T z + delta,    M = C + D_a + D_b,  dB = B_b - B_a,  delta = d_b - d_a + e
//   S += dB M^-1 dB^T,  f -= dB M^-1 delta
//
// The moment m of the tie turns with its frames (link_algebra.hpp): Q w_b in place of w_b, Q = 1 - C [m]x/2, in all of this, and
// tau_b = -Q^T lambda. Only where the compliances of the tie are equal, so that Q^T m = m.
#pragma once

#include "solvers/lanes/step_view.hpp"
#include "solvers/systems/chains/link_row.hpp"
#include "solvers/systems/chains/link_start.hpp"
#include "solvers/systems/forest/forest_plan.hpp"

namespace osier::systems {

using lanes::StepView;
using strain_since_start::turned;

/// Where the numbers of a slot's record are, on the way up and on the way down. The turn and the displacement are written last on
/// the way down and read first on the way up, before the node's own record is overwritten.
struct SlotRecord {
  static constexpr int stiffness = 0;          ///< up: S, lower triangle row by row
  static constexpr int force = 21;             ///< up: f
  static constexpr int parent_stiffness = 27;  ///< up: stiffness that the joint adds to the parent's turn alone
  static constexpr int moved = 0;              ///< down: z
  static constexpr int spin = 6;               ///< down: turn about the segment's own axis
  static constexpr int turn = 8;               ///< turn of the frame since the start of the step
  static constexpr int displacement = 12;      ///< displacement of the vertex since the start of the step
  static constexpr int numbers = 28;
};
/// The record of the three columns of a node with a tie, and the couple of the tie.
struct ColumnRecord {
  static constexpr int B = 0;     ///< [column][component]
  static constexpr int D = 18;    ///< lower triangle
  static constexpr int d = 24;    ///< on the way up
  static constexpr int tau = 24;  ///< on the way down, in place of d
  static constexpr int numbers = 28;
};
/// The record of a tie before it is closed by the node above it, and after that.
struct TieRecord {
  static constexpr int compliance = 0;   ///< before: C, lower triangle
  static constexpr int strain = 6;       ///< before: e
  static constexpr int half_moment = 9;  ///< before: m/2
  static constexpr int open_numbers = 12;
  static constexpr int gain = 0;     ///< after: M^-1 dB^T, [row][component of z]
  static constexpr int offset = 18;  ///< after: M^-1 delta
  static constexpr int lead = 21;    ///< after: Q, row by row
  static constexpr int numbers = 32;
};
/// Number m of one of seven columns lies at `first` + m `stride`: the columns of z, and the one without z.
struct Strided {
  int first, stride;
};
constexpr Strided column_of_record(int x) { return x < 6 ? Strided{ColumnRecord::B + x, 6} : Strided{ColumnRecord::d, 1}; }
constexpr Strided gain_of_record(int x) { return x < 6 ? Strided{TieRecord::gain + x, 6} : Strided{TieRecord::offset, 1}; }

/// The plan and the memory of a forest as bare arrays.
template <class T>
struct ForestView {
  const ForestRow* rows;
  const ForestSlot* slots;
  const ForestTie* ties;
  int tie_count;  ///< number of ties; the record after the last is a sentinel
  const WideNode* wide;
  const int* wide_child;
  int no_column, below_nothing;
  T *record, *column, *tie_record;
  void *row, *ties_of_rows;  ///< ForestStep::Row and Law, in rows of lanes
  std::uint8_t* bent;        ///< per row: the moments of its joints matter
  bool damped;
};

/// Sums and largest values over rows.
struct ForestTotals {
  double energy = 0, size = 0, work = 0;
  double turn2 = 0, move2 = 0, motion2 = 0;
  bool pole_changes = false;  ///< a pole should change, which the law cannot do within a step
  void operator+=(const ForestTotals& o) {
    energy += o.energy;
    size += o.size;
    work += o.work;
    const auto larger_of = [](double a, double b) { return !(a >= b) ? b : a; };  // keeps a NaN
    turn2 = larger_of(turn2, o.turn2);
    move2 = larger_of(move2, o.move2);
    motion2 = larger_of(motion2, o.motion2);
    pole_changes = pole_changes || o.pole_changes;
  }
};

/// Constants of a joint that the row of the law does not keep. Where they are few they are kept here; otherwise they are read
/// from the model in every iteration.
template <class Springs, bool kKept>
struct SpringsKept {
  Springs kept_springs;
};
template <class Springs>
struct SpringsKept<Springs, false> {};

template <class P, template <class> class Law>
struct ForestLinkRow : LinkRow<P, Law>, SpringsKept<typename Law<P>::Springs, !Law<P>::kOwnAxes> {
  /// Force through the link in the last solve, world axes: kept from step to step. Between the way up and the way down, where the
  /// force is not read, its place holds the strain e_x along the springs.
  Vec3<P> force;
};

template <class P, template <class> class Law>
class ForestStep {
 public:
  using T = ScalarOf<P>;
  using Row = ForestLinkRow<P, Law>;
  using Tie = typename Law<P>::Joint;
  using D = typename InDouble<P>::type;
  static constexpr int W = lanes_of<P>;
  static constexpr int kParts = InDouble<P>::parts, D_lanes = InDouble<P>::lanes;
  using View = ForestView<T>;
  static constexpr double kBent = 1e-3;  ///< angle of a joint from which on its moment is taken into account [rad]

  static void load(const View& v, const StepView& view, int first, int last);
  static void load_ties(const View& v, const StepView& view, int first, int last);
  static void bend_ties(const View& v, const StepView& view, int first, int last, ForestTotals& out);
  static void up(const View& v, const StepView& view, int first, int last, ForestTotals& out);
  static void down(const View& v, const StepView& view, int first, int last, ForestTotals& out);
  static void store(const View& v, const StepView& view, int first, int last);
  /// The largest square of a vertex' displacement if nothing were elastic [m^2].
  static double free_motion2(const View& v, int first, int last);

 private:
  using Offsets = Index[W];
  static Row& row(const View& v, int i) { return static_cast<Row*>(v.row)[i]; }
  static Tie& tie_row(const View& v, int i) { return static_cast<Tie*>(v.ties_of_rows)[i]; }
  static const ForestSlot* slots(const View& v, int i) { return v.slots + static_cast<std::ptrdiff_t>(i) * W; }
  static Index column_of(const View& v, int slot) {
    const ForestRow& row = v.rows[slot / W];
    const unsigned lane = 1u << slot % W;
    return (row.tied & lane) != 0 ? row.column + __builtin_popcount(row.tied & (lane - 1u)) : v.no_column;
  }
  /// The slot of a child: the single one, or one of a fork; where there is none, the sentinel slot of no child.
  OSIER_FN static int child(const View& v, const ForestSlot& slot, int which) {
    if (slot.below < 0) return v.ties[slot.tie()].slot[which];
    return which == 0 ? slot.below : v.below_nothing;
  }
  /// Reads N numbers, from number `first` on, of every lane's record, which begins at offset_of(lane).
  template <int N, class OffsetOf>
  OSIER_FN static void fetch(const T* base, int first, const OffsetOf& offset_of, P (&out)[N]) {
    Offsets offset;
    for (int k = 0; k < W; ++k) offset[k] = offset_of(k);
    OSIER_UNROLL(8)
    for (int q = 0; q < N / 4; ++q) {
      P quad[4];
      gather_quads<P>(base + first + 4 * q, offset, quad);
      OSIER_UNROLL(4)
      for (int a = 0; a < 4; ++a) out[4 * q + a] = quad[a];
    }
  }
  /// Writes N numbers of every lane's record; a lane with a negative offset is left out.
  template <int N, class OffsetOf>
  OSIER_FN static void put(T* base, int first, const OffsetOf& offset_of, const P (&in)[N]) {
    OSIER_UNROLL(8)
    for (int q = 0; q < N / 4; ++q) {
      const P quad[4] = {in[4 * q], in[4 * q + 1], in[4 * q + 2], in[4 * q + 3]};
      rows_of_components(quad, [&](int k, const Quadruple<P, T>& r) {
        if (const Index offset = offset_of(k); offset >= 0) r.store(base + offset + first + 4 * q);
      });
    }
  }
  OSIER_FN static Index own_record(int i, int k) { return (i * W + k) * SlotRecord::numbers; }
  OSIER_FN static void put_place(const View& v, int i, const Row& r) {
    const P place[8] = {r.turn.x, r.turn.y, r.turn.z, r.turn.w, r.u.x, r.u.y, r.u.z, P(0)};
    put(
        v.record, SlotRecord::turn, [&](int k) { return own_record(i, k); }, place);
  }
  /// The constants that rows do not keep, for joint(k) in lane k; -1 means no joint.
  template <class Joint>
  OSIER_FN static typename Law<P>::Springs springs_of(const View& v, const StepView& view, const Joint& joint);
  OSIER_FN static typename Law<P>::Springs springs_of(const View& v, const StepView& view, int i) {
    if constexpr (Law<P>::kOwnAxes) return springs_of(v, view, [s = slots(v, i)](int k) { return s[k].joint; });
    else return row(v, i).kept_springs;
  }
  /// The frames of a row at the start of the step.
  OSIER_FN static Quat<P> frames0(const View& v, const StepView& view, int i) {
    return gather<P>(view.rotation, [s = slots(v, i)](int k) { return s[k].segment; });
  }
  OSIER_FN static auto drive(const View& v, const StepView& view, int i) {
    return [s = slots(v, i), &view](const auto& axes) {
      return torques(
          view.torque, view.torque_material, axes.x, [&](int k) { return s[k].segment; },
          [&](int k) { return s[k].direction != 0; });
    };
  }
  template <class Joint, class Segment>
  OSIER_FN static P constant_of(const StepView& view, const Joint& joint, const Segment& segment, int what);
  template <int N, bool kDamped>
  OSIER_FN static void pass_row(const View& v, const StepView& view, int i, RowTotals<P>& totals);
  [[gnu::noinline]] static void collect(const View& v, int i, P (&S)[21], P (&f)[6]);
  [[gnu::noinline]] static void close_forks(const View& v, int i, P (&S)[21], P (&f)[6]);
  [[gnu::noinline]] static void close_wide(const View& v, const WideNode& node, P (&S)[21], P (&f)[6]);
  [[gnu::noinline]] static void open_forks(const View& v, int i, const P (&z)[6]);
  [[gnu::noinline]] static void open_wide(const View& v, const WideNode& node, const P (&z)[6]);
  template <bool kDamped>
  static void up_rows(const View& v, const StepView& view, int first, int last, ForestTotals& out);
  template <bool kDamped>
  static void bend_tie_rows(const View& v, const StepView& view, int first, int last, ForestTotals& out);
  /// The largest negative turning stiffness that a force may give to a frame: a quarter of the joint's stiffness.
  OSIER_FN static P stiff_joint(const Row& r) {
    const P c = larger(larger(r.compliance(3), r.compliance(4)), r.compliance(5));
    return select(c > P(0), P(T(0.25)) * inverse(c), P(0));
  }
  /// The moment turn of the row's joints.
  OSIER_FN static auto moment_turn_of(const Row& r) {
    if constexpr (Law<P>::kOwnAxes) return r.moment();
    else return exact_turn(r.half_strain);
  }
  /// Q D Q^T of a lower triangle D; led(w) is Q w.
  template <class Led, class Number>
  OSIER_FN static Mat3<Number> turned_triangle(const Led& led, const Number* d) {
    const Vec3<Number> x = led(Vec3<Number>{d[0], d[1], d[3]}), y = led(Vec3<Number>{d[1], d[2], d[4]}),
                       z = led(Vec3<Number>{d[3], d[4], d[5]});  // columns of Q D
    const Vec3<Number> a = led(Vec3<Number>{x.x, y.x, z.x}), b = led(Vec3<Number>{x.y, y.y, z.y}),
                       c = led(Vec3<Number>{x.z, y.z, z.z});
    return {{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
  }
  /// lambda = M^-1 (dB^T z + delta) of a closed tie, and Q^T lambda.
  template <class Number>
  OSIER_FN static void couple_of(const Number* tie, const Number (&z)[6], Number (&lambda)[3], Number (&felt)[3]) {
    for (int m = 0; m < 3; ++m) {
      lambda[m] = tie[TieRecord::offset + m];
      for (int a = 0; a < 6; ++a) lambda[m] += tie[TieRecord::gain + 6 * m + a] * z[a];
    }
    const Number* Q = tie + TieRecord::lead;
    for (int m = 0; m < 3; ++m) felt[m] = Q[m] * lambda[0] + Q[3 + m] * lambda[1] + Q[6 + m] * lambda[2];
  }
  static void add_totals(const RowTotals<P>& totals, ForestTotals& out) {
    for (int k = 0; k < W; ++k) {
      const auto energy = static_cast<double>(lane(totals.energy, k));
      out.energy += energy;
      out.size += energy + 2 * static_cast<double>(lane(totals.gained, k));
      out.pole_changes = out.pole_changes || lane(totals.pole_margin, k) < T(0);
    }
  }
};

/// A constant of chain_constants.hpp, read from the model: joint(k) and segment(k) belong to lane k, or are -1.
template <class P, template <class> class Law>
template <class Joint, class Segment>
OSIER_FN P ForestStep<P, Law>::constant_of(const StepView& view, const Joint& joint, const Segment& segment, int what) {
  namespace sc = lanes;
  const auto axis = [](const PerAxis& v, int a) { return a == 0 ? v.d1 : a == 1 ? v.d2 : v.d3; };
  const auto of_joint = [&](const PerAxis* from, int a) {
    return per_lane<P>([&](int k) {
      const Index j = joint(k);
      return j >= 0 ? static_cast<T>(axis(from[j], a)) : T(0);
    });
  };
  const auto of_segment = [&](const PerAxis* from, int a) {
    return per_lane<P>([&](int k) {
      const Index s = segment(k);
      return s >= 0 ? static_cast<T>(axis(from[s], a)) : T(0);
    });
  };
  if constexpr (Law<P>::kOwnAxes) {
    if (what >= sc::kTauBendAxes) return of_joint(view.joint_tau, what - sc::kTauBendAxes);
    if (what >= sc::kTauStretchAxes) return of_segment(view.segment_tau, what - sc::kTauStretchAxes);
    if (what >= sc::kBendAxes) return of_joint(view.joint_stiffness, what - sc::kBendAxes);
    return of_segment(view.segment_stiffness, what - sc::kStretchAxes);
  } else {
    if (what == sc::kTauBendDirect) return of_joint(view.joint_tau, 2);
    if (what == sc::kTauStretchDirect) return of_segment(view.segment_tau, 2);
    if (what == sc::kBend) return of_joint(view.joint_stiffness, 2);
    return of_segment(view.segment_stiffness, 2);
  }
}

template <class P, template <class> class Law>
template <class Joint>
OSIER_FN auto ForestStep<P, Law>::springs_of(const View& v, const StepView& view, const Joint& joint) ->
    typename Law<P>::Springs {
  const P inverse_h(static_cast<T>(1 / view.h));
  if constexpr (Law<P>::kOwnAxes) {
    const auto any_joint = [&](int k) { return std::max(joint(k), Index(0)); };
    const P here = per_lane<P>([&](int k) { return joint(k) >= 0 ? T(1) : T(0); });
    return Law<P>::springs(here * gather<P>(view.joint_stiffness, any_joint),
                           v.damped ? inverse_h * gather<P>(view.joint_tau, any_joint) : Vec3<P>{P(0), P(0), P(0)});
  } else {
    return Law<P>::springs(
        [&](int what) {
          return constant_of(
              view, joint, [](int) { return -1; }, what);
        },
        inverse_h, v.damped);
  }
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::load(const View& v, const StepView& view, int first, int last) {
  const P h(static_cast<T>(view.h)), inverse_h(static_cast<T>(1 / view.h));
  for (int i = first; i < last; ++i) {
    Row& r = row(v, i);
    const ForestSlot* slot = slots(v, i);
    const bool held = v.rows[i].held;
    const auto segment = [&](int k) { return slot[k].segment; };
    const auto parent_frame = [&](int k) { return v.slots[slot[k].parent].segment; };
    const auto far = [&](int k) { return slot[k].far_vertex; };
    const auto near = [&](int k) { return v.slots[slot[k].parent].far_vertex; };
    const auto number = [&](int what) {
      return constant_of(
          view, [&](int k) { return slot[k].joint; }, [&](int k) { return slot[k].direction != 0 ? slot[k].segment : -1; }, what);
    };
    const auto damping = Law<P>::stretch_damping(number, inverse_h, v.damped);
    const P length =
        per_lane<P>([&](int k) { return slot[k].direction != 0 ? static_cast<T>(view.rest_length[slot[k].segment]) : T(0); });
    const auto springs = springs_of(v, view, [&](int k) { return slot[k].joint; });
    r.load_segment(number, length, damping);
    r.load_joint(number, springs);
    if constexpr (!Law<P>::kOwnAxes) r.kept_springs = springs;
    typename Law<P>::template Start<D> start[kParts];
    LinkStart<Law<P>>::begin(start, damping, springs);
    D arm[3][kParts], stretch[3][kParts];
    for (int g = 0; g < kParts; ++g) {
      const auto in = [g](const auto& index_of) { return [g, &index_of](int k) { return index_of(g * D_lanes + k); }; };
      D rest[4];
      components_of_rows<D>(
          [&](int k) {
            const ForestSlot& s = slot[g * D_lanes + k];
            const Quatd& q = view.joint_rest[s.joint >= 0 ? s.joint : 0];
            return osier::row<D>(s.flipped ? conj(q) : q);
          },
          rest);
      const D l = per_lane<D>([&](int k) {
        const ForestSlot& s = slot[g * D_lanes + k];
        return s.direction * view.rest_length[s.segment];
      });
      start[g].form(gather<D>(view.rotation, in(segment)), gather<D>(view.rotation, in(parent_frame)),
                    {rest[0], rest[1], rest[2], rest[3]}, gather_difference<D>(view.position, in(far), in(near)), l);
      const SegmentStart<D>& s = start[g].segment;
      arm[0][g] = s.arm.x, arm[1][g] = s.arm.y, arm[2][g] = s.arm.z;
      stretch[0][g] = s.stretch.x, stretch[1][g] = s.stretch.y, stretch[2][g] = s.stretch.z;
    }
    r.arm0 = {narrow<P>(arm[0]), narrow<P>(arm[1]), narrow<P>(arm[2])};
    r.stretch0 = {narrow<P>(stretch[0]), narrow<P>(stretch[1]), narrow<P>(stretch[2])};
    LinkStart<Law<P>>::take(start, r);
    P mass = gather<P>(view.mass, far), drag = gather<P>(view.damping, far);
    Vec3<P> velocity = gather<P>(view.velocity, far), force = gather<P>(view.force, far);
    Vec3<P> near_u = h * gather<P>(view.velocity, near);
    if (held) {
      const P here = per_lane<P>([&](int k) { return slot[k].direction != 0 ? T(1) : T(0); });
      mass = here * mass;
      drag = here * drag;
      velocity = here * velocity;
      force = here * force;
      for (int k = 0; k < W; ++k) {
        if (!view.vertex_fixed[near(k)]) continue;
        const T* head = v.record + static_cast<std::ptrdiff_t>(slot[k].parent) * SlotRecord::numbers + SlotRecord::displacement;
        set_lanes(near_u, k, {head[0], head[1], head[2]});
      }
    }
    set_inertia(r, mass, velocity, force, drag, view.h);
    r.u = h * velocity;
    P free;
    r.turn = carried_turn(r.arm0, r.u - near_u, free) * spin_of(r.turn, r.arm0);  // the spin continues from the last step
    if (held)
      for (int k = 0; k < W; ++k) {
        const bool fixed = slot[k].direction != 0 && view.frame_control[slot[k].segment] == FrameControl::fixed;
        if (slot[k].direction != 0 && !fixed) continue;
        const Index s = slot[k].segment;
        set_lanes(r.turn, k, cast<T>(fixed ? turn_between(view.rotation[s], view.frame_target[s]) : Quatd{}));
        r.replace_joint(k, T(0));
      }
    put_place(v, i, r);
  }
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::load_ties(const View& v, const StepView& view, int first, int last) {
  const P inverse_h(static_cast<T>(1 / view.h));
  for (int i = first; i < last; ++i) {
    Tie& tie = tie_row(v, i);
    const auto of = [&](int k) -> const ForestTie* { return i * W + k < v.tie_count ? v.ties + i * W + k : nullptr; };
    const auto joint_of = [&](int k) { return of(k) ? of(k)->joint : -1; };
    const auto number = [&](int what) {
      return constant_of(
          view, joint_of, [](int) { return -1; }, what);
    };
    const auto springs = springs_of(v, view, joint_of);
    tie.load_joint(number, springs);
    typename Law<P>::template Start<D> start[kParts];
    LinkStart<Law<P>>::begin(start, Law<P>::stretch_damping(number, inverse_h, false), springs);
    for (int g = 0; g < kParts; ++g) {
      const auto frame = [&, g](int end) {
        return [&, g, end](int k) {
          const ForestTie* t = of(g * D_lanes + k);
          return t ? v.slots[t->slot[end]].segment : 0;
        };
      };
      const auto joint = [&, g](int k) {
        const ForestTie* t = of(g * D_lanes + k);
        return t ? t->joint : 0;
      };
      start[g].form(gather<D>(view.rotation, frame(1)), gather<D>(view.rotation, frame(0)), gather<D>(view.joint_rest, joint),
                    {D(0), D(0), D(0)}, D(0));
    }
    LinkStart<Law<P>>::take(start, tie);
  }
}

template <class P, template <class> class Law>
template <bool kDamped>
void ForestStep<P, Law>::bend_tie_rows(const View& v, const StepView& view, int first, int last, ForestTotals& out) {
  RowTotals<P> totals{P(0), P(0), P(0)};
  for (int i = first; i < last; ++i) {
    Tie& tie = tie_row(v, i);
    const auto slot = [&](int end, int k) { return i * W + k < v.tie_count ? v.ties[i * W + k].slot[end] : -1; };
    P a[4], b[4];
    fetch(
        v.record, SlotRecord::turn, [&](int k) { return std::max(slot(0, k), 0) * SlotRecord::numbers; }, a);
    fetch(
        v.record, SlotRecord::turn, [&](int k) { return std::max(slot(1, k), 0) * SlotRecord::numbers; }, b);
    const Quat<P> turn_a{a[0], a[1], a[2], a[3]}, turn_b{b[0], b[1], b[2], b[3]};
    const auto springs =
        springs_of(v, view, [&](int k) { return i * W + k < v.tie_count ? v.ties[i * W + k].joint : Index(-1); });
    const Vec3<P> none{P(0), P(0), P(0)};
    Vec3<P> e_w, half_m;
    P bent, C[6];
    if constexpr (Law<P>::kOwnAxes) {
      const auto frame = [&](int end) {
        return gather<P>(view.rotation, [&, end](int k) { return slot(end, k) >= 0 ? v.slots[slot(end, k)].segment : 0; });
      };
      const Quat<P> frame0 = frame(0), now = turn_a * frame0;
      Vec3<P> m;
      const Mat3<P> axes = rotation_matrix(
          tie.template bend<kDamped>(springs, turn_b, NearFrame<P>{turn_a, frame0, now}, frame(1), m, bent, totals.pole_margin));
      e_w = axes * times(tie.w_compliance, m);
      half_m = none;
      const Mat3<P> compliance = rotated_diagonal(axes, tie.w_compliance);
      for (int x = 0, n = 0; x < 3; ++x)
        for (int y = 0; y <= x; ++y) C[n++] = compliance.m[x][y];
    } else {
      tie.template bend<kDamped>(springs, turn_b, turn_a, e_w, bent);
      C[0] = C[2] = C[5] = tie.w_compliance, C[1] = C[3] = C[4] = P(0);
      half_m = select(tie.w_compliance > P(0), inverse(tie.w_compliance) * moment_turn(e_w), none);
    }
    totals.energy += bent;
    const P record[TieRecord::open_numbers] = {C[0],  C[1],  C[2],  C[3],     C[4],     C[5],
                                               e_w.x, e_w.y, e_w.z, half_m.x, half_m.y, half_m.z};
    put(
        v.tie_record, 0, [&](int k) { return i * W + k < v.tie_count ? (i * W + k) * TieRecord::numbers : -1; }, record);
  }
  add_totals(totals, out);
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::bend_ties(const View& v, const StepView& view, int first, int last, ForestTotals& out) {
  if (v.damped) bend_tie_rows<true>(v, view, first, last, out);
  else bend_tie_rows<false>(v, view, first, last, out);
}

/// Adds up the stiffness and force of the children of a row's nodes.
template <class P, template <class> class Law>
void ForestStep<P, Law>::collect(const View& v, int i, P (&S)[21], P (&f)[6]) {
  const ForestRow& here = v.rows[i];
  const ForestSlot* slot = slots(v, i);
  for (P& s : S) s = P(0);
  for (P& a : f) a = P(0);
  for (int c = 0; c < here.children; ++c) {
    P below[SlotRecord::numbers];
    fetch(
        v.record, 0, [&](int k) { return child(v, slot[k], c) * SlotRecord::numbers; }, below);
    for (int a = 0; a < 21; ++a) S[a] += below[a];
    for (int a = 0; a < 6; ++a) f[a] += below[SlotRecord::force + a];
    for (int a = 3; a < 6; ++a) S[triangle(a, a)] += below[SlotRecord::parent_stiffness];
  }
  if (here.forks) close_forks(v, i, S, f);
  for (int w = here.first_wide; w < here.last_wide; ++w) close_wide(v, v.wide[w], S, f);
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::close_forks(const View& v, int i, P (&S)[21], P (&f)[6]) {
  const ForestSlot* slot = slots(v, i);
  P a[ColumnRecord::numbers], b[ColumnRecord::numbers], tie[TieRecord::open_numbers];
  const auto column = [&](int end) {
    return [&, end](int k) {
      return (slot[k].tie() >= 0 ? column_of(v, child(v, slot[k], end)) : v.no_column) * ColumnRecord::numbers;
    };
  };
  fetch(v.column, 0, column(0), a);
  fetch(v.column, 0, column(1), b);
  fetch(
      v.tie_record, 0, [&](int k) { return (slot[k].tie() >= 0 ? slot[k].tie() : v.tie_count) * TieRecord::numbers; }, tie);
  // The tie sees frame b through Q: Q B_b^T, Q D_b Q^T, Q d_b.
  const Mat3<P> C{{{tie[0], tie[1], tie[3]}, {tie[1], tie[2], tie[4]}, {tie[3], tie[4], tie[5]}}};
  constexpr int h = TieRecord::half_moment;
  const Vec3<P> half_m{tie[h], tie[h + 1], tie[h + 2]};
  const auto led = [&](const Vec3<P>& w) { return w - C * cross(half_m, w); };
  const Mat3<P> D_b = turned_triangle(led, b + ColumnRecord::D);
  // M = L diag(p) L^T, V = L^-1 dB^T row by row, and the last column of V is L^-1 delta.
  P M[6], V[3][7];
  for (int x = 0, n = 0; x < 3; ++x)
    for (int y = 0; y <= x; ++y, ++n) M[n] = tie[n] + a[ColumnRecord::D + n] + D_b.m[x][y];
  for (int x = 0; x < 7; ++x) {
    const auto [at, stride] = column_of_record(x);
    const Vec3<P> w = led({b[at], b[at + stride], b[at + 2 * stride]});
    V[0][x] = w.x - a[at];
    V[1][x] = w.y - a[at + stride];
    V[2][x] = w.z - a[at + 2 * stride];
  }
  for (int m = 0; m < 3; ++m) V[m][6] += tie[TieRecord::strain + m];
  const Ldl<3, P> ldl(M);
  P G[TieRecord::numbers];
  for (P& g : G) g = P(0);
  for (int x = 0; x < 7; ++x) {
    P gain[3] = {V[0][x], V[1][x], V[2][x]};
    ldl.forward(gain);
    for (int m = 0; m < 3; ++m) V[m][x] = gain[m];
    ldl.backward(gain);
    const auto [at, stride] = gain_of_record(x);
    for (int m = 0; m < 3; ++m) G[at + m * stride] = gain[m];
  }
  for (int x = 0; x < 6; ++x) {
    const P v0 = ldl.inverse_pivot(0) * V[0][x], v1 = ldl.inverse_pivot(1) * V[1][x], v2 = ldl.inverse_pivot(2) * V[2][x];
    for (int y = 0; y <= x; ++y) S[triangle(x, y)] += v0 * V[0][y] + v1 * V[1][y] + v2 * V[2][y];
    f[x] -= v0 * V[0][6] + v1 * V[1][6] + v2 * V[2][6];
  }
  for (int m = 0; m < 3; ++m) {
    const Vec3<P> q = led({P(m == 0 ? T(1) : T(0)), P(m == 1 ? T(1) : T(0)), P(m == 2 ? T(1) : T(0))});
    G[TieRecord::lead + m] = q.x;
    G[TieRecord::lead + 3 + m] = q.y;
    G[TieRecord::lead + 6 + m] = q.z;
  }
  put(
      v.tie_record, 0, [&](int k) { return slot[k].tie() >= 0 ? slot[k].tie() * TieRecord::numbers : -1; }, G);
}

/// Finds the couples of ties after a fork's node has moved by z, and stores them in the columns of its children.
template <class P, template <class> class Law>
void ForestStep<P, Law>::open_forks(const View& v, int i, const P (&z)[6]) {
  const ForestSlot* slot = slots(v, i);
  P G[TieRecord::numbers], lambda[3], felt[3];
  fetch(
      v.tie_record, 0, [&](int k) { return (slot[k].tie() >= 0 ? slot[k].tie() : v.tie_count) * TieRecord::numbers; }, G);
  couple_of(G, z, lambda, felt);
  for (int k = 0; k < W; ++k) {
    if (slot[k].tie() < 0) continue;
    T* a = v.column + static_cast<std::ptrdiff_t>(column_of(v, child(v, slot[k], 0))) * ColumnRecord::numbers + ColumnRecord::tau;
    T* b = v.column + static_cast<std::ptrdiff_t>(column_of(v, child(v, slot[k], 1))) * ColumnRecord::numbers + ColumnRecord::tau;
    for (int m = 0; m < 3; ++m) a[m] = lane(lambda[m], k), b[m] = -lane(felt[m], k);
  }
}

/// Does close_forks() for a single node with any number of children and ties, in double.
template <class P, template <class> class Law>
void ForestStep<P, Law>::close_wide(const View& v, const WideNode& node, P (&S)[21], P (&f)[6]) {
  const int k = node.slot % W;
  double sum[SlotRecord::parent_stiffness] = {};
  for (int c = node.first_child; c < node.last_child; ++c) {
    const T* below = v.record + static_cast<std::ptrdiff_t>(v.wide_child[c]) * SlotRecord::numbers;
    for (int a = 0; a < SlotRecord::parent_stiffness; ++a) sum[a] += static_cast<double>(below[a]);
    for (int a = 3; a < 6; ++a) sum[triangle(a, a)] += static_cast<double>(below[SlotRecord::parent_stiffness]);
  }
  const int ties = node.last_tie - node.first_tie, n = 3 * ties;
  constexpr int kMost = 3 * kMostTies;
  double M[kMost * (kMost + 1) / 2], V[kMost][7];
  Mat3<double> Q[kMostTies];
  const auto column = [&](int tie, int end) {
    return v.column + static_cast<std::ptrdiff_t>(column_of(v, v.ties[node.first_tie + tie].slot[end])) * ColumnRecord::numbers;
  };
  const auto entry = [](const T* lower, int x, int y) { return static_cast<double>(lower[triangle(x, y)]); };
  const auto full = [&](const T* lower) {
    Mat3<double> m;
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y) m.m[x][y] = entry(lower, x, y);
    return m;
  };
  // The matrices of a tie for its two ends: -1 for a, Q for b.
  const auto felt = [&](int tie, int end) { return end == 1 ? Q[tie] : identity3(-1.0); };
  for (int r = 0; r < ties; ++r) {
    const T* tie = v.tie_record + static_cast<std::ptrdiff_t>(node.first_tie + r) * TieRecord::numbers;
    const T* half = tie + TieRecord::half_moment;
    const Vec3d half_m = cast<double>(Vec3<T>{half[0], half[1], half[2]});
    Q[r] = identity3(1.0) + -1.0 * (full(tie) * skew(half_m));
    for (int x = 0; x < 7; ++x) {
      const auto [at, stride] = column_of_record(x);
      const auto in = [&](const T* c) { return cast<double>(Vec3<T>{c[at], c[at + stride], c[at + 2 * stride]}); };
      const Vec3d w = Q[r] * in(column(r, 1)) - in(column(r, 0));
      V[3 * r][x] = w.x, V[3 * r + 1][x] = w.y, V[3 * r + 2][x] = w.z;
    }
    for (int m = 0; m < 3; ++m) V[3 * r + m][6] += static_cast<double>(tie[TieRecord::strain + m]);
    for (int q = 0; q <= r; ++q) {
      Mat3<double> m = q == r ? full(tie) : identity3(0.0);
      for (int end = 0; end < 2; ++end)
        for (int other = 0; other < 2; ++other)
          if (column(r, end) == column(q, other))
            m = m + felt(r, end) * full(column(r, end) + ColumnRecord::D) * transposed(felt(q, other));
      for (int x = 0; x < 3; ++x)
        for (int y = 0; y < 3; ++y)
          if (q < r || y <= x) M[triangle(3 * r + x, 3 * q + y)] = m.m[x][y];
    }
  }
  factor_ldl(M, n, 0.0, true, [](int) {});
  for (int x = 0; x < 7; ++x) forward_ldl(M, n, &V[0][x], 7);
  for (int i = 0; i < n; ++i)
    for (int x = 0; x < 6; ++x) {
      const double g = V[i][x] / M[triangle(i, i)];
      for (int y = 0; y <= x; ++y) sum[triangle(x, y)] += g * V[i][y];
      sum[SlotRecord::force + x] -= g * V[i][6];
    }
  for (int x = 0; x < 7; ++x) {
    backward_ldl(M, n, &V[0][x], 7);
    const auto [at, stride] = gain_of_record(x);
    for (int i = 0; i < n; ++i)
      v.tie_record[static_cast<std::ptrdiff_t>(node.first_tie + i / 3) * TieRecord::numbers + at + i % 3 * stride] =
          static_cast<T>(V[i][x]);
  }
  for (int r = 0; r < ties; ++r)
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y)
        v.tie_record[static_cast<std::ptrdiff_t>(node.first_tie + r) * TieRecord::numbers + TieRecord::lead + 3 * x + y] =
            static_cast<T>(Q[r].m[x][y]);
  for (int a = 0; a < 21; ++a) set_lane(S[a], k, static_cast<T>(sum[a]));
  for (int a = 0; a < 6; ++a) set_lane(f[a], k, static_cast<T>(sum[SlotRecord::force + a]));
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::open_wide(const View& v, const WideNode& node, const P (&z)[6]) {
  const int k = node.slot % W;
  const auto tau = [&](int slot) {
    return v.column + static_cast<std::ptrdiff_t>(column_of(v, slot)) * ColumnRecord::numbers + ColumnRecord::tau;
  };
  for (int t = node.first_tie; t < node.last_tie; ++t)
    for (int end = 0; end < 2; ++end)
      for (int m = 0; m < 3; ++m) tau(v.ties[t].slot[end])[m] = T(0);
  const T moved[6] = {lane(z[0], k), lane(z[1], k), lane(z[2], k), lane(z[3], k), lane(z[4], k), lane(z[5], k)};
  for (int t = node.first_tie; t < node.last_tie; ++t) {
    T lambda[3], felt[3];
    couple_of(v.tie_record + static_cast<std::ptrdiff_t>(t) * TieRecord::numbers, moved, lambda, felt);
    for (int m = 0; m < 3; ++m) tau(v.ties[t].slot[0])[m] += lambda[m], tau(v.ties[t].slot[1])[m] -= felt[m];
  }
}

template <class P, template <class> class Law>
template <int N, bool kDamped>
OSIER_FN void ForestStep<P, Law>::pass_row(const View& v, const StepView& view, int i, RowTotals<P>& totals) {
  Row& r = row(v, i);
  const ForestSlot* slot = slots(v, i);
  P place[8];
  fetch(
      v.record, SlotRecord::turn, [&](int k) { return slot[k].parent * SlotRecord::numbers; }, place);
  const Quat<P> turn_near{place[0], place[1], place[2], place[3]};
  const Vec3<P> u_near{place[4], place[5], place[6]};
  Quat<P> frame0_near = turn_near, frame_near = turn_near, frame0 = turn_near, frame = turn_near;
  if constexpr (Law<P>::kOwnAxes) {
    frame0_near = gather<P>(view.rotation, [&](int k) { return v.slots[slot[k].parent].segment; });
    frame0 = frames0(v, view, i);
    frame_near = turn_near * frame0_near;
    frame = r.turn * frame0;
  }
  // The recursion works on copies, so that its numbers have no address and stay in registers.
  P below_S[21], below_f[6], S[21], f[6];
  collect(v, i, below_S, below_f);
  OSIER_UNROLL(21)
  for (int a = 0; a < 21; ++a) S[a] = below_S[a];
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) f[a] = below_f[a];
  CarriedColumns<P, N> columns;
  if constexpr (N > 0) {
    for (int m = 0; m < N; ++m)
      for (int a = 0; a < 6; ++a) columns.B[m][a] = P(a == 3 + m ? T(1) : T(0));
    for (P& x : columns.D) x = P(0);
    for (P& x : columns.d) x = P(0);
  }
  Vec3<P> e_x, e_w;
  typename Law<P>::Axes axes;
  const Vec3<P> arm = add_node<kDamped>(
      r, springs_of(v, view, i), NearEnd<P>{u_near, {turn_near, frame0_near, frame_near}}, OwnFrame<P>{frame0, frame},
      [&](const auto& along) { return transposed_times(along.x, r.force); }, view.torque != nullptr, drive(v, view, i), totals, S,
      f, e_x, e_w, axes);
  const bool bent = is_bent(e_w, kBent);
  v.bent[i] = bent;
  const auto by = moment_turn_of(r);
  add_force_stiffness(r.force, arm, stiff_joint(r), S);
  P for_parent(0);
  if constexpr (!Law<P>::kOwnAxes)
    if (bent) {
      const Vec3<P>& s = by.v;
      const P k = select(r.w_compliance > P(0), inverse(r.w_compliance), P(0));
      const P even = k * (by.a - by.a * by.a - norm2(s)), couple = P(2) * k * (P(1) - by.a);
      for_parent = k * (by.a - P(1));
      S[triangle(3, 3)] += even + k * s.x * s.x, S[triangle(4, 4)] += even + k * s.y * s.y,
          S[triangle(5, 5)] += even + k * s.z * s.z;
      S[triangle(4, 3)] += k * s.x * s.y, S[triangle(5, 3)] += k * s.x * s.z, S[triangle(5, 4)] += k * s.y * s.z;
      f[3] -= couple * s.x, f[4] -= couple * s.y, f[5] -= couple * s.z;
    }
  to_near_end<N>(axes, arm, e_w, bent, by, S, f, columns);
  eliminate_link<N>(r, e_x, e_w, S, f, columns, static_cast<KeptSteps<P, N>*>(nullptr));
  r.force = e_x;
  if constexpr (Law<P>::kOwnAxes) turn_all<N>(axes.x, axes.w, S, f, columns);
  P record[SlotRecord::numbers];
  OSIER_UNROLL(21)
  for (int a = 0; a < 21; ++a) record[a] = S[a];
  OSIER_UNROLL(6)
  for (int a = 0; a < 6; ++a) record[SlotRecord::force + a] = f[a];
  record[SlotRecord::parent_stiffness] = for_parent;
  put(
      v.record, 0, [&](int k) { return own_record(i, k); }, record);
  if constexpr (N > 0) {
    P column[ColumnRecord::numbers];
    for (int m = 0; m < N; ++m)
      for (int a = 0; a < 6; ++a) column[6 * m + a] = columns.B[m][a];
    for (int a = 0; a < 6; ++a) column[ColumnRecord::D + a] = columns.D[a];
    for (int m = 0; m < N; ++m) column[ColumnRecord::d + m] = columns.d[m];
    column[ColumnRecord::numbers - 1] = P(0);
    put(
        v.column, 0, [&](int k) { return (v.rows[i].tied >> k & 1) != 0 ? column_of(v, i * W + k) * ColumnRecord::numbers : -1; },
        column);
  }
}

template <class P, template <class> class Law>
template <bool kDamped>
void ForestStep<P, Law>::up_rows(const View& v, const StepView& view, int first, int last, ForestTotals& out) {
  [[maybe_unused]] const FlushDenormals flush;
  RowTotals<P> totals{P(0), P(0), P(0)};
  for (int i = last; i-- > first;) {
    if (v.rows[i].column >= 0) pass_row<3, kDamped>(v, view, i, totals);
    else pass_row<0, kDamped>(v, view, i, totals);
  }
  add_totals(totals, out);
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::up(const View& v, const StepView& view, int first, int last, ForestTotals& out) {
  if (v.damped) up_rows<true>(v, view, first, last, out);
  else up_rows<false>(v, view, first, last, out);
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::down(const View& v, const StepView& view, int first, int last, ForestTotals& out) {
  [[maybe_unused]] const FlushDenormals flush;
  RowMotion<P> motion{P(0), P(0), P(0), P(0)};
  for (int i = first; i < last; ++i) {
    Row& r = row(v, i);
    const ForestSlot* slot = slots(v, i);
    P above[8], own[SlotRecord::numbers], F[6], z[6];
    fetch(
        v.record, 0, [&](int k) { return slot[k].parent * SlotRecord::numbers; }, above);
    fetch(
        v.record, 0, [&](int k) { return own_record(i, k); }, own);
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) z[a] = above[a], F[a] = own[SlotRecord::force + a];
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) OSIER_UNROLL(6)
    for (int b = 0; b < 6; ++b) F[a] -= own[triangle(a, b)] * z[b];
    if (v.rows[i].column >= 0) {
      P column[ColumnRecord::numbers];
      fetch(
          v.column, 0, [&](int k) { return column_of(v, i * W + k) * ColumnRecord::numbers; }, column);
      OSIER_UNROLL(3)
      for (int m = 0; m < 3; ++m) OSIER_UNROLL(6)
      for (int a = 0; a < 6; ++a) F[a] += column[6 * m + a] * column[ColumnRecord::tau + m];
    }
    const Vec3<P> arm = arm_now(r), e_w = r.joint_strain();
    const P e[6] = {r.force.x, r.force.y, r.force.z, e_w.x, e_w.y, e_w.z};
    r.force = {F[0], F[1], F[2]};
    typename Law<P>::Axes axes;
    if constexpr (Law<P>::kOwnAxes) {
      axes = r.axes(r.turn * frames0(v, view, i));
      const Mat3<P> x = transposed(axes.x), w = transposed(axes.w);
      turn_six(x, w, z);
      turn_six(x, w, F);
    }
    P y[6];
    OSIER_UNROLL(6)
    for (int a = 0; a < 6; ++a) y[a] = z[a] + (r.compliance(a) * F[a] - e[a]);
    // Spin counts only as far as it twists the joint to the parent.
    P spin;
    const auto idle_spin2 = [&](const Vec3<P>& w) {
      const P length = root(norm2(arm));
      spin = dot(w, arm) * inverse_sqrt(of_arm(arm));
      const P twist = length * (spin - above[SlotRecord::spin]);
      return length * spin * length * spin - twist * twist;
    };
    move_row(r, axes, v.bent[i] != 0, moment_turn_of(r), arm, y, view.torque != nullptr, drive(v, view, i), idle_spin2, motion,
             z);
    const P moved[8] = {z[0], z[1], z[2], z[3], z[4], z[5], spin, P(0)};
    put(
        v.record, 0, [&](int k) { return own_record(i, k); }, moved);
    put_place(v, i, r);
    if (v.rows[i].forks) open_forks(v, i, z);
    for (int w = v.rows[i].first_wide; w < v.rows[i].last_wide; ++w) open_wide(v, v.wide[w], z);
  }
  for (int k = 0; k < W; ++k) {
    ForestTotals lane_totals;
    lane_totals.work = static_cast<double>(lane(motion.work, k));
    lane_totals.turn2 = static_cast<double>(lane(motion.turn2, k)),
    lane_totals.move2 = static_cast<double>(lane(motion.move2, k));
    lane_totals.motion2 = static_cast<double>(lane(motion.motion2, k));
    out += lane_totals;
  }
}

template <class P, template <class> class Law>
double ForestStep<P, Law>::free_motion2(const View& v, int first, int last) {
  P farthest2 = P(0);
  for (int i = first; i < last; ++i) farthest2 = larger(farthest2, row(v, i).free_motion2());
  double most = 0;
  for (int k = 0; k < W; ++k) most = std::max(most, static_cast<double>(lane(farthest2, k)));
  return most;
}

template <class P, template <class> class Law>
void ForestStep<P, Law>::store(const View& v, const StepView& view, int first, int last) {
  const double inverse_h = 1 / view.h;
  for (int i = first; i < last; ++i) {
    const Row& r = row(v, i);
    const ForestSlot* slot = slots(v, i);
    for (int k = 0; k < W; ++k) {
      if (slot[k].direction == 0) continue;
      const Vec3d u = cast<double>(lane_of(r.u, k));
      view.position[slot[k].far_vertex] += u;
      view.velocity_previous[slot[k].far_vertex] = inverse_h * u;
      const Index s = slot[k].segment;
      view.rotation[s] = view.frame_control[s] == FrameControl::fixed
                             ? view.frame_target[s]
                             : turned(cast<double>(lane_of(r.turn, k)), view.rotation[s]);
    }
  }
}

}  // namespace osier::systems
