// Red-black sweeps over short chains whose numbers never leave the registers: all sweeps of all steps in one go. A chain is
// shared by neighbouring lanes with kRows of its rows each, kRows even: lane k has the rows from k kRows on. On a graphics card a
// lane is a thread, and what a row must know of the lane beside it comes by a shuffle; on the host, which only tests, a lane is
// one of a pack. With rows in pairs every lane has work in each of the four half-sweeps (even vertices, odd vertices, even
// segments, odd segments), which a lane for every vertex would not have.
//
// The law is the closed form with ends that are free, held, or clamped at the first vertex; chains with anything else are for the
// kernels of sweep_kernels.hpp.
//
// Lanes says who is beside whom:
//
//   first(k)     the lane's place in its chain, for lane k of a number
//   up(x)        x of the lane before, whatever that is for the first one
//   down(x)      x of the lane after
//   meet()       what the lanes of a chain have written to memory is there for all of them
#pragma once

#include "exec/unroll.hpp"
#include "solvers/lanes/chain_constants.hpp"
#include "solvers/stable_cosserat/chain_row.hpp"
#include "solvers/stable_cosserat/safeguarded_frame.hpp"
#include "solvers/stable_cosserat/strand.hpp"
#include "solvers/systems/device/step_orders.hpp"

// A function whose numbers stay in the registers of the kernel, and one that is a call of its own.
#if defined(__CUDACC__)
#define OSIER_INSIDE __host__ __device__ __forceinline__
#define OSIER_APART __host__ __device__ __noinline__
#else
#define OSIER_INSIDE OSIER_FN
#define OSIER_APART [[gnu::noinline]]
#endif

namespace osier::stable_cosserat {

/// What the sweeps of some strands read and write, in memory of the backend.
template <class T>
struct StrandGroupView {
  systems::StepOrders orders;  ///< with the state at the first step
  Vec3d *velocity_out, *velocity_previous_out;
  Index count, rows;  ///< strands, and rows of the longest
  const Strand* strand;
  const T* constants;  ///< [strand][constant][row], chain_constants.hpp
  Index steps;
  int iterations;
  std::int32_t* trouble;
};

/// One double for every lane of P: positions.
template <class P>
struct Wide {
  double e[lanes_of<P>];
};

template <class P, int kRows, class Lanes, bool kDamped, Lambda kLambda>
class StrandSweep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static_assert(kRows % 2 == 0);

  OSIER_INSIDE StrandSweep(const StrandGroupView<T>& group, Index strand, const Lanes& lanes)
      : g_(group),
        s_(group.strand[strand]),
        lanes_(lanes),
        constants_(group.constants + static_cast<std::ptrdiff_t>(strand) * kConstants * group.rows) {}

  /// `stores`: whether the results are wanted.
  OSIER_INSIDE void run(bool stores) {
    load_state();
    for (Index n = 0; n < g_.steps; ++n) {
      begin_step(n);
      for (int i = 0; i < g_.iterations; ++i) sweep();
      end_step(stores && (kDamped || n + 1 == g_.steps));
      if constexpr (kDamped) lanes_.meet();
    }
    if (stores) store_state();
  }

 private:
  using Row = ChainRow<P, ClosedFormLaw<P>>;
  using Mask = MaskOf<P>;
  static constexpr int kConstants = kDamped ? int(lanes::kDampedConstants) : int(lanes::kUndampedConstants);

  // ------------------------------------------------------------------------------------------------ lanes

  template <class F>
  OSIER_INSIDE static P each_lane(const F& f) {
    T number[W];
    for (int k = 0; k < W; ++k) number[k] = f(k);
    return load_lanes<P>(number);
  }
  template <class F>
  OSIER_INSIDE static Mask mask_of(const F& f) {
    return each_lane([&](int k) { return f(k) ? T(1) : T(0); }) > P(0);
  }
  OSIER_INSIDE Index row_of(int r, int k) const { return lanes_.first(k) * kRows + r; }
  OSIER_INSIDE bool has_vertex(int r, int k) const { return row_of(r, k) < s_.vertices; }
  OSIER_INSIDE bool has_segment(int r, int k) const { return row_of(r, k) + 1 < s_.vertices; }
  /// Of the model; where the row has none, some other.
  OSIER_INSIDE Index vertex(int r, int k) const { return s_.first_vertex + (has_vertex(r, k) ? row_of(r, k) : 0); }
  OSIER_INSIDE Index segment(int r, int k) const { return s_.first_segment + (has_segment(r, k) ? row_of(r, k) : 0); }
  OSIER_INSIDE Vec3<P> up(const Vec3<P>& v) const { return {lanes_.up(v.x), lanes_.up(v.y), lanes_.up(v.z)}; }
  OSIER_INSIDE Quat<P> up(const Quat<P>& q) const { return {lanes_.up(q.x), lanes_.up(q.y), lanes_.up(q.z), lanes_.up(q.w)}; }
  OSIER_INSIDE Vec3<P> down(const Vec3<P>& v) const { return {lanes_.down(v.x), lanes_.down(v.y), lanes_.down(v.z)}; }
  OSIER_INSIDE Quat<P> down(const Quat<P>& q) const {
    return {lanes_.down(q.x), lanes_.down(q.y), lanes_.down(q.z), lanes_.down(q.w)};
  }
  OSIER_INSIDE typename ClosedFormLaw<P>::Spring up(const typename ClosedFormLaw<P>::Spring& s) const {
    return {up(s.force), lanes_.up(s.stiffness)};
  }
  /// The frame before the first row of a lane: that of the lane before, or the anchor's.
  OSIER_INSIDE Quat<P> frame_before() const { return select(is_first_, head_, up(row_[kRows - 1].q)); }

  // ------------------------------------------------------------------------------------------------ the beginning

  OSIER_INSIDE P constant(int r, int what) const {
    return each_lane([&](int k) { return row_of(r, k) < g_.rows ? constants_[what * g_.rows + row_of(r, k)] : T(0); });
  }
  OSIER_INSIDE Vec3<P> vector(const Vec3d* a, int r) const {
    return {each_lane([&](int k) { return static_cast<T>(a[vertex(r, k)].x); }),
            each_lane([&](int k) { return static_cast<T>(a[vertex(r, k)].y); }),
            each_lane([&](int k) { return static_cast<T>(a[vertex(r, k)].z); })};
  }
  OSIER_INSIDE void load_state() {
    is_first_ = mask_of([&](int k) { return lanes_.first(k) == 0; });
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < W; ++k) {
        const Vec3d x = g_.orders.step.position[vertex(r, k)];
        x_[r][0].e[k] = x.x, x_[r][1].e[k] = x.y, x_[r][2].e[k] = x.z;
      }
      velocity_[r] = vector(g_.orders.step.velocity, r);
      velocity_previous_[r] = vector(g_.orders.step.velocity_previous, r);
      const auto number = [&](double Quatd::*c) {
        return each_lane([&](int k) { return static_cast<T>(g_.orders.step.rotation[segment(r, k)].*c); });
      };
      row_[r].q = {number(&Quatd::x), number(&Quatd::y), number(&Quatd::z), number(&Quatd::w)};
    }
    head_ = {P(0), P(0), P(0), P(1)};
    if (s_.head >= 0) put_all(head_, g_.orders.step.rotation[s_.head]);
  }
  OSIER_INSIDE static void put_all(Quat<P>& q, const Quatd& value) {
    const Quat<T> v = cast<T>(value);
    q = {P(v.x), P(v.y), P(v.z), P(v.w)};
  }

  OSIER_INSIDE void begin_step(Index n) {
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) load_vertex(r, n);
    // Edges are formed in double (deviation 1).
    Wide<P> beyond[3];
    OSIER_UNROLL(3)
    for (int c = 0; c < 3; ++c) beyond[c] = lanes_.down(x_[0][c]);
    const P inverse_h(static_cast<T>(1 / g_.orders.step.h));
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) {
      Row& row = row_[r];
      const auto component = [&](int c) {
        const Wide<P>& far = r + 1 < kRows ? x_[r + 1 < kRows ? r + 1 : r][c] : beyond[c];
        return each_lane([&](int k) { return has_segment(r, k) ? static_cast<T>(far.e[k] - x_[r][c].e[k]) : T(0); });
      };
      const Vec3<P> edge{component(0), component(1), component(2)};
      row.joint.target = {constant(r, lanes::kTargetX), constant(r, lanes::kTargetY), constant(r, lanes::kTargetZ),
                          constant(r, lanes::kTargetW)};
      P alpha(0);
      if constexpr (kDamped) alpha = constant(r, lanes::kTauStretch) * inverse_h;
      const Vec3<P> eta =
          start_segment<kDamped>(row, edge, constant(r, lanes::kInverseLength), constant(r, lanes::kStretch), alpha);
      if constexpr (kDamped) damping_[r].axis = eta;
    }
    auto spring = up(row_[kRows - 1].spring);
    spring.force = select(is_first_, Vec3<P>{P(0), P(0), P(0)}, spring.force);
    spring.stiffness = select(is_first_, P(0), spring.stiffness);
    Quat<P> before = frame_before();
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) {
      P viscous(0);
      if constexpr (kDamped) viscous = constant(r, lanes::kTauBend) * inverse_h;
      [[maybe_unused]] const P bound2 = complete_row<kDamped>(row_[r], spring, before, viscous);
      if constexpr (kDamped) damping_[r].bound2 = bound2;
      spring = row_[r].spring;
      before = row_[r].q;
    }
    if (Quatd target; s_.head >= 0 && g_.orders.holds_frame(s_.head, n, target)) put_all(head_, target);
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < W; ++k)
        if (Quatd target; has_segment(r, k) && g_.orders.holds_frame(segment(r, k), n, target))
          set_lanes(row_[r].q, k, cast<T>(target));
      put_axis_force<kDamped>(row_[r], axis(r));
    }
    // The joint of the next lane's first row, with damping folded in; the last lane has none.
    joint_after_.target = down(row_[0].joint.target);
    bound_after_ = P(-1);
    if constexpr (kDamped) bound_after_ = lanes_.down(damping_[0].bound2);
    const Mask ends = mask_of([&](int k) { return row_of(kRows, k) + 1 >= s_.vertices; });
    joint_after_.target = select(ends, Quat<P>{P(0), P(0), P(0), P(0)}, joint_after_.target);
    bound_after_ = select(ends, P(-1), bound_after_);
  }
  OSIER_INSIDE void load_vertex(int r, Index n) {
    double damping[W];
    Vec3<T> force[W], target[W];
    bool is_held[W];
    for (int k = 0; k < W; ++k) {
      const Index v = vertex(r, k);
      force[k] = cast<T>(g_.orders.force_on(v, n, damping[k]));
      Vec3d place;
      is_held[k] = g_.orders.holds(v, n, place);
      if (is_held[k]) target[k] = cast<T>(place - Vec3d{x_[r][0].e[k], x_[r][1].e[k], x_[r][2].e[k]});
    }
    const Vec3<P> f{each_lane([&](int k) { return force[k].x; }), each_lane([&](int k) { return force[k].y; }),
                    each_lane([&](int k) { return force[k].z; })};
    const VertexStart<P> start =
        vertex_start(constant(r, lanes::kMass), each_lane([&](int k) { return static_cast<T>(damping[k]); }), velocity_[r],
                     velocity_previous_[r], f, g_.orders.step.h);
    Row& row = row_[r];
    row.u = start.u;
    row.rhs = start.rhs;
    row.vertex = start.weight;
    for (int k = 0; k < W; ++k)
      if (is_held[k]) set_lanes(row.u, k, target[k]);
    vertex_held_[r] = mask_of([&](int k) { return is_held[k] || !has_vertex(r, k); });
    frame_held_[r] = mask_of([&](int k) {
      Quatd unused;
      return !has_segment(r, k) || g_.orders.holds_frame(segment(r, k), n, unused);
    });
    velocity_previous_[r] = velocity_[r];
  }

  // ------------------------------------------------------------------------------------------------ sweeps

  OSIER_INSIDE Vec3<P> axis([[maybe_unused]] int r) const {
    if constexpr (kDamped) return damping_[r].axis;
    else return {P(0), P(0), P(1)};
  }
  OSIER_INSIDE void sweep() {
    const auto spring_before = up(row_[kRows - 1].spring);
    const typename ClosedFormLaw<P>::Spring none{{P(0), P(0), P(0)}, P(0)};
    typename ClosedFormLaw<P>::Spring first = spring_before;
    first.force = select(is_first_, none.force, first.force);
    first.stiffness = select(is_first_, none.stiffness, first.stiffness);
    const Vec3<P> u_before = up(row_[kRows - 1].u);
    OSIER_UNROLL(16)
    for (int r = 0; r < kRows; r += 2)
      move(r, r == 0 ? first : row_[r > 0 ? r - 1 : 0].spring, r == 0 ? u_before : row_[r > 0 ? r - 1 : 0].u, row_[r + 1].u);
    const Vec3<P> u_after = down(row_[0].u);
    OSIER_UNROLL(16)
    for (int r = 1; r < kRows; r += 2)
      move(r, row_[r - 1].spring, row_[r - 1].u, r + 1 < kRows ? row_[r + 1 < kRows ? r + 1 : r].u : u_after);
    const Quat<P> q_before = frame_before();
    OSIER_UNROLL(16)
    for (int r = 0; r < kRows; r += 2)
      turn(r, row_[r + 1].u, r == 0 ? q_before : row_[r > 0 ? r - 1 : 0].q, row_[r + 1].q, row_[r + 1].joint, bound(r + 1));
    const Quat<P> q_after = down(row_[0].q);
    OSIER_UNROLL(16)
    for (int r = 1; r < kRows; r += 2) {
      const bool last = r + 1 == kRows;
      const int next = last ? r : r + 1;
      turn(r, last ? u_after : row_[next].u, row_[r - 1].q, last ? q_after : row_[next].q, last ? joint_after_ : row_[next].joint,
           last ? bound_after_ : bound(next));
    }
  }
  OSIER_INSIDE P bound([[maybe_unused]] int r) const {
    if constexpr (kDamped) return damping_[r].bound2;
    else return P(-1);
  }
  OSIER_INSIDE void move(int r, const typename ClosedFormLaw<P>::Spring& spring_before, const Vec3<P>& u_before,
                         const Vec3<P>& u_after) {
    Row& row = row_[r];
    row.u = select(vertex_held_[r], row.u, moved_vertex<ClosedFormLaw<P>>(row, spring_before, u_before, u_after));
  }
  OSIER_INSIDE void turn(int r, const Vec3<P>& u_after, const Quat<P>& q_before, const Quat<P>& q_after,
                         const typename ClosedFormLaw<P>::Joint& joint_after, [[maybe_unused]] P bound_after) {
    Row& row = row_[r];
    const ClosedFormSegment<P> local = segment_of(row, u_after - row.u, axis(r));
    typename ClosedFormLaw<P>::template Frame<kDamped, kLambda> frame(row.q, local);
    Quat<P> unused;
    [[maybe_unused]] const P c_before = frame.add_joint(row.q, q_before, row.joint, unused);
    [[maybe_unused]] const P c_after = frame.add_joint(row.q, q_after, joint_after.reversed(), unused);
    Mask refused{};
    P gamma(0);
    Quat<P> q = frame.updated(row.q, gamma, refused);
    if constexpr (kDamped) refused = refused | (c_before * c_before < damping_[r].bound2) | (c_after * c_after < bound_after);
    refused = refused & !frame_held_[r];
    if (any(refused)) [[unlikely]]
      q = safeguarded(r, bits(refused), q, local, q_before, q_after);
    row.q = select(frame_held_[r], row.q, q);
    put_axis_force<kDamped>(row, axis(r));
  }
  /// One lane at a time, and by values alone: a row whose address is taken would lie in memory from the start.
  OSIER_INSIDE Quat<P> safeguarded(int r, unsigned refused, Quat<P> q, const ClosedFormSegment<P>& local, const Quat<P>& q_before,
                                   const Quat<P>& q_after) const {
    for (int k = 0; k < W; ++k)
      if (refused >> k & 1u)
        set_lanes(q, k,
                  safeguarded_lane(g_.orders.step, segment(r, k), s_.head, lane_of(row_[r].q, k), lane_of(local, k),
                                   lane_of(q_before, k), lane_of(q_after, k)));
    return q;
  }
  OSIER_APART static Quat<T> safeguarded_lane(const lanes::StepView& step, Index s, Index head, Quat<T> q,
                                              ClosedFormSegment<T> local, Quat<T> q_before, Quat<T> q_after) {
    const auto frame_of = [&](Index f) { return f == s - 1 || f == head ? q_before : q_after; };
    const auto each_joint = [&](const auto& add) { each_joint_spring<T>(step, s, frame_of, add); };
    T gamma(0);
    return safeguarded_frame_of<kDamped, kLambda>(step, s, q, local, gamma, each_joint);
  }

  // ------------------------------------------------------------------------------------------------ the end

  /// `frames`: whether they go to memory, where the safeguarded updates of damped joints look for those of the start of a step.
  OSIER_INSIDE void end_step(bool frames) {
    const double inverse_h = 1 / g_.orders.step.h;
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r) {
      const Row& row = row_[r];
      for (int k = 0; k < W; ++k) {
        const Vec3d u = cast<double>(lane_of(row.u, k));
        x_[r][0].e[k] += u.x, x_[r][1].e[k] += u.y, x_[r][2].e[k] += u.z;
        set_lanes(velocity_[r], k, cast<T>(inverse_h * u));  // v <- (x - x_t)/h
        if (frames && has_segment(r, k)) g_.orders.step.rotation[segment(r, k)] = cast<double>(lane_of(row.q, k));
      }
    }
    if (frames && s_.head >= 0 && lanes_.first(0) == 0) g_.orders.step.rotation[s_.head] = cast<double>(lane_of(head_, 0));
  }
  OSIER_INSIDE void store_state() {
    const double inverse_h = 1 / g_.orders.step.h;
    OSIER_UNROLL(32)
    for (int r = 0; r < kRows; ++r)
      for (int k = 0; k < W; ++k) {
        if (!has_vertex(r, k)) continue;
        const Index v = vertex(r, k);
        const Vec3d x{x_[r][0].e[k], x_[r][1].e[k], x_[r][2].e[k]}, velocity = inverse_h * cast<double>(lane_of(row_[r].u, k));
        g_.orders.step.position[v] = x;
        const Vec3d before = g_.steps == 1 ? g_.orders.step.velocity[v] : cast<double>(lane_of(velocity_previous_[r], k));
        g_.velocity_out[v] = velocity;
        g_.velocity_previous_out[v] = before;
        const double size2 = norm2(x) + norm2(velocity) + norm2(cast<double>(lane_of(row_[r].q, k)));
        if (!(size2 < std::numeric_limits<double>::infinity())) *g_.trouble = 1;
      }
  }

  const StrandGroupView<T>& g_;
  const Strand s_;
  const Lanes lanes_;
  const T* constants_;
  Mask is_first_;
  Row row_[kRows];
  ChainDamping<P> damping_[kDamped ? kRows : 1];
  Wide<P> x_[kRows][3];
  Vec3<P> velocity_[kRows], velocity_previous_[kRows];
  Mask vertex_held_[kRows], frame_held_[kRows];
  Quat<P> head_;  ///< the anchor's frame
  typename ClosedFormLaw<P>::Joint joint_after_;
  P bound_after_;
};

}  // namespace osier::stable_cosserat

#undef OSIER_INSIDE
#undef OSIER_APART
