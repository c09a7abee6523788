// A group of chains in lanes (chain_plan.hpp) in the middle of a step, all iterations while it is in cache: what all sweeps over
// chains do alike.
//
// The four half-sweeps (even vertices, odd vertices, even segments, odd segments) run interleaved along the rows, each element as
// soon as the ones it must see are done:
//
//   v0 | v2 v1 s0 | v4 v3 s2 | v6 v5 s4 s1 | v8 v7 s6 s3 | ...
//
// Positions see frames of the last sweep, frames see new positions, odd elements see new even ones: the same numbers as four
// passes, in one. A chain that is cut meets itself in the next lane: ghost rows before the first and after the last row hold the
// neighbours' values, refreshed when the order asks for it.
#pragma once

#include "exec/lanes.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/chain_prefetch.hpp"
#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

using namespace lanes;

/// Lanes that are not moved, or that need more than the ordinary update.
struct RowFlags {
  std::uint32_t vertex_held, frame_held, frame_hinged;
};

/// Row: of the sweep, with the members u, rhs and q.
template <class P, class Row>
class ChainPack {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;
  static constexpr std::uint32_t kAll = all_lanes<P>;

 protected:
  ChainPack(const ChainGroup& g, const ChainGroup* next, const T* constants, int constants_per_row, const StepView& view)
      : g_(g),
        view_(view),
        rows_(g.rows),
        shortest_(g.rows),
        next_(next, view, ChainUse::sweeps),
        constants_(constants),
        per_row_(constants_per_row) {
    for (int k = 0; k < W; ++k) shortest_ = g.segments[k] < shortest_ ? g.segments[k] : shortest_;
  }
  /// An array with the ghost rows, taken from scratch memory.
  template <class A>
  A* take(std::byte*& scratch) const {
    A* array = reinterpret_cast<A*>(scratch) + 1;
    scratch += static_cast<std::size_t>(rows_ + 2) * sizeof(A);
    return array;
  }

  OSIER_FN P constant(Index i, int what) const {
    return load_lanes<P>(constants_ + (static_cast<std::ptrdiff_t>(i) * per_row_ + what) * W);
  }
  OSIER_FN Vec3<P> axes(Index i, int what) const { return {constant(i, what), constant(i, what + 1), constant(i, what + 2)}; }

  /// Numbers of the model in a row; a lane that ends before it reads its first one.
  struct Numbers {
    Index vertex[W], next[W], segment[W];
  };
  OSIER_FN Numbers numbers(Index i) const {
    Numbers n;
    for (int k = 0; k < W; ++k) {
      const bool vertex = i < g_.vertices[k], segment = i < g_.segments[k];
      n.vertex[k] = g_.first_vertex[k] + (vertex ? i : 0);
      n.next[k] = n.vertex[k] + (segment ? 1 : 0);
      n.segment[k] = g_.first_segment[k] + (segment ? i : 0);
    }
    return n;
  }
  /// The frame in a lane's row: a segment, an anchor or nothing.
  OSIER_FN Index frame_at(Index i, int k) const {
    if (i < 0) return g_.head[k];
    if (i < g_.segments[k]) return g_.first_segment[k] + i;
    return i == g_.segments[k] ? g_.tail[k] : -1;
  }
  /// The frame before a row's segment, across a cut as well.
  OSIER_FN Index frame_before(Index i, int k) const {
    return i == 0 && g_.cut && k > 0 ? g_.first_segment[k] - 1 : frame_at(i - 1, k);
  }

  OSIER_FN void begin_load() {
    row_[-1] = {}, row_[rows_] = {};
    flags_[-1] = flags_[rows_] = {kAll, kAll, 0};
  }
  /// Flags, u, rhs and q of a row; m/h^2 + c/h.
  OSIER_FN P load_start(Index i, const Numbers& n);
  /// Edges in double (deviation 1).
  OSIER_FN Vec3<P> edge(const Numbers& n) const {
    return gather_difference<P>(
        view_.position, [&](int k) { return n.next[k]; }, [&](int k) { return n.vertex[k]; });
  }
  /// Anchors stand in the row before the first segment and in the one after the last.
  void put_anchors(bool at_end) {
    const auto put = [&](Index i, int k, Index frame) {
      const bool fixed = at_end && view_.frame_control[frame] == FrameControl::fixed;
      set_lanes(row_[i].q, k, cast<T>(fixed ? view_.frame_target[frame] : view_.rotation[frame]));
    };
    for (int k = 0; k < W; ++k) {
      if (g_.head[k] >= 0) put(-1, k, g_.head[k]);
      if (g_.tail[k] >= 0) put(g_.segments[k], k, g_.tail[k]);
    }
  }
  /// From here on the frame is that of the end of the step where it is prescribed.
  OSIER_FN void hold_frame(Index i) {
    if (flags_[i].frame_held == 0) return;
    for (int k = 0; k < W; ++k) {
      const Index s = g_.first_segment[k] + i;
      if (i < g_.segments[k] && view_.frame_control[s] == FrameControl::fixed)
        set_lanes(row_[i].q, k, cast<T>(view_.frame_target[s]));
    }
  }
  [[gnu::noinline]] Quat<P> torque_at(Index i) const {
    const auto segments = [&](int k) { return g_.first_segment[k] + (i < g_.segments[k] ? i : 0); };
    return torque_pull(gather<P>(view_.torque, segments), gather<P>(view_.torque_material, segments), row_[i].q);
  }

  /// Ghost row -1 from the last row of the lane before; lane 0 keeps what it has.
  OSIER_FN static void from_before(P& here, const P& last) {
    P moved = shifted_up(last);
    set_lane(moved, 0, lane(here, 0));
    here = moved;
  }
  OSIER_FN static void from_after(P& here, const P& first) {
    P moved = shifted_down(first);
    set_lane(moved, W - 1, lane(here, W - 1));
    here = moved;
  }
  static void from_before(Vec3<P>& here, const Vec3<P>& last) {
    from_before(here.x, last.x), from_before(here.y, last.y), from_before(here.z, last.z);
  }
  static void from_before(Quat<P>& here, const Quat<P>& last) {
    from_before(here.x, last.x), from_before(here.y, last.y), from_before(here.z, last.z), from_before(here.w, last.w);
  }
  static void from_after(Vec3<P>& here, const Vec3<P>& first) {
    from_after(here.x, first.x), from_after(here.y, first.y), from_after(here.z, first.z);
  }
  static void from_after(Quat<P>& here, const Quat<P>& first) {
    from_after(here.x, first.x), from_after(here.y, first.y), from_after(here.z, first.z), from_after(here.w, first.w);
  }

  /// One sweep. carry_over(): what segments exert at ghost row -1.
  template <class Move, class Turn, class CarryOver>
  OSIER_FN void sweep_rows(const Move& move, const Turn& turn, const CarryOver& carry_over) {
    const bool cut = g_.cut;
    Row &before = row_[-1], &after = row_[rows_];
    const Row &first = row_[0], &last = row_[rows_ - 1];
    if (cut) {
      from_before(before.u, last.u);
      carry_over();
      from_before(before.q, last.q);
    }
    move(0);
    if (cut) from_after(after.u, first.u);
    // An odd segment could go right after the even one behind it, but would then wait for it; two rows later nothing does.
    for (Index i = 0; i < rows_; i += 2) {
      if (i + 2 < rows_) move(i + 2);
      if (i + 1 < rows_) move(i + 1);
      turn(i);
      if (i > 2) turn(i - 3);
      else if (i == 0 && cut) from_after(after.q, first.q);
      next_.row(i), next_.row(i + 1);
    }
    next_.done();
    for (Index i = rows_ % 2 == 0 ? rows_ - 3 : rows_ - 2; i < rows_; i += 2)
      if (i > 0) turn(i);
  }

  /// False when something is no longer finite.
  bool store() const;

  const ChainGroup& g_;
  const StepView& view_;
  const Index rows_;  ///< of all lanes
  Index shortest_;    ///< segments of the shortest
  Row* row_ = nullptr;
  RowFlags* flags_ = nullptr;

 private:
  /// Of lanes that go on at row i, from the control; the others are held.
  OSIER_FN RowFlags flags_at(Index i, const Numbers& n) const {
    RowFlags f{0, 0, 0};
    std::uint32_t any_control = 0;  // mostly nothing is
    for (int k = 0; k < W; ++k)
      any_control |= view_.vertex_fixed[n.vertex[k]] | static_cast<std::uint32_t>(view_.frame_control[n.segment[k]]);
    if (any_control != 0) [[unlikely]]
      for (int k = 0; k < W; ++k) {
        f.vertex_held |= (view_.vertex_fixed[n.vertex[k]] ? 1u : 0u) << k;
        f.frame_held |= (view_.frame_control[n.segment[k]] == FrameControl::fixed ? 1u : 0u) << k;
        f.frame_hinged |= (view_.frame_control[n.segment[k]] == FrameControl::hinged ? 1u : 0u) << k;
      }
    if (i < shortest_) return f;
    for (int k = 0; k < W; ++k) {
      if (i >= g_.vertices[k]) f.vertex_held |= 1u << k;
      if (i >= g_.segments[k]) f.frame_held |= 1u << k, f.frame_hinged &= ~(1u << k);
    }
    return f;
  }

  ChainPrefetch<P> next_;
  const T* constants_;
  const int per_row_;
};

template <class P, class Row>
OSIER_FN P ChainPack<P, Row>::load_start(Index i, const Numbers& n) {
  const P h(static_cast<T>(view_.h)), inverse_h(static_cast<T>(1 / view_.h)), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  Row& r = row_[i];
  const RowFlags f = flags_[i] = flags_at(i, n);
  const auto vertices = [&](int k) { return n.vertex[k]; };
  const Vec3<P> velocity = gather<P>(view_.velocity, vertices), force = gather<P>(view_.force, vertices);
  const P mass = constant(i, kMass);
  const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
  r.u = expected_displacement(velocity, gather<P>(view_.velocity_previous, vertices), force, inverse_mass, h);
  if (f.vertex_held != 0)
    for (int k = 0; k < W; ++k)
      if (const Index v = n.vertex[k]; view_.vertex_fixed[v])
        set_lanes(r.u, k, cast<T>(view_.vertex_target[v] - view_.position[v]));
  r.rhs = (mass * inverse_h) * velocity + force;
  r.q = gather<P>(view_.rotation, [&](int k) { return n.segment[k]; });
  return mass * inverse_h2 + inverse_h * gather<P>(view_.damping, vertices);
}

template <class P, class Row>
bool ChainPack<P, Row>::store() const {
  using R = Four<P, double>;
  const R inverse_h = R::all(1 / view_.h);
  R sum = R::all(0);  // not finite when anything is not; by the squares: a state whose energy overflows is as lost as a NaN
  for (Index i = 0; i < rows_; ++i) {
    const Row& r = row_[i];
    const P moved[4] = {r.u.x, r.u.y, r.u.z, P(0)}, turned[4] = {r.q.x, r.q.y, r.q.z, r.q.w};
    rows_of_components(moved, [&](int k, const Four<P, T>& lane_u) {
      if (i >= shortest_ && i >= g_.vertices[k]) return;
      const Index v = g_.first_vertex[k] + i;
      const R u = cast_row<double>(lane_u), x = row<P>(view_.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view_.position[v]);
      put_row(velocity, view_.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    rows_of_components(turned, [&](int k, const Four<P, T>& lane_q) {
      if (i >= shortest_ && i >= g_.segments[k]) return;
      const R q = cast_row<double>(lane_q);
      put_row(q, view_.rotation[g_.first_segment[k] + i]);
      sum = sum + q * q;
    });
  }
  return is_finite(sum);
}

}  // namespace osier::stable_cosserat
