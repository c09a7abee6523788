// Coloured sweeps over a graph in tiles (graph_plan.hpp). Every function works on a range of tiles of one kind; the tiles of one
// colour do not touch each other, so that ranges of them may run on any threads in any order. A step is
//
//   load_frames, load_segments, hold_frames, load_vertices | { move the colours of vertices, turn those of segments } ... | store
#pragma once

#include "exec/lanes.hpp"
#include "solvers/stable_cosserat/graph_view.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

template <class P>
class GraphSweep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  /// Frames of the start of the step.
  static void load_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index i = begin * W; i < end * W; ++i)
      if (g.frame_id[i] >= 0) put_frame(g, i, view.rotation[g.frame_id[i]]);
  }
  static void load_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      if (g.damped) GraphSweep(g, view).load_segment<true>(t);
      else GraphSweep(g, view).load_segment<false>(t);
    }
  }
  /// From here on frames are those of the end of the step where they are prescribed.
  static void hold_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      if (g.frame_held[t] == 0) continue;
      for (Index i = t * W; i < (t + 1) * W; ++i)
        if (const Index s = g.frame_id[i]; s >= 0 && view.frame_control[s] == FrameControl::fixed)
          put_frame(g, i, view.frame_target[s]);
    }
  }
  static void load_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) GraphSweep(g, view).load_vertex(t);
  }
  static void move_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) GraphSweep(g, view).move_vertex(t);
  }
  static void turn_segments(const GraphView<T>& g, const StepView& view, Lambda lambda, Index begin, Index end) {
    if (lambda == Lambda::approx) turn<Lambda::approx>(g, view, begin, end);
    if (lambda == Lambda::exact) turn<Lambda::exact>(g, view, begin, end);
    if (lambda == Lambda::secular) turn<Lambda::secular>(g, view, begin, end);
  }
  /// False when something is no longer finite; by the squares: a state whose energy overflows is as lost as a NaN.
  static bool store_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Four<P, double>;
    const R inverse_h = R::all(1 / view.h);
    R sum = R::all(0);
    for (Index i = begin * W; i < end * W; ++i) {
      const Index v = g.vertex_id[i];
      if (v < 0) continue;
      const R u = cast_row<double>(Four<P, T>::load(g.u + 4 * static_cast<std::ptrdiff_t>(i)));
      const R x = row<P>(view.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view.position[v]);
      put_row(velocity, view.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    }
    return is_finite(sum);
  }
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Four<P, double>;
    R sum = R::all(0);
    for (Index i = begin * W; i < end * W; ++i) {
      const Index s = g.frame_id[i];
      if (s < 0) continue;
      const R q = cast_row<double>(Four<P, T>::load(g.q + 4 * static_cast<std::ptrdiff_t>(i)));
      put_row(q, view.rotation[s]);
      sum = sum + q * q;
    }
    if (g.gamma_row >= 0)
      for (Index t = begin; t < end; ++t)
        for (int k = 0; k < W; ++k)
          if (const Index s = g.frame_id[t * W + place_of_lane(W, k)]; s >= 0)
            view.gamma[s] = static_cast<double>(lane(load_lanes<P>(GraphSweep(g, view).segment_row(t, g.gamma_row)), k));
    return is_finite(sum);
  }

 private:
  GraphSweep(const GraphView<T>& g, const StepView& view) : g_(g), view_(view) {}

  OSIER_FN static void put_frame(const GraphView<T>& g, Index place, const Quatd& q) {
    cast_row<T>(row<P>(q)).store(g.q + 4 * static_cast<std::ptrdiff_t>(place));
  }
  template <Lambda kLambda>
  static void turn(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      if (g.damped) GraphSweep(g, view).turn_segment<true, kLambda>(t);
      else GraphSweep(g, view).turn_segment<false, kLambda>(t);
    }
  }

  static constexpr std::ptrdiff_t at(Index row) { return static_cast<std::ptrdiff_t>(row) * W; }
  OSIER_FN T* vertex_row(Index t, int row) const { return g_.vertex_number + at(g_.vertex_tile[t].numbers + row); }
  OSIER_FN T* segment_row(Index t, int row) const { return g_.segment_number + at(g_.segment_tile[t].numbers + row); }
  OSIER_FN const Index* segment_index(Index t, Index row) const {
    return g_.segment_index + at(g_.segment_tile[t].indices + row);
  }
  template <bool kDamped>
  OSIER_FN T* joint_row(Index t, Index joint, int row) const {
    return segment_row(t, g_.segment_rows + static_cast<int>(joint) * (kDamped ? 5 : 4) + row);
  }
  OSIER_FN const T* joint_constant(Index t, Index joint, int row) const {
    return g_.joint_constant + at(g_.segment_tile[t].constants + joint * kJointRows + row);
  }
  OSIER_FN static P number(const T* p) { return load_lanes<P>(p); }
  OSIER_FN static Vec3<P> vector(const T* p) { return {number(p), number(p + W), number(p + 2 * W)}; }
  OSIER_FN static Quat<P> quaternion(const T* p) { return {number(p), number(p + W), number(p + 2 * W), number(p + 3 * W)}; }
  OSIER_FN static void put(const Vec3<P>& v, T* p) { store_lanes(v.x, p), store_lanes(v.y, p + W), store_lanes(v.z, p + 2 * W); }
  OSIER_FN static void put(const Quat<P>& q, T* p) { put(imag(q), p), store_lanes(q.w, p + 3 * W); }

  OSIER_FN Quat<P> frames(const Index* offset) const {
    P c[4];
    gather_quads(g_.q, offset, c);
    return {c[0], c[1], c[2], c[3]};
  }
  OSIER_FN Vec3<P> displacements(const Index* offset) const {
    P c[4];
    gather_quads(g_.u, offset, c);
    return {c[0], c[1], c[2]};
  }
  OSIER_FN Quat<P> own_frames(Index t) const {
    P c[4];
    load_quads(g_.q + 4 * at(t), c);
    return {c[0], c[1], c[2], c[3]};
  }
  /// Model numbers of a tile's lanes. Where there is nothing, that of a lane that has something.
  OSIER_FN static void ids(const Index* id, Index t, Index (&out)[W], std::uint32_t& nothing) {
    const Index any = id[static_cast<std::ptrdiff_t>(t) * W];  // the first lane is never empty
    nothing = 0;
    for (int k = 0; k < W; ++k) {
      const Index e = id[static_cast<std::ptrdiff_t>(t) * W + place_of_lane(W, k)];
      out[k] = e >= 0 ? e : any;
      nothing |= (e >= 0 ? 0u : 1u) << k;
    }
  }

  template <bool kDamped>
  void load_segment(Index t);
  void load_vertex(Index t);
  OSIER_FN void move_vertex(Index t);
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment(Index t);
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] void repair(Index t, std::uint32_t lanes, const OrientationProblem<P>& o, const Quat<P>& before, Quat<P>& q);
  [[gnu::noinline]] Quat<P> torque_at(Index t, const Quat<P>& q) const {
    Index s[W];
    std::uint32_t nothing;
    ids(g_.frame_id, t, s, nothing);
    return torque_pull(gather<P>(view_.torque, s), gather<P>(view_.torque_material, s), q);
  }
  /// The axis q carries, with c beside the force it makes.
  template <bool kDamped>
  OSIER_FN void put_pull(Index t, P k, P inverse_length, const Vec3<P>& p0, P stiffening, const Vec3<P>& eta,
                         const Quat<P>& q) const {
    const Vec3<P> pull = segment_pull(k, inverse_length, stiffening, p0, axis_image_of<P, kDamped>(q, eta));
    const P c = kDamped ? k * inverse_length * inverse_length * stiffening : k * inverse_length * inverse_length;
    const P quads[4] = {pull.x, pull.y, pull.z, c};
    store_quads(quads, g_.pull + 4 * at(t));
  }
  OSIER_FN P inverse_step() const { return P(static_cast<T>(1 / view_.h)); }

  const GraphView<T>& g_;
  const StepView& view_;
};

template <class P>
template <bool kDamped>
void GraphSweep<P>::load_segment(Index t) {
  Index s[W], a[W], b[W];
  std::uint32_t nothing = 0;
  ids(g_.frame_id, t, s, nothing);
  std::uint32_t held = nothing, hinged = 0;
  const Index *ua = segment_index(t, 0), *ub = segment_index(t, 1);
  for (int k = 0; k < W; ++k) {
    const bool real = !(nothing >> k & 1u);
    a[k] = real ? g_.vertex_id[ua[k] / 4] : g_.vertex_id[0];
    b[k] = real ? g_.vertex_id[ub[k] / 4] : g_.vertex_id[0];
    held |= (view_.frame_control[s[k]] == FrameControl::fixed ? 1u : 0u) << k;
    hinged |= (view_.frame_control[s[k]] == FrameControl::hinged ? 1u : 0u) << k;
  }
  g_.frame_held[t] = held;
  g_.frame_hinged[t] = hinged & ~nothing;
  const P inverse_length = number(segment_row(t, kInverseLengthRow)), k = number(segment_row(t, kStretchRow));
  const Vec3<P> p0 = inverse_length * gather_difference<P>(view_.position, b, a);  // in double (deviation 1)
  put(p0, segment_row(t, kEdge));
  Quat<P> q = own_frames(t);
  P stiffening(1);
  Vec3<P> eta{P(0), P(0), P(1)};
  if constexpr (kDamped) {
    const P alpha = number(segment_row(t, kTauRow)) * inverse_step();
    stiffening = P(1) + alpha;
    eta = stretch_shear::generalised_axis(alpha, rotate(conj(q), p0 - director3(q)));
    put(eta, segment_row(t, kAxis));
    for (Index j = 0; j < g_.segment_tile[t].in; ++j) {
      const Quat<P> rest = quaternion(joint_constant(t, j, kJointRest));
      Quat<P> target;
      P bound;
      // conj(q_other) q is the rotation between the two as either side sees it.
      fold_joint(rest, root(norm2(rest)), number(joint_constant(t, j, kJointTau)) * inverse_step(),
                 conj(frames(segment_index(t, 2 + j))) * q, target, bound);
      put(target, joint_row<true>(t, j, 0));
      store_lanes(bound, joint_row<true>(t, j, 4));
    }
  }
  if (g_.gamma_row >= 0) store_lanes(gather<P>(view_.gamma, s), segment_row(t, g_.gamma_row));
  if (held != 0) [[unlikely]]
    for (int i = 0; i < W; ++i)
      if (view_.frame_control[s[i]] == FrameControl::fixed) set_lanes(q, i, cast<T>(view_.frame_target[s[i]]));
  put_pull<kDamped>(t, k, inverse_length, p0, stiffening, eta, q);
}

template <class P>
void GraphSweep<P>::load_vertex(Index t) {
  const GraphTile& tile = g_.vertex_tile[t];
  Index v[W];
  std::uint32_t nothing = 0;
  ids(g_.vertex_id, t, v, nothing);
  std::uint32_t held = nothing;
  for (int k = 0; k < W; ++k) held |= (view_.vertex_fixed[v[k]] ? 1u : 0u) << k;
  g_.vertex_held[t] = held;
  const P h(static_cast<T>(view_.h)), inverse_h = inverse_step(), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  const Vec3<P> velocity = gather<P>(view_.velocity, v), force = gather<P>(view_.force, v);
  const P mass = number(g_.vertex_mass + at(t));
  const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
  Vec3<P> u = expected_displacement(velocity, gather<P>(view_.velocity_previous, v), force, inverse_mass, h);
  if (held != 0) [[unlikely]]
    for (int k = 0; k < W; ++k)
      if (view_.vertex_fixed[v[k]]) set_lanes(u, k, cast<T>(view_.vertex_target[v[k]] - view_.position[v[k]]));
  const P quads[4] = {u.x, u.y, u.z, P(0)};
  store_quads(quads, g_.u + 4 * at(t));
  put((mass * inverse_h) * velocity + force, vertex_row(t, kRhs));
  P hessian = mass * inverse_h2 + inverse_h * gather<P>(view_.damping, v);
  const Index* index = g_.vertex_index + at(tile.indices);
  for (Index i = 0; i < tile.in + tile.out; ++i) {
    P segment[4];
    gather_quads(g_.pull, index + at(2 * i + 1), segment);
    hessian += segment[3];
  }
  store_lanes(inverse(hessian), vertex_row(t, kInverseHessian));
}

template <class P>
OSIER_FN void GraphSweep<P>::move_vertex(Index t) {
  const std::uint32_t held = g_.vertex_held[t];
  if (held == all_lanes<P>) return;
  const GraphTile& tile = g_.vertex_tile[t];
  const Index* index = g_.vertex_index + at(tile.indices);
  Vec3<P> sum = vector(vertex_row(t, kRhs));
  const auto add = [&](Index i, P sign) {
    P segment[4];
    gather_quads(g_.pull, index + at(2 * i + 1), segment);
    add_segment(sum, sign, Vec3<P>{segment[0], segment[1], segment[2]}, segment[3], displacements(index + at(2 * i)));
  };
  for (Index i = 0; i < tile.in; ++i) add(i, P(1));
  for (Index i = tile.in; i < tile.in + tile.out; ++i) add(i, P(-1));
  Vec3<P> u = number(vertex_row(t, kInverseHessian)) * sum;
  T* own = g_.u + 4 * at(t);
  if (held != 0) [[unlikely]] {
    P before[4];
    load_quads(own, before);
    u = select<P>(mask_of_bits<P>(held), Vec3<P>{before[0], before[1], before[2]}, u);
  }
  const P quads[4] = {u.x, u.y, u.z, P(0)};
  store_quads(quads, own);
}

template <class P>
template <bool kDamped, Lambda kLambda>
OSIER_FN void GraphSweep<P>::turn_segment(Index t) {
  const std::uint32_t held = g_.frame_held[t], hinged = g_.frame_hinged[t];
  if (held == all_lanes<P>) return;
  const Index joints = g_.segment_tile[t].in;
  const Quat<P> before = own_frames(t);
  const P inverse_length = number(segment_row(t, kInverseLengthRow)), k = number(segment_row(t, kStretchRow));
  const Vec3<P> p0 = vector(segment_row(t, kEdge));
  OrientationProblem<P> o;
  o.v = stretch_shear::orientation_pull(
      k, p0 + inverse_length * (displacements(segment_index(t, 1)) - displacements(segment_index(t, 0))));
  o.b = {P(0), P(0), P(0), P(0)};
  MaskOf<P> differ{};
  for (Index j = 0; j < joints; ++j) {
    MaskOf<P> here{};
    o.b += joint_pull(frames(segment_index(t, 2 + j)), quaternion(joint_row<kDamped>(t, j, 0)),
                      kDamped ? number(joint_row<kDamped>(t, j, 4)) : P(-1), before, here);
    if constexpr (kDamped) differ |= here;
  }
  bool cables = joints == 0;
  if (view_.torque) [[unlikely]] {
    o.b += torque_at(t, before);
    cables = cables && !any(norm2(o.b) > P(0));
  }
  o.eta = {P(0), P(0), P(1)};
  P stiffening(1);
  if constexpr (kDamped) {
    o.eta = vector(segment_row(t, kAxis));
    stiffening = P(1) + number(segment_row(t, kTauRow)) * inverse_step();
  }
  complete_problem<P, kDamped>(o);
  MaskOf<P> degenerate{};
  Quat<P> q;
  P gamma(0);
  if (kLambda == Lambda::exact) gamma = number(segment_row(t, g_.gamma_row));
  if (cables) q = orientation_aligned(o, before, degenerate);  // without joints: along the edge
  else q = solve_orientation<P, kLambda>(o, gamma, degenerate);
  std::uint32_t special = bits(degenerate) | hinged;
  if constexpr (kDamped) special |= bits(differ);
  special &= ~held;
  if constexpr (kLambda == Lambda::exact) {  // special lanes: by the repair
    T* memory = segment_row(t, g_.gamma_row);
    store_lanes(select(mask_of_bits<P>(special), number(memory), gamma), memory);
  }
  if (special != 0) [[unlikely]]
    repair<kDamped, kLambda>(t, special, o, before, q);
  if (held != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(held), before, q);
  const P quads[4] = {q.x, q.y, q.z, q.w};
  store_quads(quads, g_.q + 4 * at(t));
  put_pull<kDamped>(t, k, inverse_length, p0, stiffening, o.eta, q);
}

/// Lane by lane, what the closed form leaves aside: hinges, undetermined frames, and elastic and viscous poles that differ.
template <class P>
template <bool kDamped, Lambda kLambda>
void GraphSweep<P>::repair(Index t, std::uint32_t lanes, const OrientationProblem<P>& all, const Quat<P>& q_before, Quat<P>& q) {
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    const Quat<T> present = lane_of(q_before, k);
    const Index s = g_.frame_id[at(t) + place_of_lane(W, k)];
    OrientationProblem<T> o;
    o.v = lane_of(all.v, k), o.eta = lane_of(all.eta, k);
    o.b = {T(0), T(0), T(0), T(0)};
    for (Index j = 0; j < g_.segment_tile[t].in; ++j) {
      const Index offset = segment_index(t, 2 + j)[k];
      const T* frame = g_.q + offset;
      const Quat<T> other{frame[0], frame[1], frame[2], frame[3]};
      const T* row = joint_row<kDamped>(t, j, 0) + k;
      bool differ = false;
      const Quat<T> both =
          joint_pull(other, Quat<T>{row[0], row[W], row[2 * W], row[3 * W]}, kDamped ? row[4 * W] : T(-1), present, differ);
      if (!differ) {
        o.b += both;
        continue;
      }
      const T* constant = joint_constant(t, j, 0) + k;
      const Quat<T> elastic{constant[0], constant[W], constant[2 * W], constant[3 * W]};
      const T k_viscous = root(norm2(elastic)) * constant[kJointTau * W] * static_cast<T>(1 / view_.h);
      const Quat<T> previous = cast<T>(conj(view_.rotation[g_.frame_id[offset / 4]]) * view_.rotation[s]);
      o.b += bend_twist::pull(other, elastic, present) + bend_twist::pull(other, k_viscous * previous, present);
    }
    if (view_.torque) o.b += torque_pull(cast<T>(view_.torque[s]), cast<T>(view_.torque_material[s]), present);
    complete_problem<T, kDamped>(o);
    Quat<T> result;
    if (g_.frame_hinged[t] >> k & 1u) {
      result = updated_hinge(o, present, cast<T>(view_.frame_target[s]), cast<T>(view_.hinge_axis[s]));
    } else {
      bool degenerate = false;
      T none(0), &gamma = kLambda == Lambda::exact ? segment_row(t, g_.gamma_row)[k] : none;
      const T gamma_before = gamma;
      result = solve_orientation<T, kLambda>(o, gamma, degenerate);
      if (degenerate) result = solve_degenerate<T, kLambda>(o, present), gamma = gamma_before;  // it means nothing here
    }
    set_lanes(q, k, result);
  }
}

}  // namespace osier::stable_cosserat
