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
    for (Index i = begin * W; i < end * W; ++i) put_frame(g, i, view.rotation[g.frame_id[i]]);
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
        if (const Index s = g.frame_id[i]; view.frame_control[s] == FrameControl::fixed) put_frame(g, i, view.frame_target[s]);
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
    each_element(g.vertex_tile, g.vertex_id, begin, end, [&](Index i, Index v) {
      const R u = cast_row<double>(Four<P, T>::load(g.u + 4 * static_cast<std::ptrdiff_t>(i)));
      const R x = row<P>(view.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view.position[v]);
      put_row(velocity, view.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    return is_finite(sum);
  }
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Four<P, double>;
    R sum = R::all(0);
    each_element(g.segment_tile, g.frame_id, begin, end, [&](Index i, Index s) {
      const R q = cast_row<double>(Four<P, T>::load(g.q + 4 * static_cast<std::ptrdiff_t>(i)));
      put_row(q, view.rotation[s]);
      sum = sum + q * q;
    });
    if (g.gamma_row >= 0)
      for (Index t = begin; t < end; ++t)
        for (int k = 0; k < W; ++k)
          if (!(g.segment_tile[t].nothing >> k & 1u))
            view.gamma[g.frame_id[at(t) + place_of_lane(W, k)]] =
                static_cast<double>(GraphSweep(g, view).segment_row(t, g.gamma_row)[k]);
    return is_finite(sum);
  }

 private:
  GraphSweep(const GraphView<T>& g, const StepView& view) : g_(g), view_(view) {}

  OSIER_FN static void put_frame(const GraphView<T>& g, Index place, const Quatd& q) {
    cast_row<T>(row<P>(q)).store(g.q + 4 * static_cast<std::ptrdiff_t>(place));
  }
  /// f(place, number in the model) for every element of the tiles.
  template <class F>
  OSIER_FN static void each_element(const GraphTile* tile, const Index* id, Index begin, Index end, const F& f) {
    for (Index t = begin; t < end; ++t) {
      const std::uint32_t nothing = tile[t].nothing;
      for (int k = 0; k < W; ++k)
        if (const Index i = t * W + place_of_lane(W, k); !(nothing >> k & 1u)) f(i, id[i]);
    }
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
  /// The model's number of the element in lane k.
  OSIER_FN static auto numbers_in(const Index* id, Index t) {
    return [own = id + at(t)](int k) { return own[place_of_lane(W, k)]; };
  }

  /// Of the joint that a segment's list has in this place, as the segment sees it: k^bt times rest rotation, and its damping
  /// time.
  struct JointConstants {
    Quat<P> rest;
    P tau;
  };
  OSIER_FN JointConstants joint_constants(Index t, Index joint) const;

  template <bool kDamped>
  void load_segment(Index t);
  void load_vertex(Index t);
  OSIER_FN void move_vertex(Index t);
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment(Index t);
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] void repair(Index t, std::uint32_t lanes, const Vec3<P>& v, const Vec3<P>& eta, const Quat<P>& before,
                                Quat<P>& q);
  /// By copies: what has its address taken lives in memory from the start, for all lanes.
  template <bool kDamped, Lambda kLambda>
  OSIER_FN Quat<P> repaired(Index t, std::uint32_t lanes, Vec3<P> v, Vec3<P> eta, Quat<P> before, Quat<P> q) {
    repair<kDamped, kLambda>(t, lanes, v, eta, before, q);
    return q;
  }
  [[gnu::noinline]] Quat<P> torque_at(Index t, const Quat<P>& q) const {
    const auto segments = numbers_in(g_.frame_id, t);
    return torque_pull(gather<P>(view_.torque, segments), gather<P>(view_.torque_material, segments), q);
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

/// From the model, nothing where a lane has no such joint.
template <class P>
OSIER_FN typename GraphSweep<P>::JointConstants GraphSweep<P>::joint_constants(Index t, Index joint) const {
  using R = Four<P, double>;
  const std::uint32_t nothing = g_.segment_tile[t].nothing;
  const auto segments = numbers_in(g_.frame_id, t);
  P c[4];
  T tau[W];
  components_of_rows<P>(
      [&](int k) {
        const Index s = segments(k), at = view_.frame_joint_start[s] + joint;
        tau[k] = T(0);
        if ((nothing >> k & 1u) || at >= view_.frame_joint_start[s + 1]) return cast_row<T>(R::all(0));
        const Index j = view_.frame_joint[at] / 2;
        const double stiffness = view_.joint_stiffness[j].d3, imaginary = view_.frame_joint[at] % 2 == 1 ? stiffness : -stiffness;
        tau[k] = static_cast<T>(view_.joint_tau[j].d3);
        return cast_row<T>(row<P>(view_.joint_rest[j]) * R{typename R::Vector{imaginary, imaginary, imaginary, stiffness}});
      },
      c);
  return {{c[0], c[1], c[2], c[3]}, per_lane<P>([&](int k) { return tau[k]; })};
}

template <class P>
template <bool kDamped>
void GraphSweep<P>::load_segment(Index t) {
  const std::uint32_t nothing = g_.segment_tile[t].nothing;
  const auto segments = numbers_in(g_.frame_id, t);
  std::uint32_t fixed = 0, hinged = 0, any_control = 0;
  for (int k = 0; k < W; ++k) any_control |= static_cast<std::uint32_t>(view_.frame_control[segments(k)]);
  if (any_control != 0) [[unlikely]]
    for (int k = 0; k < W; ++k) {
      fixed |= (view_.frame_control[segments(k)] == FrameControl::fixed ? 1u : 0u) << k;
      hinged |= (view_.frame_control[segments(k)] == FrameControl::hinged ? 1u : 0u) << k;
    }
  g_.frame_held[t] = fixed | nothing;
  g_.frame_hinged[t] = hinged & ~nothing;
  const Index *ua = segment_index(t, 0), *ub = segment_index(t, 1);
  const P inverse_length = number(segment_row(t, kInverseLengthRow)), k = number(segment_row(t, kStretchRow));
  const Vec3<P> p0 =
      inverse_length * gather_difference<P>(  // in double (deviation 1)
                           view_.position, [&](int i) { return g_.vertex_id[static_cast<std::uint32_t>(ub[i]) / 4]; },
                           [&](int i) { return g_.vertex_id[static_cast<std::uint32_t>(ua[i]) / 4]; });
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
      const JointConstants own = joint_constants(t, j);
      Quat<P> target;
      P bound;
      // conj(q_other) q is the rotation between the two as either side sees it.
      fold_joint(own.rest, root(norm2(own.rest)), own.tau * inverse_step(), conj(frames(segment_index(t, 2 + j))) * q, target,
                 bound);
      put(target, joint_row<true>(t, j, 0));
      store_lanes(bound, joint_row<true>(t, j, 4));
    }
  }
  if (g_.gamma_row >= 0) store_lanes(gather<P>(view_.gamma, segments), segment_row(t, g_.gamma_row));
  if (fixed != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(fixed), gather<P>(view_.frame_target, segments), q);
  put_pull<kDamped>(t, k, inverse_length, p0, stiffening, eta, q);
}

template <class P>
void GraphSweep<P>::load_vertex(Index t) {
  const GraphTile& tile = g_.vertex_tile[t];
  const auto vertices = numbers_in(g_.vertex_id, t);
  std::uint32_t fixed = 0, any_fixed = 0;
  for (int k = 0; k < W; ++k) any_fixed |= view_.vertex_fixed[vertices(k)];
  if (any_fixed != 0) [[unlikely]]
    for (int k = 0; k < W; ++k) fixed |= (view_.vertex_fixed[vertices(k)] ? 1u : 0u) << k;
  g_.vertex_held[t] = fixed | tile.nothing;
  const P h(static_cast<T>(view_.h)), inverse_h = inverse_step(), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  const Vec3<P> velocity = gather<P>(view_.velocity, vertices), force = gather<P>(view_.force, vertices);
  const P mass = gather<P>(view_.mass, vertices);
  const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
  Vec3<P> u = expected_displacement(velocity, gather<P>(view_.velocity_previous, vertices), force, inverse_mass, h);
  if (fixed != 0) [[unlikely]] {
    P way[4];
    components_of_rows<P>(
        [&](int k) { return cast_row<T>(row<P>(view_.vertex_target[vertices(k)]) - row<P>(view_.position[vertices(k)])); }, way);
    u = select<P>(mask_of_bits<P>(fixed), Vec3<P>{way[0], way[1], way[2]}, u);
  }
  const P quads[4] = {u.x, u.y, u.z, P(0)};
  store_quads(quads, g_.u + 4 * at(t));
  put((mass * inverse_h) * velocity + force, vertex_row(t, kRhs));
  P hessian = mass * inverse_h2 + inverse_h * gather<P>(view_.damping, vertices);
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
  MaskOf<P> degenerate{};
  Quat<P> q;
  P gamma(0);
  if (kLambda == Lambda::exact) gamma = number(segment_row(t, g_.gamma_row));
  if (cables) {  // without joints: along the edge
    o.s = problem_scale<P, kDamped>(o);
    q = orientation_aligned(o, before, degenerate);
  } else {
    complete_problem<P, kDamped>(o);
    q = solve_orientation<P, kLambda>(o, gamma, degenerate);
  }
  std::uint32_t special = bits(degenerate) | hinged;
  if constexpr (kDamped) special |= bits(differ);
  special &= ~held;
  if constexpr (kLambda == Lambda::exact) {  // special lanes: by the repair
    T* memory = segment_row(t, g_.gamma_row);
    store_lanes(select(mask_of_bits<P>(special), number(memory), gamma), memory);
  }
  if (special != 0) [[unlikely]]
    q = repaired<kDamped, kLambda>(t, special, o.v, o.eta, before, q);
  if (held != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(held), before, q);
  const P quads[4] = {q.x, q.y, q.z, q.w};
  store_quads(quads, g_.q + 4 * at(t));
  put_pull<kDamped>(t, k, inverse_length, p0, stiffening, o.eta, q);
}

/// Lane by lane, what the closed form leaves aside: hinges, undetermined frames, and elastic and viscous poles that differ.
template <class P>
template <bool kDamped, Lambda kLambda>
void GraphSweep<P>::repair(Index t, std::uint32_t lanes, const Vec3<P>& v, const Vec3<P>& eta, const Quat<P>& q_before,
                           Quat<P>& q) {
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    const Quat<T> present = lane_of(q_before, k);
    const Index s = g_.frame_id[at(t) + place_of_lane(W, k)];
    OrientationProblem<T> o;
    o.v = lane_of(v, k), o.eta = lane_of(eta, k);
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
      const JointConstants own = joint_constants(t, j);
      const Quat<T> elastic = lane_of(own.rest, k);
      const T k_viscous = root(norm2(elastic)) * lane(own.tau, k) * static_cast<T>(1 / view_.h);
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
